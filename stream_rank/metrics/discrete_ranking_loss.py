"""The discrete ranking loss of Agarwal and Niyogi."""

from stream_rank.metrics.orders import Orders
from stream_rank.metrics.pair_metric import PairMetric

__all__ = ["DiscreteRankingLoss"]


class _Steps(Orders):
    def fraction(self) -> tuple[float, float]:
        return self.steps, self.pairs


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
