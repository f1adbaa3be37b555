"""Rules that are learned from every pair by itself, by a solver of scikit-learn's."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from sklearn.svm import LinearSVC, LinearSVR

from stream_rank.batch.estimator import KernelRanker
from stream_rank.batch.kernel_values import root_and_pivots
from stream_rank.batch.room import check_room

__all__ = ["ExplicitPairs"]

Array = npt.NDArray[Any]


class ExplicitPairs(KernelRanker):
    """A ranker by differences of features, or of those whose inner products are the kernel: as many as events.

    liblinear's dual coordinate descent: each step looks at one pair, O(n); what it takes to the end depends on C. It warns
    where it came to none in `max_iter` rounds.
    """

    max_iter: int
    tol: float

    def _learn(
        self,
        X: Array,
        preferred: Array,
        other: Array,
        sizes: Array,
        C: float,
        epsilon: float | None,
    ) -> Array:
        """Minimise `|w|**2 / 2 + C * sum of losses`: hinge losses, or those beyond epsilon of the sizes; the scores of events."""
        if self._linear:
            features, pivots = X, None
        else:
            features, pivots = root_and_pivots(self._kernel_table(X))
        check_room(
            len(preferred) * features.shape[1],
            f"the table of {len(preferred):,} pairs",
            "learn fewer events or smaller groups, or use RankRLS, whose cost does not grow with pairs",
        )
        common: dict[str, Any] = {
            "C": C,
            "fit_intercept": False,
            "dual": True,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "random_state": 0,
        }
        differences = features[preferred] - features[other]
        if epsilon is None:
            if len(differences) == 1:  # the solver wants two classes; a pair and itself, each half
                differences, common["C"] = np.repeat(differences, 2, axis=0), C / 2
            signs = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
            solver = LinearSVC(loss="hinge", **common).fit(signs[:, None] * differences, signs)
        else:
            solver = LinearSVR(loss="epsilon_insensitive", epsilon=epsilon, **common)
            solver.fit(differences, sizes)
        self.n_iter_ = int(np.max(solver.n_iter_))
        weights = np.ravel(solver.coef_)
        if pivots is None:
            self.coef_ = weights
        else:
            self._keep_pivots(X, features, pivots, weights)
        scores: Array = features @ weights
        return scores

    def _keep_pivots(self, X: Array, features: Array, pivots: Array, weights: Array) -> None:
        """The rule by the kernels of as many events as there are features, whose rows are triangular."""
        some = pivots[: features.shape[1]]
        duals = solve_triangular(features[some], weights, trans="T", lower=True)
        self._keep(X, duals[:, None], some)
