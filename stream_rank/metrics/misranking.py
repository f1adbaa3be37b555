"""Pairwise misranking."""

from stream_rank.metrics.pairs.misranked import Misranked
from stream_rank.metrics.pairs.pair_metric import PairMetric

__all__ = ["Misranking"]


class Misranking(PairMetric):
    """The share of the pairs of different labels that are not predicted in order; a tie is misranked.

    Cost: O(log n)**2 for an event among n.

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, eq. 69.

    Examples
    --------
    >>> from stream_rank import Misranking
    >>> metric = Misranking()
    >>> for y_true, y_pred in [(1, 0.1), (2, 0.3), (3, 0.3), (3, 0.2)]:
    ...     metric.update(y_true, y_pred)
    >>> metric.get()
    0.4
    """

    _part = Misranked
