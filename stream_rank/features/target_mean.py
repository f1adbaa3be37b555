"""The mean label of a category as a feature."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.engine.preparation.target_means import target_means
from stream_rank.features.adding_stage import Added, AddingStage
from stream_rank.learners.tables.blocks import SparseBlock

__all__ = ["TargetMean"]

Array = npt.NDArray[Any]


class TargetMean(AddingStage, base.SupervisedTransformer):
    """Adds `mean(field)`, the damped mean of the labels that came with a category, for every field that is named.

    With `n` labels of a category it is `(their sum + damping * mean of all labels) / (n + damping)`: a category that never came
    has the mean of all. It is of the past only: an event is transformed before its own label counts. Where an event has several
    categories of a field, it is the mean of theirs, and where it has none, the mean of all.

    Cost: two nanoseconds a feature.

    Parameters
    ----------
    by
        The fields, of which the categories are the features `field=value`.
    damping
        As many labels count for the mean of all.

    Examples
    --------
    >>> from stream_rank import TargetMean
    >>> stage = TargetMean(["user"], damping=1.0)
    >>> for user, stars in (("ann", 5), ("ann", 4), ("bob", 1)):
    ...     stage.learn_one({"user": user}, stars)
    >>> stage.transform_one({"user": "ann"})
    {'mean(user)': 4.1..., 'user=ann': 1.0}
    """

    of_labels: ClassVar[bool] = True
    listed: ClassVar[str | None] = "by"

    def __init__(self, by: Sequence[str] = ("user", "item"), damping: float = 5.0) -> None:
        if isinstance(by, str) or not by or len(set(by)) < len(by):
            raise ValueError(f"by must be a list of different fields, not {by!r}")
        if not 0 < damping < float("inf"):
            raise ValueError(f"damping must be above 0, not {damping!r}")
        self.by = by
        self.damping = damping
        super().__init__()
        self._fields: Array = np.empty(0, np.int64)
        self._sums: Array = np.zeros((2, 0))
        self._total = np.zeros(2)

    def _forget(self, slots: Array) -> None:
        names = self._vocabulary.names
        self._fields[slots] = self._fields_of([names[slot] for slot in slots.tolist()])
        self._sums[:, slots] = 0.0

    @property
    def _supervised(self) -> bool:
        return True

    def _join(self, other: Self, places: Array) -> None:
        self._sums[:, places] += other._sums[:, : len(places)]
        self._total += other._total
        self._join_outputs(other, places, range(len(other._out_of_added)))

    def _make_room(self) -> None:
        before, names = len(self._fields), self._vocabulary.names
        self._fields = np.concatenate([self._fields, self._fields_of(names[before:])])
        if self._sums.shape[1] < len(names):
            larger = np.zeros((2, 2 * len(names)))
            larger[:, :before] = self._sums[:, :before]
            self._sums = larger

    def rule(self) -> dict[str, Any]:
        """The mean of every category, and that of one which never came."""
        count, total = self._total.tolist()
        overall = total / count if count else 0.0
        names, (counts, sums) = self.features, self._sums
        means = {
            str(names[slot]): float(
                (sums[slot] + self.damping * overall) / (counts[slot] + self.damping)
            )
            for slot in np.flatnonzero(self._fields >= 0).tolist()
        }
        return {"by": list(self.by), "mean": overall, "means": means}

    def _fields_of(self, names: Sequence[Hashable]) -> Array:
        """The place of the field that each name is a category of, or -1."""
        places = {f"{field}=": place for place, field in enumerate(self.by)}
        found = ("".join(str(name).partition("=")[:2]) for name in names)
        return np.array([places.get(start, -1) for start in found], np.int64)

    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        fields, sums = self._fields, self._sums
        if unknown:
            fields = np.concatenate([fields, self._fields_of(unknown)])
            sums = np.concatenate([sums[:, : len(self._fields)], np.zeros((2, len(unknown)))], 1)
        found = np.empty((len(block.starts) - 1, len(self.by)))
        target_means(
            *(block.starts, block.slots, block.values, fields, labels),
            *(learning & ~np.isnan(labels), sums, self._total, float(self.damping), found),
        )
        fresh: list[tuple[int, int]] = []
        if not self._out_of_added and learning.any():
            first = int(learning.argmax())
            fresh = [(first, number) for number in range(len(self.by))]
        starts = np.arange(len(found) + 1) * len(self.by)
        numbers = np.tile(np.arange(len(self.by)), len(found))
        return Added(starts, numbers, found.reshape(-1), fresh)

    def _name_of(self, number: int) -> Hashable:
        return f"mean({self.by[number]})"

    def _own_arrays(self) -> dict[str, Array]:
        return {"sums": self._sums[:, : len(self._vocabulary)], "total": self._total}
