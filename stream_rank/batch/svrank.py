"""SVRank."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.svm import LinearSVR

from stream_rank.batch.estimator import KernelRanker, checked_groups, checked_pairs
from stream_rank.batch.graph import pairs_within
from stream_rank.batch.room import check_room
from stream_rank.bounds.bound import Bound
from stream_rank.bounds.kernel_rankers import magnitude_preserving
from stream_rank.parameters import check_number

__all__ = ["SVRank"]

Array = npt.NDArray[Any]


class SVRank(KernelRanker):
    """Scores whose differences are the labels' differences but for epsilon, as support vector regression has it.

    The scores minimise `|w|**2 + C / m**2 * sum over pairs (i, j) of max(0, |(w.x(i) - w.x(j)) - (y(i) - y(j))| - epsilon)`, every pair
    in both orders, and those of one group only where there are groups. Of `p` pairs given one by one it is `C / p` times
    their sum. It is regression of the pairs' differences without a constant; few large errors count less than with `MPRank`.

    Cost: O(p n) a round of liblinear over p pairs, with n features or, with a kernel, as many as events; and their table in memory.
    (The paper's dual has a factor of 2 too many in its bound and lacks m**2; this is what its primal says.)

    Parameters
    ----------
    C
        The trade-off: the larger, the closer to the labels.
    epsilon
        The error that does not count.
    kernel
        None or `Linear()`; `Polynomial`, `Gaussian`, a function of two tables, or "precomputed".
    tol
        Where the solver stops.
    max_iter
        How many rounds it may take; it warns where they are too few.

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, section 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from stream_rank.batch import SVRank
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> y = 2 * X[:, 0] - X[:, 1]
    >>> y[3] += 100
    >>> SVRank(C=100.0).fit(X, y).coef_.round(1).tolist()
    [2.0, -1.0]
    """

    def __init__(
        self,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: Any = None,
        tol: float = 1e-6,
        max_iter: int = 20_000,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn labels, of groups if there are any."""
        self._check()
        X, y = self._table(X, y)
        self._learned = (X, y) if groups is None else None
        preferred, other = pairs_within(y[:, 0], checked_groups(groups, len(X)))
        sizes = y[preferred, 0] - y[other, 0]
        scores = self._learn(X, preferred, other, sizes, self.C / len(X) ** 2)
        return self._settle(scores[:, None], y)

    def fit_pairs(self, X: Any, preferred: Any, other: Any, magnitude: Any = None) -> Self:
        """Learn that some rows are preferred over others, by 1 or by magnitudes."""
        self._check()
        X = self._items(X)
        self._learned = None
        preferred, other, sizes = checked_pairs(len(X), preferred, other, magnitude)
        self._learn(X, preferred, other, sizes, self.C / (2 * len(sizes)))
        return self._settle(np.zeros((1, 1)), None)

    def _learn(self, X: Array, preferred: Array, other: Array, sizes: Array, C: float) -> Array:
        """Minimise `|w|**2 / 2 + C * sum of losses`; the scores of events."""
        features, pivots = self._features(X)
        check_room(
            len(preferred) * features.shape[1],
            f"the table of {len(preferred):,} pairs",
            "learn fewer events or smaller groups, or use MPRank, whose cost does not grow with pairs",
        )
        solver = LinearSVR(
            loss="epsilon_insensitive",
            epsilon=self.epsilon,
            C=C,
            fit_intercept=False,
            dual=True,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=0,
        )
        solver.fit(features[preferred] - features[other], sizes)
        self.n_iter_ = int(np.max(solver.n_iter_))
        self._keep_weights(X, features, pivots, solver.coef_)
        scores: Array = features @ solver.coef_
        return scores

    def bound(
        self, delta: float = 0.05, span: float | None = None, kappa: float | None = None
    ) -> Bound:
        """By how much the loss may be off that of what was learned, on either side (`bounds.magnitude_preserving`).

        It is for events whose labels are no farther apart than `span`, and whose `sqrt(K(x, x))` is at most `kappa`: those of
        the events learned, unless others are given. No score is then farther from its label than `span / 2 + kappa |w|`, labels
        taken from their middle, and `|w|**2` is at most what it costs to learn nothing, `C span / 2`.
        """
        if self._learned is None:
            raise ValueError(
                "a bound is known for a model that was fitted to labels without groups"
            )
        X, y = self._learned
        span = float(np.ptp(y)) if span is None else span
        kappa = self._longest(X) if kappa is None else kappa
        distance = span / 2 + kappa * (self.C * span / 2) ** 0.5
        return magnitude_preserving(len(X), self.C, kappa, distance, 1, delta)

    def _check(self) -> None:
        check_number("C", self.C, 1e-100, 1e100)
        check_number("epsilon", self.epsilon, 0, 1e100)
