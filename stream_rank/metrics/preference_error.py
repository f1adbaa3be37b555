"""The share of preferences whose two items are predicted in the wrong order."""

from typing import Any

from stream_rank.metrics.metric import StreamMetric

__all__ = ["PreferenceError", "checked_outcome"]


def checked_outcome(outcome: Any) -> int:
    """The outcome of a comparison: 1 if the first item was preferred, -1 if the second was, 0 if neither."""
    if outcome not in (1, 0, -1):
        raise ValueError(
            f"outcome {outcome!r} is none: 1 if the first item was preferred, -1 if the second was, 0 for a tie"
        )
    return int(outcome)


class PreferenceError(StreamMetric):
    """Misordering: `mean |outcome - sign of the lead| / 2` over comparisons of two items.

    The outcome is 1 if the first item was preferred, -1 if the second was, and 0 for a tie. A pair in the wrong order is a
    mistake; where a tie is predicted, or where there was one and an order was predicted, it is half a mistake.

    Cost: O(1) a comparison.

    Examples
    --------
    >>> from stream_rank import PRank, PreferenceError
    >>> model, error = PRank(n_ranks=3), PreferenceError()
    >>> games = [({"ann": 1}, {"bob": 1}, 1), ({"bob": 1}, {"cid": 1}, 1), ({"bob": 1}, {"ann": 1}, -1)]
    >>> for first, second, outcome in games:
    ...     error.update(outcome, model.prefer_one(first, second))
    ...     preferred, other = (first, second) if outcome >= 0 else (second, first)
    ...     model.learn_pair(preferred, other, magnitude=abs(outcome))
    >>> error
    PreferenceError: 0.5
    """

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0.0

    def _count(self, y_true: Any, y_pred: Any, w: float) -> None:
        lead = (y_pred > 0) - (y_pred < 0)
        self._sum += w * abs(checked_outcome(y_true) - lead) / 2
        self._weight += w

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Count a comparison: its outcome, and by how much the first item was predicted to be ahead."""
        self._count(y_true, y_pred, w)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Take a comparison back, as windows do."""
        self._count(y_true, y_pred, -w)

    def get(self) -> float:
        """Mistakes a comparison; 0 before the first."""
        return self._sum / self._weight if self._weight else 0.0
