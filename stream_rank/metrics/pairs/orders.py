"""Pairs of events by how their predictions are ordered."""

from collections import Counter

from stream_rank.metrics.pairs.exact_sum import ExactSum
from stream_rank.metrics.pairs.point_part import PointPart
from stream_rank.metrics.pairs.points import Side

__all__ = ["Orders"]


class Orders(PointPart):
    """How many pairs of different labels are in order, tied, and misordered.

    Cost: O(log n)**2 for an event among n.
    """

    def __init__(self) -> None:
        self._weight, self._own = ExactSum(), ExactSum()
        self._labels: Counter[float] = Counter()
        super().__init__()

    def _clear(self) -> None:
        self._ordered, self._tied, self._misordered = ExactSum(), ExactSum(), ExactSum()

    def _weigh(self, lower: Side, upper: Side, w: float) -> None:
        self._ordered.add(w * (lower.below + upper.all - upper.not_above))
        self._misordered.add(w * (lower.all - lower.not_above + upper.below))
        tied = lower.not_above - lower.below + upper.not_above - upper.below
        self._tied.add(w * tied)

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        """Add an event, or take it away."""
        self._change(y_true, y_pred, w, sign)
        if w > 0:
            self._labels[y_true] += sign
            if not self._labels[y_true]:
                del self._labels[y_true]
        self._weight.add(sign * w)
        self._own.add_product(sign * w, w)

    def _pairs(self, counted: ExactSum) -> float:
        """Pairs, without what rounding leaves where there can be none."""
        return max(0.0, counted.value) if len(self._labels) > 1 else 0.0

    @property
    def ordered(self) -> float:
        """Pairs in order."""
        return self._pairs(self._ordered)

    @property
    def tied(self) -> float:
        """Pairs whose predictions are equal, though their labels differ."""
        return self._pairs(self._tied)

    @property
    def misordered(self) -> float:
        """Pairs in the wrong order."""
        return self._pairs(self._misordered)

    @property
    def different(self) -> float:
        """Pairs whose labels differ."""
        return self.ordered + self.tied + self.misordered

    @property
    def pairs(self) -> float:
        """All pairs."""
        return self._weight.square_less(self._own) / 2
