"""Rows of which every event has all features: a matrix."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import first_beyond, round_rows, take_rows
from stream_rank.engine.memory import aligned
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.vocabulary import Vocabulary

__all__ = ["DenseRows"]

Array = npt.NDArray[Any]

_BLOCK_BYTES = 1 << 18


class DenseRows(Rows):
    """Event i is row `at[i]` of a matrix, whose column j is the feature `names[j]`; events may share a row.

    It is used as `Rows` are; entries are made of it only where somebody asks for them.
    """

    def __init__(self, names: Sequence[Hashable], matrix: Array, at: Array, met: Array) -> None:
        self.names, self.matrix, self.at, self.met = names, matrix, at, met

    def __getattr__(self, name: str) -> Any:
        width = self.matrix.shape[1]
        if name == "first":
            self.first = self.at * width
            return self.first
        if name == "last":
            self.last = self.first + width
            return self.last
        if name == "slots":
            self.slots = np.tile(np.arange(width), len(self.matrix))
            return self.slots
        if name == "values":
            self.values = self.matrix.reshape(-1)
            return self.values
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.at)

    def part(self, begin: int, end: int) -> "DenseRows":
        """Some of the events."""
        some = slice(begin, end)
        return DenseRows(self.names, self.matrix, self.at[some], self.met[some])

    def chosen(self, which: Array) -> "DenseRows":
        """The events at some places."""
        return DenseRows(self.names, self.matrix, self.at[which], self.met[which])

    def dense(self) -> "DenseRows":
        """Itself."""
        return self

    def within(self, bound: float) -> bool:
        """Whether no feature is larger than that in size; of rows that no event has, too."""
        return int(first_beyond(self.matrix.reshape(1, -1), bound)) < 0

    def blocks(
        self, vocabulary: Vocabulary, n_slots: int, dtype: str, first: int, end: int
    ) -> Iterator[DenseBlock | SparseBlock]:
        """Events `first` to `end`."""
        where, width = vocabulary.places_in(self.names), self.matrix.shape[1]
        straight = where is None or np.array_equal(where[:width], np.arange(width))
        if 2 * width < n_slots or not straight:
            yield from super().blocks(vocabulary, n_slots, dtype, first, end)
            return
        step = max(64, _BLOCK_BYTES // (n_slots * np.dtype(dtype).itemsize))
        copy = take_rows if dtype == "float64" else round_rows
        room = aligned((min(step, end - first), n_slots), dtype)
        for start in range(first, end, step):
            stop = min(end, start + step)
            copy(self.matrix, self.at[start:stop], room)
            yield DenseBlock(start, stop, room[: stop - start])
