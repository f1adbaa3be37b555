"""Pairs of events by how their predictions are ordered."""

from stream_rank.metrics.exact_sum import ExactSum
from stream_rank.metrics.point_part import PointPart
from stream_rank.metrics.points import Side

__all__ = ["Orders"]


class Orders(PointPart):
    """How many pairs of different labels are in order, tied, and misordered.

    Cost: O(log n)**2 for an event among n.
    """

    def __init__(self) -> None:
        self._weight, self._own = ExactSum(), ExactSum()
        super().__init__()

    def _clear(self) -> None:
        self._ordered, self._tied, self._misordered = ExactSum(), ExactSum(), ExactSum()

    def _weigh(self, lower: Side, upper: Side, w: float) -> None:
        self._ordered.add(w * (lower.below + upper.all - upper.not_above))
        self._misordered.add(w * (lower.all - lower.not_above + upper.below))
        tied = lower.not_above - lower.below + upper.not_above - upper.below
        self._tied.add(w * tied)

    def _sum(self) -> float:
        return self.different

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        """Add an event, or take it away."""
        self._change(y_true, y_pred, w, sign)
        self._weight.add(sign * w)
        self._own.add_product(sign * w, w)

    @property
    def ordered(self) -> float:
        """Pairs in order."""
        return self._ordered.value

    @property
    def tied(self) -> float:
        """Pairs whose predictions are equal, though their labels differ."""
        return self._tied.value

    @property
    def misordered(self) -> float:
        """Pairs in the wrong order."""
        return self._misordered.value

    @property
    def different(self) -> float:
        """Pairs whose labels differ."""
        return self.ordered + self.tied + self.misordered

    @property
    def pairs(self) -> float:
        """All pairs."""
        return (self._weight.value**2 - self._own.value) / 2
