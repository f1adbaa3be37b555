"""Limits on the values of valid events: labels, features and their number."""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.event import Event, Kind
from stream_rank.codec.orders import PairsOf, check_pairs
from stream_rank.engine.reading.entries import apart
from stream_rank.engine.reading.limits import exceed
from stream_rank.engine.reading.scan import Reading
from stream_rank.errors import EventError, FeatureError, LabelError
from stream_rank.learners.base.numbers import unusable

__all__ = ["Limits"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Limits:
    """The range of labels, and of the values that the learners can handle."""

    n_ranks: int | None = None
    """Labels are the ranks 1 to n_ranks; None allows any number."""
    largest: float = 1e130
    """The largest feature, difference of features, or label."""
    longest: float = inf
    """The largest sum of squares of an event's features."""
    max_features: int = 100_000
    """The most features of the stream that are known; others are left out of events."""
    min_count: int = 1
    """In so many events a feature has to come until it is known."""
    expire_after: int | None = None
    """Where no more features can be known, one gives its slot away that came in none of so many records; None never."""
    max_new_features: int = 10_000
    """The most features that one event makes known; others are left out of it."""
    delayed: bool = False
    """Whether events wait under their id for a label."""
    named: bool = False
    """Whether the ids of all events are needed, not only those of requests."""
    grouped: bool = False
    """Whether a learner uses groups."""
    ranking_pairs: PairsOf = "all"
    """Which pairs of a ranking are learned."""

    def check(self, event: Event) -> None:
        """Raise `EventError` if an event exceeds the limits."""
        for features in event.all_items:
            square = 0.0
            for name, value in features.items():
                if not abs(value) <= self.largest:
                    raise unusable(name, value, self.largest)
                square += value * value
            if square > self.longest:
                raise FeatureError(
                    f"the features have a sum of squares of {square:g}; at most {self.longest:g} is needed"
                )
        if event.items:
            check_pairs(event.places, event.kind is Kind.CHOICE, self.ranking_pairs)
            self._check_items(event)
        elif event.kind is Kind.PREFERENCE:
            self._check_difference(event.x, event.other, event.y)
        elif event.kind is Kind.LABEL and not self.delayed:
            raise EventError("a label without features; with `delay`, features wait for theirs")
        if event.kind in (Kind.RATING, Kind.LABEL):
            self._check_label(event.y)

    def _check_label(self, label: float) -> None:
        if self.n_ranks is None:
            if not abs(label) <= self.largest:
                raise LabelError(f"label {label:g} is more than {self.largest:g} in size")
        elif not (1 <= label <= self.n_ranks and label == int(label)):
            hint = "; ranks count from 1" if label == 0 else ""
            raise LabelError(f"label {label:g} is not one of the ranks 1..{self.n_ranks}{hint}")

    def _check_items(self, event: Event) -> None:
        """Check the differences of the items of a ranking or a choice. Cost: O(entries)."""
        items = event.items
        largest = max(abs(value) for item in items for value in item.values())
        if 2.0 * largest <= self.largest:
            return
        if event.kind is Kind.CHOICE:
            for other in items[1:]:
                self._check_difference(items[0], other, 1.0)
            return
        reaches: dict[Any, tuple[int, float, float]] = {}
        for item in items:
            for name, value in item.items():
                count, low, high = reaches.get(name, (0, value, value))
                reaches[name] = count + 1, min(low, value), max(high, value)
        for name, (count, low, high) in reaches.items():
            zero = 0.0 if count < len(items) else low  # of items that have it not
            self._check_difference({name: max(high, zero)}, {name: min(low, zero)}, 1.0)

    def _check_difference(
        self, first: dict[Any, float], second: dict[Any, float], magnitude: float
    ) -> None:
        names = first.keys() | second.keys()
        reach = max(abs(first.get(name, 0.0) - second.get(name, 0.0)) for name in names)
        reach *= max(1.0, magnitude)
        if not (reach <= self.largest and magnitude <= self.largest):
            raise EventError(
                f"the difference of the two items times the magnitude is {reach:g}; "
                f"at most {self.largest:g} is needed"
            )

    def doubtful(self, reading: Reading) -> Array:
        """The records that were not read, or exceed the limits, as `check` does for one event."""
        doubtful: Array = np.empty(len(reading.read), np.bool_)
        columns = reading.read, reading.kinds, reading.labels, reading.entries, reading.values
        bounds = float(self.largest), float(self.longest)
        if exceed(*columns, self.n_ranks or 0, self.delayed, *bounds, doubtful):
            preferences = reading.kinds == Kind.PREFERENCE
            items = reading.entries, reading.others
            apart(preferences, *items, reading.values, reading.labels, *bounds, doubtful)
        return doubtful
