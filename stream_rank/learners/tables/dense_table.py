"""Dense tables: events as the rows of a data frame or an array."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import copy_columns, first_beyond
from stream_rank.engine.memory import aligned
from stream_rank.engine.products import products
from stream_rank.errors import FeatureError
from stream_rank.learners.base.numbers import numbers, unusable
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.dense_rows import DenseRows
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["DenseTable", "frame_of", "too_long"]

_BLOCK_BYTES = 1 << 18
"""Rows are copied to whole vectors this many bytes at a time, which a second-level cache holds."""

_NARROW = 32
"""Up to this many columns, NumPy's overhead a row exceeds the cost of copying its numbers."""

_SPARSE_BELOW = 4
"""Columns that fill less than one in so many slots are learned as sparse events."""

Array = npt.NDArray[Any]


def frame_of(X: Any) -> tuple[Array, list[Hashable]] | None:
    """The values and names of a data frame; None if it is not one."""
    names = list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FeatureError(f"a feature may stand in one column only; twice: {twice!r}")
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    for name, kind in zip(names, frame.schema.values(), strict=True):
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown, nw.String)):
            raise FeatureError(f"feature {name!r} is a column of {kind}; numbers are needed")
    return frame.to_numpy(), names


def too_long(row: int, square: float, longest: float) -> FeatureError:
    """The error for an event whose sum of squares is too large for a kernel."""
    return FeatureError(
        f"the features of row {row} have a sum of squares of {square:g}; "
        f"with this kernel and dtype at most {longest:g} is needed"
    )


class DenseTable:
    """A matrix whose columns have names."""

    def __init__(
        self, values: Array, columns: Sequence[Hashable], native: Any, bound: float, longest: float
    ) -> None:
        self.native = native
        self._columns = columns
        self._values = numbers(values, columns, bound)
        at = self._first_beyond(bound)
        if at >= 0:
            row, column = divmod(at, len(columns))
            raise unusable(columns[column], self._values[row, column], bound, row)
        if longest < np.inf and len(self):
            squares = products(self._values, self._values)
            if squares.max() > longest:
                row = int(squares.argmax())
                raise too_long(row, squares[row], longest)

    def __len__(self) -> int:
        return len(self._values)

    def rows(self) -> DenseRows:
        """The same as rows of a stream, whose names are in the order in which learners meet them."""
        names = in_order(self._columns)
        order = [self._columns.index(name) for name in names]
        values = np.ascontiguousarray(self._values, np.float64)
        if order != list(range(len(order))):
            values = np.ascontiguousarray(values[:, order])
        count = len(values)
        return DenseRows(names, values, np.arange(count), np.full(count, len(names)))

    def introduce(self, vocabulary: Vocabulary) -> None:
        """Give slots to features that have none; all of them come with the first row."""
        if len(self):
            vocabulary.add(in_order(self._columns))

    def newcomers(self, vocabulary: Vocabulary) -> list[tuple[int, Hashable]]:
        """The features that have no slot, in the order of names; all of them come with the first row."""
        unknown = [name for name in self._columns if name not in vocabulary.slot_of]
        return [(0, name) for name in in_order(unknown)] if len(self) else []

    def within(self, bound: float) -> bool:
        """Whether no feature is larger than that in size."""
        return self._first_beyond(bound) < 0

    def _first_beyond(self, bound: float) -> int:
        """The place, counted along rows, of the first number beyond a bound; or -1."""
        flat = self._values.reshape(1, -1) if self._values.flags.c_contiguous else self._values
        return int(first_beyond(flat, bound))

    def dicts(self, first: int, end: int) -> Iterator[dict[Any, float]]:
        """Rows `first` to `end` one by one, features by name."""
        for row in self._values[first:end].tolist():
            yield dict(zip(self._columns, row, strict=True))

    def blocks(
        self, vocabulary: Vocabulary, n_slots: int, dtype: str, first: int, end: int
    ) -> Iterator[DenseBlock | SparseBlock]:
        """Rows `first` to `end`, sparse if they have values for few of the slots."""
        slots = vocabulary.slots(self._columns)
        step = max(64, _BLOCK_BYTES // (n_slots * np.dtype(dtype).itemsize))
        if np.count_nonzero(slots >= 0) * _SPARSE_BELOW < n_slots:
            yield from self._packed(slots, dtype, first, end)
            return
        room = aligned((min(step, end - first), n_slots), dtype)
        for start in range(first, end, step):
            some = self._values[start : min(end, start + step)]
            rows = room[: len(some)]
            if len(slots) <= _NARROW:
                copy_columns(some, slots, rows)
            elif (slots == np.arange(len(slots))).all():
                rows[:, : len(slots)] = some
            else:
                rows[:, slots[slots >= 0]] = some[:, slots >= 0]
            yield DenseBlock(start, start + len(some), rows)

    def all_features(
        self, vocabulary: Vocabulary, dtype: str, first: int, end: int
    ) -> Iterator[SparseBlock]:
        """Rows `first` to `end`; features without a slot follow the known ones, in the order of names."""
        slots = vocabulary.slots(self._columns)
        unknown = in_order(
            name for name, slot in zip(self._columns, slots, strict=True) if slot < 0
        )
        after = {name: len(vocabulary) + place for place, name in enumerate(unknown)}
        for column in np.flatnonzero(slots < 0).tolist():
            slots[column] = after[self._columns[column]]
        yield from self._packed(slots, dtype, first, end)

    def _packed(self, slots: Array, dtype: str, first: int, end: int) -> Iterator[SparseBlock]:
        """Rows as sparse events; columns whose slot is -1 are left out."""
        order = np.argsort(slots, kind="stable")[np.count_nonzero(slots < 0) :]
        width = len(order)
        step = max(64, _BLOCK_BYTES // (8 * (width + 1)))
        for start in range(first, end, step):
            some = self._values[start : min(end, start + step)]
            yield SparseBlock(
                start,
                start + len(some),
                np.arange(len(some) + 1, dtype=np.int64) * width,
                np.tile(slots[order], len(some)),
                np.ascontiguousarray(some[:, order], dtype).ravel(),
            )
