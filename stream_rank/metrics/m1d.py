"""Mean 1-norm difference."""

from stream_rank.metrics.pairs.exact_sum import ExactSum
from stream_rank.metrics.pairs.pair_metric import PairMetric
from stream_rank.metrics.pairs.point_part import PointPart
from stream_rank.metrics.pairs.points import Side

__all__ = ["M1D"]


class _Residuals(PointPart):
    """Residuals in order, and the sum of the distances between them."""

    def __init__(self) -> None:
        self._weight = ExactSum()
        super().__init__()

    def _clear(self) -> None:
        self._distances = ExactSum()

    def _weigh(self, lower: Side, upper: Side, w: float) -> None:
        self._distances.add(w * (lower.all_steps + upper.all_steps))

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        self._change(y_true - y_pred, 0.0, w, sign)
        self._weight.add(sign * w)

    def fraction(self) -> tuple[float, float]:
        return 2 * max(0.0, self._distances.value), self._weight.value**2


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
