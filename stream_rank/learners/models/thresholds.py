"""Ordered thresholds as beliefs begin with them: what is known of them before any event, and how a new rank splits them."""

import numpy as np
import numpy.typing as npt

from stream_rank.engine.functions import logarithms

__all__ = ["FIRST_TIE", "GAP_VARIANCE", "MIDDLE_VARIANCE", "begun", "check_order", "split"]

MIDDLE_VARIANCE, GAP_VARIANCE = 9.0, 4.0
"""Of the middle threshold, whose unit is the noise of the scores, and of the logarithm of a gap."""
FIRST_TIE = 0.1
"""The width of ties before any was met."""
_NEW_GAP = 1.0
"""The gap around a rank that is met."""


def begun(n_ranks: int) -> npt.NDArray[np.float64]:
    """The thresholds by which all ranks are equally likely where the score is 0.

    >>> begun(2), begun(1)
    (array([0.]), array([], dtype=float64))
    """
    below = np.arange(1, n_ranks) / n_ranks
    odds = np.empty(n_ranks - 1)
    logarithms(below / (1.0 - below), odds)
    return odds


def split(old: list[float], place: int) -> tuple[list[float], int]:
    """Thresholds with a new rank above the lowest `place` ranks, and which of their gaps is new.

    It splits the threshold between its neighbours, from which others move away, or lies one gap beyond the outermost.

    >>> split([0.0, 2.0], 1), split([0.0, 2.0], 0)
    (([-0.5, 0.5, 2.5], 0), ([-1.0, 0.0, 2.0], 0))
    """
    if place == 0:
        return [old[0] - _NEW_GAP, *old], 0
    if place == len(old) + 1:
        return [*old, old[-1] + _NEW_GAP], len(old) - 1
    half = _NEW_GAP / 2
    below, above = old[:place], old[place - 1 :]
    return [each - half for each in below] + [each + half for each in above], place - 1


def check_order(thresholds: npt.NDArray[np.float64], middle: int) -> None:
    """Raise a `ValueError` if they are not in order, or none of them is the middle one."""
    if not 0 <= middle < max(1, len(thresholds)):
        raise ValueError(f"the middle threshold is {middle}")
    if not (np.diff(thresholds) >= 0).all():
        raise ValueError("the thresholds are not in order")
