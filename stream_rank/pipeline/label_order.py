"""A stage that finds out whether a file is sorted by its labels."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from stream_rank.codec.batch import Batch
from stream_rank.codec.event import Kind
from stream_rank.ingest.timestamps import NO_TIME

__all__ = ["LabelOrder"]

_ENOUGH = 100
_FEW = 0.25
"""Less than this share of the changes that chance would bring is no chance."""
_MOST_LABELS = 1_000
"""Of more labels than these, changes say nothing: hardly two events have the same."""


class LabelOrder:
    """Counts how often the label of a rating is not that of the rating before.

    Of n ratings in random order with shares p of labels, (n - 1) (1 - sum p²) changes are expected. Far fewer come where the file is sorted,
    and then whoever repeats the last label looks like a good learner: what is lost says nothing about events in another order. Where
    events have times, their order is that of the world, and nothing is said.

    >>> order = LabelOrder()
    >>> order.see(np.repeat([1.0, 2.0, 3.0], 100))
    >>> order.said
    'the labels of 300 ratings change 2 times, where some 199 changes would come by chance: is the file sorted by its labels? Then losses say little; shuffle it, or sort it by time'
    """

    def __init__(self) -> None:
        self._counts: Counter[float] = Counter()
        self._last = np.nan
        self._changes = 0
        self._timed = False

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Look at a batch, and pass it on. Cost: O(events)."""
        rated = batch.kinds == Kind.RATING
        if rated.any() and len(self._counts) <= _MOST_LABELS:
            self._timed |= bool((batch.times[rated] != NO_TIME).any())
            self.see(batch.labels[rated])
        yield batch

    def see(self, labels: np.typing.NDArray[np.float64]) -> None:
        """Count the labels of ratings, and their changes."""
        before = np.concatenate([[self._last], labels[:-1]])
        self._changes += int(((labels != before) & ~np.isnan(before)).sum())
        self._last = float(labels[-1])
        values, counts = np.unique(labels, return_counts=True)
        self._counts.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    @property
    def said(self) -> str | None:
        """A warning, if there are far fewer changes than by chance."""
        ratings = self._counts.total()
        if self._timed or ratings < _ENOUGH or len(self._counts) > _MOST_LABELS:
            return None
        alike = sum((count / ratings) ** 2 for count in self._counts.values())
        expected = (ratings - 1) * (1.0 - alike)
        if expected < _ENOUGH / 2 or self._changes >= _FEW * expected:
            return None
        return (
            f"the labels of {ratings:,} ratings change {self._changes:,} times, where some {expected:,.0f} changes would come by "
            "chance: is the file sorted by its labels? Then losses say little; shuffle it, or sort it by time"
        )
