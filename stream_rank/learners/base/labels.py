"""Ordered labels and their ranks."""

import bisect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import LabelError
from stream_rank.learners.base.serialization import plain_label
from stream_rank.parameters import check_whole

__all__ = ["Labels", "label_column"]

Array = npt.NDArray[Any]


def _plain(label: Any) -> Any:
    """A label as a Python object; times stay as they are, because `item` makes plain numbers of them."""
    if isinstance(label, np.number | np.bool_ | np.str_) and not isinstance(label, np.timedelta64):
        return label.item()
    return label


def label_column(y: Any, n_events: int) -> Sequence[Any]:
    """Labels as an array of numbers or a list of objects, one for each event."""
    if getattr(y, "ndim", 1) != 1 or hasattr(y, "columns") or np.ma.isMaskedArray(y):
        kind = "a masked array" if np.ma.isMaskedArray(y) else f"a {type(y).__name__}"
        raise LabelError(f"labels must be one column without gaps, not {kind}")
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise LabelError(f"labels must be a column, not {y!r}")
    numeric = getattr(getattr(y, "dtype", None), "kind", None) in ("i", "u", "f")
    column: Any = np.asarray(y) if numeric else [_plain(label) for label in y]
    if len(column) != n_events:
        raise LabelError(f"{n_events} events came with {len(column)} labels")
    labels: Sequence[Any] = column
    return labels


class Labels:
    """The ordered labels: 1..k if `n_ranks` is k, else whatever comes, in its own order.

    >>> labels = Labels(n_ranks=None)
    >>> [labels.insert(label) for label in ("good", "bad", "fair")]
    [0, 0, 1]
    >>> labels.known, labels.rank_of["good"]
    (['bad', 'fair', 'good'], 3)
    """

    def __init__(self, n_ranks: int | None) -> None:
        if n_ranks is not None:
            check_whole("n_ranks", n_ranks, 2)
        self.fixed = n_ranks is not None
        self.known: list[Any] = list(range(1, int(n_ranks) + 1)) if n_ranks is not None else []
        self.rank_of: dict[Any, int] = {label: label for label in self.known}

    def described(self) -> list[str | int | float]:
        """The labels as JSON has them, in their order."""
        return [plain_label(label) for label in self.known]

    def prepare(self, described: Sequence[Any]) -> None:
        """Insert labels where there are none yet; a `ValueError` if they are not in their order."""
        for label in described:
            self.insert(label)
        if self.known != described:
            raise ValueError("labels out of order")

    def check(self, label: Any, row: int | None = None, among: Sequence[Any] | None = None) -> None:
        """Raise a `LabelError` unless the label is known, or can take a place among the known ones."""
        where = "" if row is None else f" of row {row}"
        if self.fixed:
            try:
                if label in self.rank_of:
                    return
            except TypeError:
                pass
            hint = "; ranks count from 1" if label == 0 else ""
            raise LabelError(
                f"label {label!r}{where} is not one of the ranks 1..{len(self.known)}{hint}"
            )
        known = self.known if among is None else among
        try:
            hash(label)
            if label is None or label != label:
                raise TypeError
            bisect.bisect_left(known or [label], label)
        except TypeError:
            others = f"labels {known[:5]!r}" if known else "labels: it has no order"
            raise LabelError(f"label {label!r}{where} has no place among {others}") from None

    def insert(self, label: Any) -> int:
        """Give a new label its place, and return how many labels are below it."""
        label = _plain(label)
        place = bisect.bisect_left(self.known, label)
        self.known.insert(place, label)
        self.rank_of = {known: rank for rank, known in enumerate(self.known, start=1)}
        return place

    def new_in(self, column: Sequence[Any]) -> list[int]:
        """The rows in which new labels come first; all labels are checked."""
        if self.fixed:
            self._check_fixed(column)
            return []
        labels = column.tolist() if isinstance(column, np.ndarray) else column
        met, trial, rows = set(self.rank_of), list(self.known), []
        for row, label in enumerate(labels):
            try:
                if label in met:
                    continue
            except TypeError:
                pass  # not hashable: the check says so
            self.check(label, row, trial)
            bisect.insort(trial, label)
            met.add(label)
            rows.append(row)
        return rows

    def _check_fixed(self, column: Sequence[Any]) -> None:
        if isinstance(column, np.ndarray) and len(column):
            top = len(self.known)
            good = column.min() >= 1 and column.max() <= top
            if good and (column.dtype.kind != "f" or (column == np.floor(column)).all()):
                return
            column = column.tolist()
        for row, label in enumerate(column):
            self.check(label, row)

    def ranks(self, column: Sequence[Any]) -> npt.NDArray[np.int64]:
        """The ranks of labels that are known."""
        if isinstance(column, np.ndarray):
            if self.fixed:
                return column.astype(np.int64)
            column = column.tolist()
        return np.fromiter(map(self.rank_of.__getitem__, column), np.int64, len(column))

    def of(self, ranks: npt.NDArray[np.int64]) -> Array:
        """The labels of ranks, in an array of the labels' own type if they have one and it keeps them."""
        if self.fixed:
            return ranks  # they are the labels
        known: Array = np.empty(len(self.known), object)
        known[:] = self.known
        if len({type(label) for label in self.known}) == 1 and self.known:
            typed = np.array(self.known)
            if typed.shape == known.shape and typed.tolist() == self.known:
                known = typed
        result: Array = known[ranks - 1]
        return result
