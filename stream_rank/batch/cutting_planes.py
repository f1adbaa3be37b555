"""Minimising a convex loss that can only be asked for its value and its slope."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.batch.hinge import HingeRisk
from stream_rank.batch.shares import share_out

__all__ = ["Minimum", "minimise"]

Array = npt.NDArray[Any]

_BISECTIONS = 30
"""Steps of a line search; a step halves what is left of the line."""
_STEP = 0.1
"""A cut is made so much of the way from the best rule to that of the model: between the two both matter."""
_PART = 0.01
"""How well the model is minimised: to such a part of the gap that was left."""
_STEPS = 100_000
_IDLE = 50
"""A cut that no model needed for so long is dropped."""


class Minimum(NamedTuple):
    """Weights, what they cost, by how much of it they may be above the least, and the passes over the data."""

    weights: Array
    cost: float
    gap: float
    passes: int


def minimise(X: Any, risk: HingeRisk, C: float, tolerance: float, max_passes: int) -> Minimum:
    """Minimise `|w|**2 / 2 + C * risk(X w)`, until the gap is at most `tolerance` of the cost.

    Each pass asks the risk for its slope at some rule, which is a plane below it; the model is the largest of the planes, and of 0. Its
    minimum is a quadratic programme of as many unknowns as planes; any shares of planes bound the cost from below, so the gap is
    true however well that is solved. Then a line search from the best rule so far to the model's (as in OCAS), whose steps
    need scores alone and not X.
    """
    m, n = X.shape
    best, best_scores = np.zeros(n), np.zeros(m)
    at, at_scores = best, best_scores
    slopes, heights, shares = np.zeros((1, n)), np.zeros(1), np.ones(1)  # the plane 0
    idle = np.zeros(1, int)
    cost = C * risk.at(best_scores).loss
    gap = cost
    for passes in range(1, max_passes + 1):
        found = risk.at(at_scores)
        slope = X.T @ found.slope
        slopes = np.vstack((slopes, slope))
        heights = np.append(heights, found.loss - slope @ at)
        shares = np.append(shares, 0.0)
        share_out(C * (slopes @ slopes.T), heights, shares, gap / C * _PART, _STEPS)
        idle = np.where(shares > 0, 0, np.append(idle, 0) + 1)
        model = -C * (shares @ slopes)
        bound = C * (shares @ heights) - model @ model / 2
        model_scores = X @ model
        best, best_scores, cost = _search(risk, C, best, best_scores, model, model_scores)
        gap = cost - bound
        if gap <= tolerance * cost:
            return Minimum(best, cost, gap, passes)
        at = (1 - _STEP) * best + _STEP * model
        at_scores = (1 - _STEP) * best_scores + _STEP * model_scores
        kept = idle < _IDLE
        kept[0] = True
        slopes, heights, shares, idle = slopes[kept], heights[kept], shares[kept], idle[kept]
    return Minimum(best, cost, gap, max_passes)


def _search(
    risk: HingeRisk, C: float, best: Array, scores: Array, model: Array, model_scores: Array
) -> tuple[Array, Array, float]:
    """The cheapest rule on the way from the best to the model's, and beyond, by bisection of the slope."""
    way, way_scores = model - best, model_scores - scores
    here, square = best @ way, way @ way

    def slope(k: float) -> float:
        return float(here + k * square + C * (risk.at(scores + k * way_scores).slope @ way_scores))

    low, high = 0.0, 1.0
    while slope(high) < 0 and high < 64:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        if high - low < 1e-6 * high:
            break
    k = low
    rule, rule_scores = best + k * way, scores + k * way_scores
    return rule, rule_scores, float(rule @ rule / 2 + C * risk.at(rule_scores).loss)
