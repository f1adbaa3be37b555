"""The base class of the metrics of pairs: a value is a quotient of two sums over the pairs within groups."""

import math
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from stream_rank.metrics.metric import StreamMetric
from stream_rank.metrics.pairs.part import Part, mean_of

__all__ = ["PairMetric"]


_LARGEST = 1e75
_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-30, 1e30
"""Squares of differences, times the weights of two events, summed over all pairs, are numbers too."""


def _number(what: str, value: Any, largest: float) -> float:
    """A number that can be compared with others."""
    try:
        if isinstance(value, str | bytes | bytearray | complex) or np.iscomplexobj(value):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= largest:
        raise ValueError(
            f"{what} {value!r} must be a finite number of at most {largest:g} in size to be compared"
        )
    return number


class PairMetric(StreamMetric):
    """A mean over the pairs of events, of one group each where events have groups.

    Events are updated with a `group` or without; those without are a group too. `get` is the mean over all
    pairs within groups, at a cost of O(groups), `by_group` that of every group. A prediction of None does not count.
    """

    _part: ClassVar[type[Part]]
    _empty = 0.0
    """The value while there is no pair that counts."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, Part] = {}

    def _count(self, y_true: Any, y_pred: Any, w: float, group: Hashable, sign: int) -> None:
        if y_pred is None:
            return
        true, predicted = (
            _number("label", y_true, _LARGEST),
            _number("prediction", y_pred, _LARGEST),
        )
        weight = _number("weight", w, _LARGEST_WEIGHT)
        if weight < 0:
            raise ValueError(f"weight {w!r} is below 0; an event is taken back by revert")
        if 0 < weight < _LEAST_WEIGHT:
            raise ValueError(f"weight {w!r} is neither 0 nor at least {_LEAST_WEIGHT:g}")
        try:
            part = self._parts.get(group)
            if group != group:
                raise TypeError
        except TypeError:
            raise ValueError(f"group {group!r} must be hashable and equal to itself") from None
        if part is None:
            if sign < 0:
                raise ValueError(f"there is no event of group {group!r} to take back")
            part = self._parts[group] = self._part()
        part.add(true, predicted, weight, sign)
        if not part.events:
            del self._parts[group]

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0, group: Hashable = None) -> None:
        """Count an event's pairs with all others of its group; a pair weighs the product of its events' weights."""
        self._count(y_true, y_pred, w, group, 1)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0, group: Hashable = None) -> None:
        """Take an event back, as windows do."""
        self._count(y_true, y_pred, w, group, -1)

    def get(self) -> float:
        """The mean over all pairs."""
        return mean_of(self._parts.values(), self._empty)

    def by_group(self) -> dict[Hashable, float]:
        """The mean of every group."""
        return {group: mean_of([part], self._empty) for group, part in self._parts.items()}
