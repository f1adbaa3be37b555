"""Blocks of events, dense or sparse: the forms in which events reach a model."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import aligned
from stream_rank.engine.support import lay_out

__all__ = ["DenseBlock", "SparseBlock"]


class DenseBlock(NamedTuple):
    """Some rows, one number a slot."""

    first: int
    end: int
    rows: npt.NDArray[Any]

    def part(self, first: int, end: int) -> "DenseBlock":
        """Some of the rows."""
        return DenseBlock(first, end, self.rows[first - self.first : end - self.first])

    def dense(self, n_slots: int) -> "DenseBlock":
        """The same rows."""
        return self


class SparseBlock(NamedTuple):
    """Some rows, as the slots that are not zero, ascending within a row."""

    first: int
    end: int
    starts: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    values: npt.NDArray[Any]

    def part(self, first: int, end: int) -> "SparseBlock":
        """Some of the rows."""
        if (first, end) == (self.first, self.end):
            return self
        starts = self.starts[first - self.first : end - self.first + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        return SparseBlock(
            first, end, starts - starts[0], self.slots[entries], self.values[entries]
        )

    def only(self, which: npt.NDArray[np.bool_]) -> "SparseBlock":
        """The rows with some of their entries."""
        kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(which)])
        starts = kept[self.starts]
        return SparseBlock(self.first, self.end, starts, self.slots[which], self.values[which])

    def dense(self, n_slots: int) -> DenseBlock:
        """The rows with a number for each of so many slots; higher slots are left out."""
        rows = aligned((self.end - self.first, n_slots), self.values.dtype)
        lay_out(self.starts, self.slots, self.values, rows, np.empty(len(rows)))
        return DenseBlock(self.first, self.end, rows)
