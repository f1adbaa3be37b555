"""The mean number of steps between a rank and its prediction."""

from collections.abc import Sequence
from typing import Any

from stream_rank.metrics.rank_metric import RankMetric

__all__ = ["RankLoss"]


class RankLoss(RankMetric):
    """Average rank loss, `mean |y - ŷ|`: how many steps a prediction is off.

    A score or a mean vote counts as it is, not rounded. Sum and count are kept, so a window of whole
    steps stays exact however long it runs.

    Cost: O(1) an event.

    Parameters
    ----------
    labels
        The labels in their order, where they are not the numbers of the ranks.

    References
    ----------
    K. Crammer and Y. Singer. Pranking with ranking. NIPS 2001.

    Examples
    --------
    >>> from stream_rank import RankLoss
    >>> loss = RankLoss()
    >>> for y_true, y_pred in [(1, 1), (2, 4), (3, 2), (5, 4.5)]:
    ...     loss.update(y_true, y_pred)
    >>> loss
    RankLoss: 0.875

    >>> loss = RankLoss(labels=["bad", "fair", "good"])
    >>> loss.update("bad", "good")
    >>> loss.get()
    2.0
    """

    def __init__(self, labels: Sequence[Any] | None = None) -> None:
        super().__init__(labels)
        self._sum = 0.0
        self._weight = 0.0

    def _count(self, y_true: Any, y_pred: Any, w: float) -> None:
        self._sum += w * abs(self._place(y_true) - self._place(y_pred))
        self._weight += w

    def get(self) -> float:
        """Steps an event; 0 before the first."""
        return self._sum / self._weight if self._weight else 0.0
