"""RankBoost."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stream_rank.batch.boosted_pairs import BoostedLabels, BoostedPairs
from stream_rank.batch.estimator import Ranker, checked_groups, checked_pairs
from stream_rank.parameters import check_whole

__all__ = ["RankBoost"]

Array = npt.NDArray[Any]

_CHANCE = 1e-12
"""A weak ranker that is better than chance by less is none."""


class RankBoost(Ranker):
    """AdaBoost over pairs: a sum of weak rankers, each of which asks whether one feature is above a threshold.

    A distribution D over the pairs (h preferred over j) begins even. In every round the weak ranker is taken for which
    `e(+) - e(-)` is the farthest from 0, where `e(+)` is the weight of the pairs of which h alone is above the threshold, and `e(-)`
    of which j alone is; its coefficient is `log(e(+) / e(-)) / 2`, and D is multiplied by `exp(-coefficient * (w(h) - w(j)))`. So the
    mean of `exp(f(j) - f(h))` goes down, which bounds the share of pairs in the wrong order; `bound_` is it. Of `e(-) = 0` half
    of one pair's even weight is taken, or the coefficient would be infinite.

    `fit` takes all pairs of different labels, of one group if there are groups. Their weights are products of one factor an event,
    so that a round costs O(n m) for n features, however many pairs there are; with `fit_pairs` O(n m + p).

    Parameters
    ----------
    n_rounds
        How many weak rankers there are, at most: where none is better than chance, it ends.

    References
    ----------
    Y. Freund, R. Iyer, R. Schapire and Y. Singer. An efficient boosting algorithm for combining preferences. JMLR 4, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from stream_rank.batch import RankBoost
    >>> X = np.array([[1.0, 9.0], [2.0, 7.0], [3.0, 8.0], [4.0, 7.0]])
    >>> model = RankBoost(n_rounds=10).fit(X, [1, 2, 3, 4])
    >>> model.features_[:2].tolist(), model.thresholds_[:2].tolist()
    ([0, 1], [2.5, 7.5])
    >>> np.argsort(model.predict(X)).tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, n_rounds: int = 100) -> None:
        self.n_rounds = n_rounds

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn labels, of groups if there are any; only which of two is the larger matters."""
        check_whole("n_rounds", self.n_rounds)
        X, y = self._table(X, y)
        return self._boost(X, BoostedLabels(y[:, 0], checked_groups(groups, len(X))))

    def fit_pairs(self, X: Any, preferred: Any, other: Any, magnitude: Any = None) -> Self:
        """Learn that some rows are preferred over others; by how much does not matter."""
        check_whole("n_rounds", self.n_rounds)
        X = self._items(X)
        preferred, other, _ = checked_pairs(len(X), preferred, other, magnitude)
        return self._boost(X, BoostedPairs(len(X), preferred, other))

    def _boost(self, X: Array, pairs: BoostedLabels | BoostedPairs) -> Self:
        if not pairs.n_pairs:
            raise ValueError(
                "there is no pair to learn: no two labels differ, or none within a group"
            )
        order = np.argsort(-X, axis=0, kind="stable")
        columns = np.arange(X.shape[1])
        down = X[order, columns]
        apart = np.diff(down, axis=0) < 0  # where a threshold fits in between
        scores, least = np.zeros(len(X)), 0.5 / pairs.n_pairs
        rankers = []
        for _ in range(self.n_rounds):
            leads = np.cumsum(pairs.pull(scores)[order], axis=0)[
                :-1
            ]  # e(+) - e(-) of all weak rankers
            best = np.where(apart, np.abs(leads), 0.0)
            row, feature = np.unravel_index(int(best.argmax()), best.shape)
            if best[row, feature] <= _CHANCE:
                break
            upper, lower = down[row, feature], down[row + 1, feature]
            threshold = upper / 2 + lower / 2
            if not lower <= threshold < upper:
                threshold = lower
            above = X[:, feature] > threshold
            right, wrong = pairs.parted(scores, above)
            coefficient = float(np.log(max(right, least) / max(wrong, least)) / 2)
            rankers.append((feature, threshold, coefficient))
            scores += coefficient * above
        self.features_ = np.array([ranker[0] for ranker in rankers], np.int64)
        self.thresholds_ = np.array([ranker[1] for ranker in rankers], np.float64)
        self.coefficients_ = np.array([ranker[2] for ranker in rankers], np.float64)
        self.bound_ = pairs.mean_loss(scores)
        return self._settle(np.zeros((1, 1)), None)

    def _scores(self, X: Array) -> Array:
        scores: Array = (X[:, self.features_] > self.thresholds_) @ self.coefficients_
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
