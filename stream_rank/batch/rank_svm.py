"""RankSVM."""

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from stream_rank.batch.cutting_planes import minimise
from stream_rank.batch.estimator import KernelRanker, checked_groups, checked_pairs
from stream_rank.batch.hinge import HingeOfLabels, HingeOfPairs, HingeRisk
from stream_rank.parameters import check_number, check_whole

__all__ = ["RankSVM"]

Array = npt.NDArray[Any]


class RankSVM(KernelRanker):
    """Support vector machines over pairs: the preferred item wants to lead by 1.

    The scores minimise `|w|**2 / 2 + C / p * sum over p pairs of max(0, 1 - (f(h) - f(j)))`, h preferred over j: all pairs of different
    labels, of one group if there are groups, or those given.

    Scores are learned by cutting planes, a pass of which is O(non-zeros + m log m) however many pairs there are; passes grow with C and
    with the precision asked for. `gap_` is by how much of its cost the rule is above the least possible, at most. A kernel's
    matrix is decomposed first, O(m**3), into as many features as it has rank, which a pass then reads (the RankRLS
    paper's section 4.2): no table of pairs is made.

    Parameters
    ----------
    C
        The trade-off: the larger, the fewer pairs are in the wrong order among those learned.
    kernel
        None or `Linear()`; `Polynomial`, `Gaussian`, a function of two tables, or "precomputed".
    tol
        The gap, as a fraction of the cost, at which passes end.
    max_iter
        How many passes there may be; there is a warning where they are too few.

    References
    ----------
    T. Joachims. Optimizing search engines using clickthrough data. KDD 2002. Training linear SVMs in linear time. KDD 2006.
    V. Franc and S. Sonnenburg. Optimized cutting plane algorithm for support vector machines. ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from stream_rank.batch import RankSVM
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 0.0], [0.0, 3.0], [3.0, 3.0], [1.0, 5.0]])
    >>> model = RankSVM(C=10.0).fit(X, [1, 2, 3, 1, 3, 2], groups=[1, 1, 1, 2, 2, 2])
    >>> model.predict(X).round(1).tolist()
    [0.8, 1.8, 3.0, 0.7, 3.0, 2.0]
    >>> model.fit_pairs(X, preferred=[2, 0], other=[1, 3]).coef_.round(2).tolist()
    [0.4, -0.2]
    """

    _sparse = True

    def __init__(
        self, C: float = 1.0, kernel: Any = None, tol: float = 1e-4, max_iter: int = 2000
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn labels, of groups if there are any; only which of two is the larger matters."""
        self._check()
        X, y = self._table(X, y)
        return self._cut(X, HingeOfLabels(y[:, 0], checked_groups(groups, X.shape[0])))

    def fit_pairs(self, X: Any, preferred: Any, other: Any, magnitude: Any = None) -> Self:
        """Learn that some rows are preferred over others; by how much does not matter."""
        self._check()
        X = self._items(X)
        preferred, other, _ = checked_pairs(X.shape[0], preferred, other, magnitude)
        return self._cut(X, HingeOfPairs(preferred, other))

    def _check(self) -> None:
        check_number("C", self.C, 1e-100, 1e100)
        check_number("tol", self.tol, 1e-14, 1)
        check_whole("max_iter", self.max_iter)

    def _cut(self, X: Any, risk: HingeRisk) -> Self:
        if not risk.n_pairs:
            raise ValueError(
                "there is no pair to learn: no two labels differ, or none within a group"
            )
        if sparse.issparse(X) and not self._linear:
            raise ValueError("a kernel needs a dense X")
        features, pivots = self._features(X)
        found = minimise(features, risk, self.C, self.tol, self.max_iter)
        self._keep_weights(X, features, pivots, found.weights)
        self.n_iter_ = found.passes
        self.gap_ = found.gap / found.cost if found.cost else 0.0
        if self.gap_ > self.tol:
            warnings.warn(
                f"{found.passes} passes leave the cost up to {self.gap_:.1%} above the least; "
                "give a larger max_iter or tol, or a smaller C",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self._settle(np.zeros((1, 1)), None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._linear
        tags.regressor_tags.poor_score = True
        return tags
