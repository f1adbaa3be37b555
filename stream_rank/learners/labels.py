"""Labels and their ranks."""

import bisect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import LabelError

__all__ = ["Labels", "label_array"]

Ranks = npt.NDArray[np.int64]


def _sequence(y: Any) -> Sequence[Any]:
    """Labels of a column as Python objects, times as the column's own kind of time."""
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if (kind and kind in "biufU") or (kind == "O" and hasattr(y, "tolist")):
        return list(y.tolist())
    return list(y)


def label_array(y: Any) -> npt.NDArray[Any]:
    """Labels as a one-dimensional array, of objects where they are not of one kind."""
    try:
        column = np.asarray(y)
    except ValueError:  # some label is a sequence
        column = np.empty(len(y), object)
        column[:] = list(y)
    if column.ndim != 1:
        raise LabelError(f"labels must be one-dimensional, not of shape {column.shape}")
    return column


class Labels:
    """The ordered labels: 1..k if `n_ranks` is k, else whatever comes, in its own order.

    >>> labels = Labels(n_ranks=None)
    >>> [labels.insert(label) for label in ("good", "bad", "fair")]
    [0, 0, 1]
    >>> labels.known, labels.rank_of["good"]
    (['bad', 'fair', 'good'], 3)
    """

    def __init__(self, n_ranks: int | None) -> None:
        if n_ranks is not None and (
            isinstance(n_ranks, bool) or not isinstance(n_ranks, int | np.integer) or n_ranks < 2
        ):
            raise ValueError(
                f"n_ranks must be None or a whole number of at least 2, not {n_ranks!r}"
            )
        self.fixed = n_ranks is not None
        self.known: list[Any] = list(range(1, int(n_ranks) + 1)) if n_ranks is not None else []
        self.rank_of: dict[Any, int] = {label: label for label in self.known}

    def check(self, label: Any) -> None:
        """Raise a `LabelError` unless the label is known, or can take a place among those that are."""
        if self.fixed:
            try:
                if label in self.rank_of:
                    return
            except TypeError:
                pass
            raise LabelError(
                f"label {label!r} is not one of the ranks 1..{len(self.known)}; "
                "use n_ranks=None to discover labels as they come"
            )
        try:
            hash(label)
            if label is None or label != label:
                raise TypeError
            bisect.bisect_left(self.known, label)
        except TypeError:
            known = f"labels {self.known[:5]!r} so far" if self.known else "labels with an order"
            raise LabelError(f"label {label!r} has no place among {known}") from None

    def insert(self, label: Any) -> int:
        """Give a new label its place, and return how many labels are below it."""
        label = label.item() if isinstance(label, np.number | np.bool_ | np.str_) else label
        place = bisect.bisect_left(self.known, label)
        self.known.insert(place, label)
        self.rank_of = {known: rank for rank, known in enumerate(self.known, start=1)}
        return place

    def segments(self, y: Any) -> Iterator[tuple[int, int, Any, Ranks]]:
        """Cut a column of labels before every new one: (first row, end, new label or None, ranks).

        Whoever iterates inserts the new label before asking for the next segment. All labels are
        checked before the first segment is given, so a bad one changes nothing.
        """
        if self.fixed:
            ranks = self._fixed_ranks(y)
            yield 0, len(ranks), None, ranks
            return
        labels = _sequence(y)
        new: dict[Any, int] = {}
        trial = list(self.known)
        for row, label in enumerate(labels):
            try:
                if label in self.rank_of or label in new:
                    continue
            except TypeError:
                pass  # not hashable: the check says so
            self.check(label)
            try:
                bisect.insort(trial, label)
            except TypeError:
                raise LabelError(
                    f"label {label!r} of row {row} has no place among labels {trial[:5]!r}"
                ) from None
            new[label] = row
        cuts = [*new.values(), len(labels)]
        if cuts[0] > 0 or not labels:
            yield 0, cuts[0], None, self._ranks(labels[: cuts[0]])
        for number, label in enumerate(new):
            first, end = cuts[number], cuts[number + 1]
            yield (
                first,
                end,
                label,
                np.empty(0, np.int64),
            )  # its ranks are known once it is inserted

    def ranks(self, y: Any, first: int, end: int) -> Ranks:
        """The ranks of known labels in a slice of a column."""
        return self._ranks(_sequence(y[first:end] if not hasattr(y, "iloc") else y.iloc[first:end]))

    def _ranks(self, labels: Sequence[Any]) -> Ranks:
        return np.fromiter(map(self.rank_of.__getitem__, labels), np.int64, len(labels))

    def _fixed_ranks(self, y: Any) -> Ranks:
        column = label_array(y)
        if column.dtype.kind not in "iuf":
            labels = _sequence(y)
            for label in labels:
                self.check(label)
            return self._ranks(labels)
        if len(column) and not (column.min() >= 1 and column.max() <= len(self.known)):
            inside = (column >= 1) & (column <= len(self.known))
            self.check(column[int(np.argmin(inside))].item())
        ranks = column.astype(np.int64)
        if column.dtype.kind == "f" and (ranks != column).any():
            self.check(column[int(np.argmax(ranks != column))].item())
        return ranks

    def of(self, ranks: Ranks) -> npt.NDArray[Any]:
        """The labels of ranks, as an array of the labels' own type."""
        if self.fixed:
            return ranks  # they are the labels
        known = np.array(self.known)
        if known.shape != (len(self.known),) or known.dtype.kind not in "biufUM":
            known = np.empty(len(self.known), object)
            known[:] = self.known
        result: npt.NDArray[Any] = known[ranks - 1]
        return result
