"""What the metrics of pairs share: pairs are counted within groups, and a value is a sum over them by another."""

import math
from collections.abc import Hashable
from typing import Any, ClassVar, Protocol

from stream_rank.metrics.metric import StreamMetric

__all__ = ["PairMetric", "Part"]


class Part(Protocol):
    """The pairs of one group."""

    @property
    def events(self) -> int:
        """How many events there are."""

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        """Add an event if `sign` is 1, take it away again if it is -1."""

    def fraction(self) -> tuple[float, float]:
        """What is summed over all pairs, and what it is to be divided by."""


class PairMetric(StreamMetric):
    """A mean over the pairs of events, of one group each where events have groups.

    Events are updated with a `group` or without; those without are a group too. `get` is the mean over all
    pairs within groups, `by_group` that of every group. A prediction of None does not count.
    """

    _part: ClassVar[type[Part]]
    _empty = 0.0
    """The value while there is no pair that counts."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, Part] = {}

    def _count(self, y_true: Any, y_pred: Any, w: float, group: Hashable, sign: int) -> None:
        if y_pred is None:
            return
        true, predicted = float(y_true), float(y_pred)
        if not (math.isfinite(true) and math.isfinite(predicted)):
            raise ValueError(
                f"label {y_true!r} and prediction {y_pred!r} must be finite numbers to be compared"
            )
        part = self._parts.get(group)
        if part is None:
            part = self._parts[group] = type(self)._part()
        part.add(true, predicted, w, sign)
        if not part.events:
            del self._parts[group]

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0, group: Hashable = None) -> None:
        """Count an event's pairs with all others of its group; a pair weighs the product of its events' weights."""
        self._count(y_true, y_pred, w, group, 1)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0, group: Hashable = None) -> None:
        """Take an event back, as windows do."""
        self._count(y_true, y_pred, w, group, -1)

    def _mean(self, fractions: list[tuple[float, float]]) -> float:
        below = math.fsum(fraction[1] for fraction in fractions)
        return math.fsum(fraction[0] for fraction in fractions) / below if below else self._empty

    def get(self) -> float:
        """The mean over all pairs."""
        return self._mean([part.fraction() for part in self._parts.values()])

    def by_group(self) -> dict[Hashable, float]:
        """The mean of every group."""
        return {group: self._mean([part.fraction()]) for group, part in self._parts.items()}
