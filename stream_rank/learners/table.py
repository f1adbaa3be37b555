"""Many events as columns: data frames, arrays and CSR matrices in one form."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import copy_columns, first_beyond
from stream_rank.engine.memory import aligned
from stream_rank.errors import FeatureError
from stream_rank.learners.vocabulary import Vocabulary, in_order

__all__ = ["DenseBlock", "SparseBlock", "Table"]

_BLOCK_BYTES = 1 << 18
"""Rows are copied to whole vectors this many bytes at a time, which a second-level cache holds."""

_NARROW = 32
"""Up to this many columns NumPy spends more on a row than on its numbers."""

_SPARSE_BELOW = 4
"""Columns that fill less than one in so many slots are learned as sparse events."""

Array = npt.NDArray[Any]


class DenseBlock(NamedTuple):
    """Some rows, one number a slot."""

    first: int
    end: int
    rows: Array


class SparseBlock(NamedTuple):
    """Some rows, as the slots that are not zero, ascending within a row."""

    first: int
    end: int
    starts: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    values: Array


class Table:
    """Events as rows.

    Parameters
    ----------
    X
        A data frame (names are features), an array (column i is feature i) or a CSR matrix.
    """

    def __init__(self, X: Any) -> None:
        self.native: Any = None
        self._csr: Any = None
        names = list(getattr(X, "columns", ()))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise FeatureError(f"a feature may stand in one column only; twice: {twice!r}")
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            self.native, self._dense = X, _numbers(frame.to_numpy(), frame.columns)
            self._columns: Sequence[Hashable] = names
        elif hasattr(X, "tocsr"):
            csr = X.tocsr()
            if not csr.has_canonical_format:
                csr = csr.copy()
                csr.sum_duplicates()
            self._csr = csr
            self._columns = range(csr.shape[1])
        else:
            self._dense = _numbers(np.asarray(X), None)
            self._columns = range(self._dense.shape[1])

    def __len__(self) -> int:
        return int(self._csr.shape[0] if self._csr is not None else self._dense.shape[0])

    def check(self, bound: float) -> None:
        """Raise a `FeatureError` that names the first number beyond `bound`; NaN is one."""
        if self._csr is not None:
            values = _numbers(self._csr.data[None, :], None)
            at = first_beyond(values, bound)
            if at >= 0:
                row = int(np.searchsorted(self._csr.indptr, at, "right")) - 1
                raise unusable(int(self._csr.indices[at]), values[0, at], bound, row)
            return
        flat = self._dense.reshape(1, -1) if self._dense.flags.c_contiguous else self._dense
        at = first_beyond(flat, bound)
        if at >= 0:
            row, column = divmod(at, self._dense.shape[1])
            raise unusable(self._columns[column], self._dense[row, column], bound, row)

    def introduce(self, vocabulary: Vocabulary) -> None:
        """Give slots to features that have none, as if the rows came one by one."""
        if self._csr is None:
            if len(self):
                vocabulary.add(in_order(self._columns))
            return
        columns, first = np.unique(self._csr.indices, return_index=True)
        rows = np.searchsorted(self._csr.indptr, first, "right")
        vocabulary.add(columns[np.lexsort((columns, rows))].tolist())

    def blocks(
        self, vocabulary: Vocabulary, n_slots: int, dtype: str, first: int, end: int, dense: bool
    ) -> Iterator[DenseBlock | SparseBlock]:
        """Rows `first` to `end`, as blocks of `n_slots` slots; never sparse if `dense`.

        Features without a slot are left out.
        """
        slots = vocabulary.slots(self._columns)
        step = max(64, _BLOCK_BYTES // (n_slots * np.dtype(dtype).itemsize))
        if self._csr is not None:
            whole = self._csr[first:end] if (first, end) != (0, len(self)) else self._csr
            if not dense:
                yield _sparse(whole, slots, dtype, first)
                return
            for start in range(0, whole.shape[0], step):
                some = whole[start : start + step].toarray()
                rows = _dense(some, slots, n_slots, dtype, None)
                yield DenseBlock(first + start, first + start + len(rows), rows)
            return
        known = int(np.count_nonzero(slots >= 0))
        room = None
        for start in range(first, end, step):
            some = self._dense[start : min(end, start + step)]
            if not dense and known * _SPARSE_BELOW < n_slots:
                yield _packed(some, slots, dtype, start)
            else:
                rows = room = _dense(some, slots, n_slots, dtype, room)
                yield DenseBlock(start, start + len(some), rows[: len(some)])


def unusable(name: Hashable, value: Any, bound: float, row: int | None = None) -> FeatureError:
    """The error for a feature whose value is not a number, or too large a number."""
    where = "" if row is None else f" of row {row}"
    shown = value.item() if isinstance(value, np.generic) else value
    return FeatureError(
        f"feature {name!r}{where} is {shown!r}; a finite number of at most {bound:g} in size is needed"
    )


def _numbers(values: Array, columns: Sequence[Hashable] | None) -> Array:
    """Values as a matrix of floats, or an error that names the column that is not of numbers."""
    if values.ndim != 2:
        raise FeatureError(f"events must be rows of a table, not of shape {values.shape}")
    if values.dtype in (np.float64, np.float32):
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        for column in range(values.shape[1]):
            for row in range(values.shape[0]):
                try:
                    float(values[row, column])
                except (TypeError, ValueError):
                    name = column if columns is None else columns[column]
                    raise FeatureError(
                        f"feature {name!r} of row {row} is {values[row, column]!r}; a number is needed"
                    ) from None
        raise


def _dense(some: Array, slots: Array, n_slots: int, dtype: str, room: Array | None) -> Array:
    """Rows of all slots, in `room` if there is one."""
    if room is None:
        room = aligned((len(some), n_slots), dtype)
    rows, width = room[: len(some)], some.shape[1]
    if width <= _NARROW:
        copy_columns(some, slots, rows)
    elif (slots == np.arange(width)).all():
        rows[:, :width] = some
    else:
        rows[:, slots[slots >= 0]] = some[:, slots >= 0]
    return room


def _packed(some: Array, slots: Array, dtype: str, first: int) -> SparseBlock:
    """Rows of a few columns as sparse events."""
    order = np.argsort(slots, kind="stable")[np.count_nonzero(slots < 0) :]
    n_rows, width = len(some), len(order)
    return SparseBlock(
        first,
        first + n_rows,
        np.arange(n_rows + 1, dtype=np.int64) * width,
        np.tile(slots[order], n_rows),
        np.ascontiguousarray(some[:, order], dtype).ravel(),
    )


def _sparse(some: Any, slots: Array, dtype: str, first: int) -> SparseBlock:
    """Rows of a CSR matrix, their columns replaced by slots and sorted again."""
    where = slots[some.indices]
    values, starts = some.data, some.indptr.astype(np.int64)
    rows = np.repeat(np.arange(some.shape[0]), np.diff(starts))
    known = where >= 0
    if not known.all():
        rows, where, values = rows[known], where[known], values[known]
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=some.shape[0]))])
    if len(where) > 1 and not ((np.diff(where) > 0) | (np.diff(rows) > 0)).all():
        order = np.lexsort((where, rows))
        where, values = where[order], values[order]
    return SparseBlock(
        first,
        first + some.shape[0],
        starts.astype(np.int64),
        np.ascontiguousarray(where),
        np.ascontiguousarray(values, dtype),
    )
