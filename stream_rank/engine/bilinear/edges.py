"""Thresholds in order: one in the middle, and the logarithms of the gaps from it on, each with a mean and a variance.

How far a threshold is above an event's score is a function of the middle, of gaps and of the user's scale, which stretches all thresholds:
`exp(scale) * threshold - score`. What is written of it are its slopes by the logarithm of every gap.

Cost: O(gaps between the middle and the rank); O(ranks) for all of them.
"""

from stream_rank.engine.bilinear.state import MIDDLE, MIDDLE_VARIANCE
from stream_rank.engine.exponentials import exponential_soon
from stream_rank.engine.jit import inlined
from stream_rank.engine.pointers import get, put

__all__ = ["gap_width", "move_thresholds", "stretched", "write_edge_variances", "write_gap_slopes"]

_LEAST_GAP, _LARGEST_GAP = 1e-6, 1e100
_LEAST_LEFT = 1e-6


@inlined
def gap_width(belief, gap):
    """The width of a gap."""
    return get(belief.thresholds, gap + 1) - get(belief.thresholds, gap)


@inlined
def _gap_spread(belief, gap):
    width = gap_width(belief, gap)
    return width * width * get(belief.gap_variances, gap)


@inlined
def write_edge_variances(belief, found):
    """The variance of every threshold, summed from the middle on."""
    middle, first = get(belief.sizes, MIDDLE), get(belief.parameters, MIDDLE_VARIANCE)
    put(found, middle, first)
    total = first
    for gap in range(middle, belief.n_ranks - 2):
        total += _gap_spread(belief, gap)
        put(found, gap + 1, total)
    total = first
    for back in range(middle):
        total += _gap_spread(belief, middle - 1 - back)
        put(found, middle - 1 - back, total)


@inlined
def write_gap_slopes(belief, threshold, stretch):
    """How a threshold, stretched, moves with each gap's logarithm; the variance that comes from the gaps."""
    middle, found = get(belief.sizes, MIDDLE), 0.0
    for gap in range(belief.n_ranks - 2):
        put(belief.by_place, gap, 0.0)
        put(belief.by_gap, gap, 0.0)
    sign = 1.0 if threshold > middle else -1.0
    for gap in range(min(middle, threshold), max(middle, threshold)):
        slope = sign * stretch * gap_width(belief, gap)
        put(belief.by_place, gap, slope)
        found += slope * slope * get(belief.gap_variances, gap)
    return found


@inlined
def stretched(gap, move):
    """A gap whose logarithm moves: it grows as the straight function says, and shrinks towards 0."""
    new = gap * (1.0 + move) if move > 0.0 else gap * exponential_soon(move)
    return min(max(new, _LEAST_GAP), _LARGEST_GAP)


@inlined
def move_thresholds(belief, middle_by, along, wider, told):
    """Move the middle by `middle_by` and the gaps by the likelihood's slopes; `told` is what variances shrink by."""
    middle, thresholds = get(belief.sizes, MIDDLE), belief.thresholds
    start, by = get(thresholds, middle), middle_by
    put(thresholds, middle, start + middle_by)
    old = start
    for gap in range(middle, belief.n_ranks - 2):
        here = get(thresholds, gap + 1)
        # as a difference, so that what does not move keeps its bits
        by += _changed(belief, gap, here - old, along, wider, told)
        put(thresholds, gap + 1, max(here + by, get(thresholds, gap)))
        old = here
    old, by = start, middle_by
    for back in range(middle):
        gap = middle - 1 - back
        here = get(thresholds, gap)
        by -= _changed(belief, gap, old - here, along, wider, told)
        put(thresholds, gap, min(here + by, get(thresholds, gap + 1)))
        old = here


@inlined
def _changed(belief, gap, width, along, wider, told):
    """By how much a gap grows; it becomes more certain."""
    one, two = get(belief.by_place, gap), get(belief.by_gap, gap)
    if one == 0.0 and two == 0.0:
        return 0.0
    variance = get(belief.gap_variances, gap)
    move = variance * (one * along + two * wider)
    seen = one * one * told[0] + 2.0 * one * two * told[1] + two * two * told[2]
    put(belief.gap_variances, gap, variance * max(1.0 - variance * seen, _LEAST_LEFT))
    return stretched(width, move) - width
