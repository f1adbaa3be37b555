"""Agreement beyond chance, where being far off weighs more."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from stream_rank.metrics.rank_metric import RankMetric

__all__ = ["WeightedKappa"]


class WeightedKappa(RankMetric):
    """Cohen's kappa with weights: `1 - observed / expected` disagreement.

    A prediction `d` steps off disagrees by `d` (linear) or `d**2` (quadratic). Expected is the
    disagreement of labels and predictions of the same frequencies but no relation. 1 is perfect, 0 is
    chance; where nothing but one rank is seen and predicted, chance is perfect too and the value is 0.

    Cost: O(1) an event; to read, O(k log k) linear and O(k**2) quadratic, with k different labels and predictions.

    Parameters
    ----------
    weights
        "linear" or "quadratic".
    labels
        The labels in their order, where they are not the numbers of the ranks.

    References
    ----------
    J. Cohen. Weighted kappa. Psychological Bulletin, 1968.

    Examples
    --------
    >>> from stream_rank import WeightedKappa
    >>> kappa = WeightedKappa(weights="quadratic")
    >>> for y_true, y_pred in [(1, 1), (2, 3), (3, 3), (3, 2)]:
    ...     kappa.update(y_true, y_pred)
    >>> kappa
    WeightedKappa: 0.636364
    """

    def __init__(self, weights: str = "linear", labels: Sequence[Any] | None = None) -> None:
        if weights not in ("linear", "quadratic"):
            raise ValueError(f"weights must be 'linear' or 'quadratic', not {weights!r}")
        super().__init__(labels)
        self.weights = weights
        self._observed = 0.0
        self._weight = 0.0
        self._true: Counter[float] = Counter()
        self._predicted: Counter[float] = Counter()

    def _disagreement(self, steps: float) -> float:
        return abs(steps) if self.weights == "linear" else steps * steps

    def _count(self, y_true: Any, y_pred: Any, w: float) -> None:
        true, predicted = self._place(y_true), self._place(y_pred)
        self._observed += w * self._disagreement(true - predicted)
        self._weight += w
        for counter, place in ((self._true, true), (self._predicted, predicted)):
            counter[place] += w  # type: ignore[assignment]
            if not counter[place]:
                del counter[place]

    def get(self) -> float:
        """Kappa; 0 before the first event."""
        expected = self._expected()
        return 1 - self._observed * self._weight / expected if expected else 0.0

    def _expected(self) -> float:
        """The disagreement of every label with every prediction, summed.

        Linear: |a - b| is the number of cuts between a and b, and every cut is crossed by all pairs with one
        on either side.
        """
        places = sorted({*self._true, *self._predicted})
        if self.weights == "quadratic":
            return sum(
                count * sum(c * (a - b) ** 2 for b, c in self._predicted.items())
                for a, count in self._true.items()
            )
        below_true = below_predicted = expected = 0.0
        for place, following in pairwise(places):
            below_true += self._true[place]
            below_predicted += self._predicted[place]
            crossing = below_true * (self._weight - below_predicted)
            crossing += below_predicted * (self._weight - below_true)
            expected += crossing * (following - place)
        return expected

    @property
    def bigger_is_better(self) -> bool:
        """Agreement is better when it is more."""
        return True
