"""How sure a rule is of a preference: from by how much an item is ahead to a probability, calibrated on-line.

With the lead g of the first of two items, in units of the root mean square of leads so far, Davidson's model says

    P(first) : P(tie) : P(second) = e**h : nu : e**-h    with h = scale * g / 2.

After every pair `scale` and `nu` move by a step of Fisher scoring on the likelihood of its outcome, whose information is
summed with weights that fade: slowly enough for a precise estimate, and quickly enough for a rule that is still
learning. `nu` is 0 until the first tie. Pairs are symmetric, so it makes no difference that the preferred item is the first.

Cost: O(1), an exponential and a square root a pair.

Reference: R. R. Davidson. On extending the Bradley-Terry model to accommodate ties in paired comparison experiments.
Journal of the American Statistical Association 65, 1970.
"""

from typing import Any

import numpy as np

from stream_rank.engine.functions import exponential
from stream_rank.engine.jit import compiled, inlined

__all__ = [
    *("ENTRIES", "FIRST", "PAIRS", "SCALE_INFORMATION", "SECOND", "TIE", "TIES"),
    *("calibrate", "expect", "new_odds"),
]

# Entries of the state.
PAIRS, TIES, MEAN_SQUARE, SCALE, SCALE_INFORMATION, NU, NU_INFORMATION = range(7)
ENTRIES = 7

FIRST, TIE, SECOND = range(3)
"""Columns of probabilities."""

_KEPT = 1.0 - 1.0 / 2_000
"""What is left of the information after a pair: an estimate from 2,000 pairs costs a likelihood of 1/4,000 a pair."""
_PRIOR = 4.0
"""The information in the first scale, 1: that of some twenty pairs."""
_FARTHEST = 8.0
"""A lead of more than so many times the usual one counts as that."""
_LARGEST = 1e150
"""A larger lead, whose square is no number, is left out of the calibration."""


def new_odds() -> Any:
    """The state before the first pair."""
    odds = np.zeros(ENTRIES)
    odds[SCALE], odds[SCALE_INFORMATION] = 1.0, _PRIOR
    return odds


@inlined
def _relative(odds, lead):
    """A lead in units of the usual one."""
    if odds[MEAN_SQUARE] == 0.0 or np.isnan(lead):
        return 0.0
    return min(max(lead / np.sqrt(odds[MEAN_SQUARE]), -_FARTHEST), _FARTHEST)


@inlined
def _outcomes(odds, relative):
    """The probabilities that the first is preferred, neither, and the second."""
    first = exponential(0.5 * odds[SCALE] * relative)
    second = 1.0 / first
    total = first + odds[NU] + second
    return first / total, odds[NU] / total, second / total


@inlined
def _learn(odds, seen, lead, relative, tied, first, tie, second):
    """Step towards what happened; `seen` counts the pairs that calibrate."""
    if abs(lead) <= _LARGEST:
        share = max(1.0 / seen, 1.0 - _KEPT)
        odds[MEAN_SQUARE] += share * (lead * lead - odds[MEAN_SQUARE])
    surplus = first - second
    half = 0.5 * relative
    information = half * half * (first + second - surplus * surplus)
    odds[SCALE_INFORMATION] = _KEPT * odds[SCALE_INFORMATION] + information
    # where no pair is in doubt information fades, and one error would decide all
    step = half * ((0.0 if tied else 1.0) - surplus) / max(1.0, odds[SCALE_INFORMATION])
    odds[SCALE] = max(0.0, odds[SCALE] + step)
    if odds[TIES] > 0.0:
        odds[NU_INFORMATION] = _KEPT * odds[NU_INFORMATION] + tie * (1.0 - tie)
        step = ((1.0 if tied else 0.0) - tie) / max(1.0, odds[NU_INFORMATION])
        odds[NU] *= 1.0 + max(step, -0.5)
    elif tied:  # as many as one among all pairs so far
        odds[NU], odds[NU_INFORMATION] = 2.0 / seen, 1.0
    odds[TIES] += 1.0 if tied else 0.0


@compiled
def calibrate(odds, leads, magnitudes, proba, every):
    """Learn the outcomes of pairs whose first item was preferred by a magnitude, 0 for a tie; of every so many, one.

    `proba`, unless it is empty, gets what was expected of each pair before it was learned.
    """
    for i in range(leads.size):
        lead = leads[i]
        relative = _relative(odds, lead)
        first, tie, second = _outcomes(odds, relative)
        if proba.size > 0:
            proba[i, FIRST], proba[i, TIE], proba[i, SECOND] = first, tie, second
        odds[PAIRS] += 1.0
        seen = np.ceil(odds[PAIRS] / every)
        if lead == lead and ((odds[PAIRS] - 1.0) % every == 0.0):
            _learn(odds, seen, lead, relative, magnitudes[i] == 0.0, first, tie, second)


@compiled
def expect(odds, leads, proba):
    """The probabilities of pairs by their leads."""
    for i in range(leads.size):
        first, tie, second = _outcomes(odds, _relative(odds, leads[i]))
        proba[i, FIRST], proba[i, TIE], proba[i, SECOND] = first, tie, second
