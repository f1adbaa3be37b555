"""`Event`: what is decoded one by one, of values whose types were already checked."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from stream_rank.ingest.timestamps import NO_TIME, moment_of

__all__ = ["COMPARISONS", "Event", "Kind", "comparison_of", "event_of", "place_form"]


class Kind(IntEnum):
    """The kinds of events."""

    RATING = 0
    REQUEST = 1
    LABEL = 2
    PREFERENCE = 3
    RANKING = 4
    CHOICE = 5


COMPARISONS = (Kind.PREFERENCE, Kind.RANKING, Kind.CHOICE)
"""Kinds that are learned as preferences: a ranking and a choice are several."""


class Event(NamedTuple):
    """A decoded event: features by name, those of a list by index."""

    kind: Kind
    x: dict[Any, float]
    other: dict[Any, float]
    y: float
    id: str | int | None
    ts: int
    group: str | int | None
    items: tuple[dict[Any, float], ...] = ()
    """Of a ranking all items, the best first; of a choice the chosen item and then the others."""
    places: tuple[int, ...] = ()
    """The place of each item, from 0; equal items share theirs."""

    @property
    def all_items(self) -> tuple[dict[Any, float], ...]:
        """The features of the event, or of each of its items."""
        if self.items:
            return self.items
        return (self.x, self.other) if self.kind is Kind.PREFERENCE else (self.x,)


_MOST_SHARED = 100_000
"""As many numbers may a context be, written out beside all items: an event of some kilobytes could ask for gigabytes."""


def place_form(given: Any) -> str:
    """A list of items is a place that they share; a list of numbers is an item."""
    is_place = isinstance(given, list) and given and isinstance(given[0], dict | list)
    return "place" if is_place else "item"


def _named(features: Any) -> dict[Any, float]:
    """Features by name, those of a list by index; -0.0 becomes 0.0, as the integer -0 of JSON does."""
    if isinstance(features, list):
        return {place: float(value) + 0.0 for place, value in enumerate(features)}
    return {name: float(value) + 0.0 for name, value in features.items()}


def event_of(
    kind: Kind,
    x: Any = None,
    y: float | None = None,
    name: str | int | None = None,
    ts: int | str | None = None,
    group: str | int | None = None,
) -> Event:
    """An event of values whose types are already checked."""
    moment = NO_TIME if ts is None else moment_of(ts)
    features = {} if x is None else _named(x)
    label = float("nan") if y is None else float(y) + 0.0
    return Event(kind, features, {}, label, name, moment, group)


def comparison_of(
    kind: Kind,
    given: Sequence[Any],
    context: Any = None,
    magnitude: float | None = None,
    tie: bool | None = None,
    name: str | int | None = None,
    ts: int | str | None = None,
    group: str | int | None = None,
) -> Event:
    """A preference, a ranking or a choice, of values whose types are already checked.

    `given` are two items; or places, each an item or a list of equal ones; or the chosen item and then the others. A
    `ValueError` if the parts contradict each other.
    """
    moment = NO_TIME if ts is None else moment_of(ts)
    shared = {} if context is None else _named(context)
    if kind is Kind.PREFERENCE:
        preferred, other = (_beside(shared, _named(item)) for item in given)
        label = 0.0 if tie else 1.0 if magnitude is None else float(magnitude) + 0.0
        return Event(kind, preferred, other, label, name, moment, group)
    count = sum(
        len(each) if kind is Kind.RANKING and place_form(each) == "place" else 1 for each in given
    )
    if count * len(shared) > _MOST_SHARED:
        raise ValueError(
            f"context: {len(shared):,} features beside {count:,} items are more than {_MOST_SHARED:,} in all"
        )
    items: list[dict[Any, float]] = []
    places: list[int] = []
    for place, each in enumerate(given):
        equals = each if kind is Kind.RANKING and place_form(each) == "place" else [each]
        items += (_beside(shared, _named(item)) for item in equals)
        places += [place] * len(equals)
    if kind is Kind.CHOICE:
        chosen = items[0]
        if chosen in items[1:]:  # it may be listed among what there was to choose from
            del items[items.index(chosen, 1)]
            places.pop()
        if len(items) == 1:
            raise ValueError("among: nothing but the chosen item")
        places = [min(place, 1) for place in places]
    return Event(kind, {}, {}, float("nan"), name, moment, group, tuple(items), tuple(places))


def _beside(context: dict[Any, float], item: dict[Any, float]) -> dict[Any, float]:
    """An item with the features that all items of the event share."""
    if not context:
        return item
    twice = context.keys() & item.keys()
    if twice:
        raise ValueError(f"context: feature {min(twice, key=str)!r} is an item's too")
    return {**item, **context}
