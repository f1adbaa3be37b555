"""Concordance."""

from stream_rank.metrics.pairs.orders import Orders
from stream_rank.metrics.pairs.pair_metric import PairMetric

__all__ = ["Concordance"]


class _Agreeing(Orders):
    def fraction(self) -> tuple[float, float]:
        return self.ordered + self.tied / 2, self.different


class Concordance(PairMetric):
    """The share of the pairs of different labels that are predicted in order; a tie counts half.

    With two labels it is the area under the ROC curve. 0.5 is chance, and the value while no two labels differ.

    Cost: O(log n)**2 for an event among n.

    References
    ----------
    F. E. Harrell and others. Evaluating the yield of medical tests. JAMA 247, 1982.

    Examples
    --------
    >>> from stream_rank import Concordance
    >>> metric = Concordance()
    >>> for y_true, y_pred in [(1, 0.1), (2, 0.3), (3, 0.3), (3, 0.2)]:
    ...     metric.update(y_true, y_pred)
    >>> metric.get()
    0.7
    """

    _part = _Agreeing
    _empty = 0.5

    @property
    def bigger_is_better(self) -> bool:
        """More is better."""
        return True
