"""A look at the first ratings of a run: is a number the name of something?"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from stream_rank.codec.batch import Batch
from stream_rank.codec.event import Kind

__all__ = ["IdCheck"]

_ENOUGH = 20_000
"""Ratings that are looked at."""
_MOST_ENTRIES = 1_000_000
"""Of their features."""
_MANY = 1_000
"""An id has more values than that."""
_NO_ORDER = 0.1
"""A number whose correlation with the label is below this in size says nothing by its size."""


class IdCheck:
    """Says once for each feature that its numbers look like ids: whole, of many values, and without an order in the label.

    Cost: a sort of the entries of the first ratings, and nothing an event after them.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say, self._left, self._room = say, _ENOUGH, _MOST_ENTRIES
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._names: Sequence[Hashable] = ()

    def see(self, batch: Batch) -> None:
        """Look at the ratings of a batch, until enough were seen."""
        if self._left <= 0:
            return
        rated = np.flatnonzero(batch.kinds == Kind.RATING)[: self._left]
        rows = batch.rows.chosen(rated)
        lengths = rows.last - rows.first
        places = np.arange(lengths.sum()) + np.repeat(rows.last - np.cumsum(lengths), lengths)
        labels = np.repeat(batch.labels[rated], lengths)
        self._parts.append((rows.slots[places], rows.values[places], labels))
        self._names, self._left = rows.names, self._left - len(rated)
        self._room -= len(places)
        if self._room <= 0:
            self._left = 0
        if self._left <= 0:
            self.conclude()

    def conclude(self) -> None:
        """Say what was found in the ratings so far, if they were not concluded before."""
        if not self._parts:
            return
        slots, values, labels = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        self._parts, self._left = [], 0
        whole = values == np.floor(values)
        counts = np.bincount(slots)
        of_whole = np.bincount(slots[whole], minlength=len(counts))
        for slot in np.flatnonzero((counts > _MANY) & (of_whole == counts)).tolist():
            mine = slots == slot
            if len(np.unique(values[mine])) > _MANY and _unordered(values[mine], labels[mine]):
                name = self._names[slot]
                self._say(
                    f"{name} has more than {_MANY:,} different whole numbers, whose size says nothing about the label, as ids have: "
                    f"if they are names, list it in `categories`"
                )


def _unordered(values: np.ndarray, labels: np.ndarray) -> bool:
    """Whether numbers and labels are not correlated."""
    x, y = values - values.sum() / len(values), labels - labels.sum() / len(labels)
    square = float((x * x).sum()) * float((y * y).sum())
    return float((x * y).sum()) ** 2 <= _NO_ORDER**2 * square
