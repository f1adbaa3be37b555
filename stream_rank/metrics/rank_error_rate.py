"""How often a predicted rank is wrong."""

from collections.abc import Sequence
from math import floor
from typing import Any

from stream_rank.metrics.rank_metric import RankMetric

__all__ = ["RankErrorRate"]


class RankErrorRate(RankMetric):
    """The share of events whose rank was not predicted exactly.

    A score counts as its nearest rank; halves go up.

    Cost: O(1) an event.

    Parameters
    ----------
    labels
        The labels in their order, where they are not the numbers of the ranks.

    Examples
    --------
    >>> from stream_rank import RankErrorRate
    >>> rate = RankErrorRate()
    >>> for y_true, y_pred in [(1, 1), (2, 4), (3, 3.4), (5, 4.4)]:
    ...     rate.update(y_true, y_pred)
    >>> rate
    RankErrorRate: 50.00%
    """

    _fmt = ".2%"

    def __init__(self, labels: Sequence[Any] | None = None) -> None:
        super().__init__(labels)
        self._wrong = 0.0
        self._weight = 0.0

    def _count(self, y_true: Any, y_pred: Any, w: float) -> None:
        self._wrong += w * (self._place(y_true) != floor(self._place(y_pred) + 0.5))
        self._weight += w

    def get(self) -> float:
        """The rate; 0 before the first event."""
        return self._wrong / self._weight if self._weight else 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.get():{self._fmt}}"
