"""Drift: by which rule the label of an event is made, as rules follow each other."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["DRIFTS", "Phase", "phase"]

Array = npt.NDArray[Any]


class Phase(NamedTuple):
    """Of every event: the rule that is passing, the one that is coming, and the chance that the event follows the latter."""

    passing: Array
    coming: Array
    chance: Array


def _one_rule(events: Array, _every: int) -> Phase:
    """The same rule for all."""
    return Phase(0 * events, 0 * events, np.zeros(len(events)))


def _sudden(events: Array, every: int) -> Phase:
    """A new rule after so many events."""
    return Phase(events // every, events // every, np.zeros(len(events)))


def _gradual(events: Array, every: int) -> Phase:
    """In the second half of each rule's time ever more events follow the next one."""
    rule, done = events // every, events % every
    return Phase(rule, rule + 1, np.maximum(0.0, (2 * done - every) / every))


def _recurring(events: Array, every: int) -> Phase:
    """Two rules take turns."""
    rule = events // every % 2
    return Phase(rule, rule, np.zeros(len(events)))


DRIFTS: dict[str, Callable[[Array, int], Phase]] = {
    "none": _one_rule,
    "sudden": _sudden,
    "gradual": _gradual,
    "recurring": _recurring,
    "features": _one_rule,
    "rank": _one_rule,
}
"""With `features` there is one more after so many events each time, half of them at first; with `rank` the highest rank comes after so many events only."""


def phase(drift: str, first: int, count: int, every: int) -> Phase:
    """Of some events.

    >>> phase("gradual", 0, 8, 4).chance.tolist()
    [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]
    """
    return DRIFTS[drift](np.arange(first, first + count), every)
