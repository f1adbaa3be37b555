"""Disagreement error."""

from stream_rank.metrics.pairs.orders import Orders
from stream_rank.metrics.pairs.pair_metric import PairMetric

__all__ = ["DisagreementError"]


class _Disagreeing(Orders):
    def fraction(self) -> tuple[float, float]:
        return self.misordered + self.tied / 2, self.different


class DisagreementError(PairMetric):
    """The share of the pairs of different labels whose predictions disagree in order; a tie counts half.

    It is `mean of (1 - sign(f - f')) / 2` over the pairs with `y > y'`: one minus the concordance.

    Cost: O(log n)**2 for an event among n.

    References
    ----------
    T. Pahikkala and others. An efficient algorithm for learning to rank from preference graphs. Machine Learning 75, 2009,
    eq. 1.

    Examples
    --------
    >>> from stream_rank import DisagreementError
    >>> metric = DisagreementError()
    >>> for y_true, y_pred in [(1, 0.1), (2, 0.3), (3, 0.3), (3, 0.2)]:
    ...     metric.update(y_true, y_pred)
    >>> metric.get()
    0.3
    """

    _part = _Disagreeing
