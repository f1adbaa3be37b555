"""Mean squared difference."""

from stream_rank.metrics.exact_sum import ExactSum
from stream_rank.metrics.pair_metric import PairMetric

__all__ = ["MSD"]


class _Residuals:
    """Weights, residuals and their squares, summed."""

    def __init__(self) -> None:
        self.events = 0
        self._weight, self._sum, self._squares = ExactSum(), ExactSum(), ExactSum()

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        self.events += sign
        residual, w = y_true - y_pred, sign * w
        self._weight.add(w)
        self._sum.add_product(w, residual)
        self._squares.add_product(w * residual, residual)

    def fraction(self) -> tuple[float, float]:
        weight, total, squares = self._weight.units, self._sum.units, self._squares.units
        if weight == 0:
            return 0.0, 0.0
        spread = 2 * (weight * squares - total * total)
        return max(0.0, spread / (weight * weight)) * self._weight.value**2, self._weight.value**2


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
