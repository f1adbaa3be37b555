"""Mean squared difference."""

from stream_rank.metrics.pairs.exact_sum import whole
from stream_rank.metrics.pairs.pair_metric import PairMetric

__all__ = ["MSD"]


class _Residuals:
    """Weights, residuals and their squares, summed with all their digits."""

    def __init__(self) -> None:
        self.events = 0
        # in units of 2**-1074, of its square, and of its cube
        self._weight = self._sum = self._squares = 0

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        self.events += sign
        weight, residual = sign * whole(w), whole(y_true) - whole(y_pred)
        self._weight += weight
        self._sum += weight * residual
        self._squares += weight * residual * residual

    def fraction(self) -> tuple[float, float]:
        if self._weight == 0:
            return 0.0, 0.0
        pairs = (self._weight / whole(1.0)) ** 2
        spread = 2 * (self._weight * self._squares - self._sum * self._sum)
        return spread / (self._weight * self._weight * whole(1.0) ** 2) * pairs, pairs


class MSD(PairMetric):
    """Mean squared difference: `mean over i, j of ((f(i) - f(j)) - (y(i) - y(j)))**2`.

    The mean is over all m**2 pairs, as in the paper: that is twice the variance of `y - f`. A constant
    added to all predictions does not matter.

    Cost: O(1) an event.

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, eq. 67.

    Examples
    --------
    >>> from stream_rank import MSD
    >>> metric = MSD()
    >>> for y_true, y_pred in [(1, 11), (2, 12), (4, 16)]:
    ...     metric.update(y_true, y_pred)
    >>> metric
    MSD: 1.777778
    """

    _part = _Residuals
