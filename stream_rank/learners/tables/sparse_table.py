"""Sparse tables: events as the rows of a sparse matrix."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import first_beyond
from stream_rank.errors import FeatureError
from stream_rank.learners.base.numbers import unusable
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.dense_table import too_long
from stream_rank.learners.tables.vocabulary import Vocabulary

__all__ = ["SparseTable"]

_BLOCK_ENTRIES = 1 << 16
"""About this many entries are copied for the engine at a time."""

Array = npt.NDArray[Any]


class SparseTable:
    """A matrix in compressed rows; column `i` is feature `i`, and only columns with an entry become features."""

    native = None

    def __init__(self, csr: Any, bound: float, longest: float) -> None:
        if csr.dtype.kind not in "biuf":
            raise FeatureError(f"a sparse matrix of {csr.dtype}; one of real numbers is needed")
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        self._starts = csr.indptr.astype(np.int64)
        self._values: Array = csr.data
        if self._values.dtype not in (np.float64, np.float32):
            self._values = self._values.astype(np.float64)
        columns, first, self._which = np.unique(csr.indices, return_index=True, return_inverse=True)
        self._columns: list[int] = columns.tolist()
        self._first_rows = np.searchsorted(self._starts, first, "right") - 1
        self._met = np.lexsort((columns, self._first_rows))
        at = first_beyond(self._values[None, :], bound)
        if at >= 0:
            raise unusable(int(csr.indices[at]), self._values[at], bound, self._row_of(at))
        if longest < np.inf and len(self._values):
            sums = np.concatenate([[0.0], np.cumsum(self._values.astype(np.float64) ** 2)])
            squares = sums[self._starts[1:]] - sums[self._starts[:-1]]
            if squares.max() > longest:
                row = int(squares.argmax())
                raise too_long(row, squares[row], longest)

    def _row_of(self, entry: int) -> int:
        return int(np.searchsorted(self._starts, entry, "right")) - 1

    def __len__(self) -> int:
        return len(self._starts) - 1

    def introduce(self, vocabulary: Vocabulary) -> None:
        """Give slots to features that have none, as if the rows came one by one."""
        vocabulary.add(self._columns[place] for place in self._met)

    def newcomers(self, vocabulary: Vocabulary) -> list[tuple[int, Hashable]]:
        """The features that have no slot, in the order in which they come, each with the first row that has it."""
        return [
            (int(self._first_rows[place]), self._columns[place])
            for place in self._met.tolist()
            if self._columns[place] not in vocabulary.slot_of
        ]

    def within(self, bound: float) -> bool:
        """Whether no feature is larger than that in size."""
        return int(first_beyond(self._values[None, :], bound)) < 0

    def dicts(self, first: int, end: int) -> Iterator[dict[Any, float]]:
        """Rows `first` to `end` one by one, features by name."""
        for row in range(first, end):
            entries = slice(self._starts[row], self._starts[row + 1])
            names = [self._columns[which] for which in self._which[entries].tolist()]
            yield dict(zip(names, self._values[entries].tolist(), strict=True))

    def blocks(
        self,
        vocabulary: Vocabulary,
        n_slots: int,
        dtype: str,
        first: int,
        end: int,
    ) -> Iterator[SparseBlock]:
        """Rows `first` to `end`; features without a slot are left out."""
        for start, stop, rows, slots, values in self._parts(vocabulary, first, end):
            known = slots >= 0
            yield _block(start, stop, rows[known], slots[known], values[known], dtype)

    def all_features(
        self, vocabulary: Vocabulary, dtype: str, first: int, end: int
    ) -> Iterator[SparseBlock]:
        """Rows `first` to `end`; features without a slot follow the known ones, in the order of names."""
        for start, stop, rows, slots, values in self._parts(vocabulary, first, end):
            unknown = np.flatnonzero(slots < 0)
            earlier = np.searchsorted(rows[unknown], rows[unknown], "left")
            slots[unknown] = len(vocabulary) + np.arange(len(unknown)) - earlier
            yield _block(start, stop, rows, slots, values, dtype)

    def _parts(
        self, vocabulary: Vocabulary, first: int, end: int
    ) -> Iterator[tuple[int, int, Array, Array, Array]]:
        """Some rows at a time: where they begin and end, and row, slot and value of every entry."""
        slot_of = vocabulary.slots(self._columns)
        while first < end:
            room = np.searchsorted(self._starts, self._starts[first] + _BLOCK_ENTRIES, "right")
            stop = int(min(end, max(first + 1, room - 1)))
            entries = slice(self._starts[first], self._starts[stop])
            lengths = np.diff(self._starts[first : stop + 1])
            rows = np.repeat(np.arange(stop - first), lengths)
            yield first, stop, rows, slot_of[self._which[entries]], self._values[entries]
            first = stop


def _block(
    first: int, end: int, rows: Array, slots: Array, values: Array, dtype: str
) -> SparseBlock:
    """Entries as a block, their slots ascending within a row."""
    order = np.lexsort((slots, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=end - first))])
    return SparseBlock(
        first,
        end,
        starts.astype(np.int64),
        np.ascontiguousarray(slots[order], np.int64),
        np.ascontiguousarray(values[order], dtype),
    )
