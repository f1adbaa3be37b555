"""Mean 1-norm difference."""

from stream_rank.metrics.exact_sum import ExactSum
from stream_rank.metrics.pair_metric import PairMetric
from stream_rank.metrics.points import Points

__all__ = ["M1D"]


class _Residuals:
    """Residuals in order, and the sum of the distances between them."""

    def __init__(self) -> None:
        self._points, self._weight, self._distances = Points(), ExactSum(), ExactSum()

    @property
    def events(self) -> int:
        return self._points.events

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        residual = y_true - y_pred
        if sign < 0:
            self._points.add(residual, 0.0, w, sign)
        lower, upper = self._points.around(residual, 0.0)
        self._distances.add(sign * w * (lower.all_steps + upper.all_steps))
        self._weight.add(sign * w)
        if sign > 0:
            self._points.add(residual, 0.0, w, sign)

    def fraction(self) -> tuple[float, float]:
        return 2 * self._distances.value, self._weight.value**2


class M1D(PairMetric):
    """Mean 1-norm difference: `mean over i, j of |(f(i) - f(j)) - (y(i) - y(j))|`.

    The mean is over all m**2 pairs, as in the paper. A constant added to all predictions does not matter.

    Cost: O(log n)**2 for an event among n.

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, eq. 68.

    Examples
    --------
    >>> from stream_rank import M1D
    >>> metric = M1D()
    >>> for y_true, y_pred in [(1, 11), (2, 12), (4, 16)]:
    ...     metric.update(y_true, y_pred)
    >>> metric
    M1D: 0.888889
    """

    _part = _Residuals
