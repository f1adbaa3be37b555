"""The discrete ranking loss of Agarwal and Niyogi."""

from stream_rank.metrics.pairs.exact_sum import ExactSum
from stream_rank.metrics.pairs.orders import Orders
from stream_rank.metrics.pairs.pair_metric import PairMetric
from stream_rank.metrics.pairs.points import Side

__all__ = ["DiscreteRankingLoss"]


class _Steps(Orders):
    """By how much the labels of misordered pairs differ, and half of that for tied ones."""

    def _clear(self) -> None:
        super()._clear()
        self._steps = ExactSum()

    def _weigh(self, lower: Side, upper: Side, w: float) -> None:
        super()._weigh(lower, upper, w)
        misordered = lower.all_steps - lower.not_above_steps + upper.below_steps
        tied = lower.not_above_steps - lower.below_steps
        tied += upper.not_above_steps - upper.below_steps
        self._steps.add(w * (misordered + tied / 2))

    def fraction(self) -> tuple[float, float]:
        return max(0.0, self._steps.value), self.pairs


class DiscreteRankingLoss(PairMetric):
    """The mean over all pairs of `|y - y'|` where the pair is misordered, half of it where it is tied, and 0 else.

    Cost: O(log n)**2 for an event among n.

    References
    ----------
    S. Agarwal and P. Niyogi. Generalization bounds for ranking algorithms via algorithmic stability. JMLR 10, 2009, eq. 3.

    Examples
    --------
    >>> from stream_rank import DiscreteRankingLoss
    >>> metric = DiscreteRankingLoss()
    >>> for y_true, y_pred in [(1, 0.3), (2, 0.3), (4, 0.2)]:
    ...     metric.update(y_true, y_pred)
    >>> metric
    DiscreteRankingLoss: 1.833333
    """

    _part = _Steps
