"""The base class of the metrics of ranks."""

from collections.abc import Sequence
from typing import Any

from stream_rank.metrics.metric import StreamMetric

__all__ = ["RankMetric"]


class RankMetric(StreamMetric):
    """A metric of labels against predicted labels or scores, for classifiers and regressors alike.

    Parameters
    ----------
    labels
        The labels in their order, where they are not the numbers of the ranks. Steps are then counted between
        places in this order.

    A prediction of None (a learner that has seen no label yet) does not count.
    """

    def __init__(self, labels: Sequence[Any] | None = None) -> None:
        self.labels = labels
        self._place_of = None if labels is None else {y: i for i, y in enumerate(labels, start=1)}

    def _place(self, label: Any) -> float:
        """Where a label stands, counted in steps."""
        if self._place_of is None:
            try:
                return float(label)
            except (TypeError, ValueError):
                raise ValueError(
                    f"label {label!r} is not a number; give labels=[...] in their order"
                ) from None
        if label not in self._place_of:
            raise ValueError(f"label {label!r} is not among labels={self.labels!r}")
        return float(self._place_of[label])

    def _count(self, y_true: Any, y_pred: Any, w: float) -> None:
        raise NotImplementedError

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Count a prediction."""
        if y_pred is not None:
            self._count(y_true, y_pred, w)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Take a prediction back, as windows do."""
        if y_pred is not None:
            self._count(y_true, y_pred, -w)
