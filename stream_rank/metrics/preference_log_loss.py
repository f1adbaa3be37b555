"""The log-loss of the probabilities of preferences."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from stream_rank.engine.functions import logarithms
from stream_rank.engine.scoring.comparisons import LEAST_PROBABILITY
from stream_rank.metrics.metric import StreamMetric
from stream_rank.metrics.preference_error import checked_outcome

__all__ = ["PreferenceLogLoss"]


class PreferenceLogLoss(StreamMetric):
    """`mean -log P(outcome)` over comparisons of two items, in nats, by what `prefer_proba_one` said of each.

    The outcome is 1 if the first item was preferred, -1 if the second was, and 0 for a tie.

    Cost: O(1) a comparison.

    Examples
    --------
    >>> from stream_rank import PreferenceLogLoss
    >>> loss = PreferenceLogLoss()
    >>> loss.update(1, {1: 0.5, 0: 0.25, -1: 0.25})
    >>> loss.update(0, {1: 0.5, 0: 0.25, -1: 0.25})
    >>> loss
    PreferenceLogLoss: 1.039721
    """

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0.0

    def _count(self, y_true: Any, y_pred: Mapping[int, float], w: float) -> None:
        found = np.empty(1)
        logarithms(
            np.array([max(y_pred.get(checked_outcome(y_true), 0.0), LEAST_PROBABILITY)]), found
        )
        self._sum -= w * float(found[0])
        self._weight += w

    def update(self, y_true: Any, y_pred: Mapping[int, float], w: float = 1.0) -> None:
        """Count a comparison: its outcome, and the probabilities of all outcomes."""
        self._count(y_true, y_pred, w)

    def revert(self, y_true: Any, y_pred: Mapping[int, float], w: float = 1.0) -> None:
        """Take a comparison back, as windows do."""
        self._count(y_true, y_pred, -w)

    def get(self) -> float:
        """Nats a comparison; 0 before the first."""
        return self._sum / self._weight if self._weight else 0.0
