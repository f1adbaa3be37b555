"""How probable it is that an event's label is at most each rank, what is uncertain about all parameters included.

A threshold, stretched as the user does, is `far` above the score in units of what the noise and the beliefs leave open, times the
sharpness of probabilities, which is learned apart: the label is at most its rank with the probability `1 / (1 + exp(-far))`.

Cost: O(ranks), eight thresholds at a time.
"""

from typing import Any, NamedTuple

from stream_rank.engine.bilinear.edges import write_edge_variances
from stream_rank.engine.bilinear.state import SHARPNESS, TOLD
from stream_rank.engine.bilinear.views import PI_EIGHTHS, score_of, variance_of_score
from stream_rank.engine.exponentials import exponential_soon, logistic_each
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import load, root, spread, store
from stream_rank.engine.pointers import get, put

__all__ = ["Judged", "forecast", "judge", "sharpen", "write_shares"]

_LEAST_SHARE = 1e-12
_MOST_SHARPNESS = 2.0


class Judged(NamedTuple):
    """An event's score with its variance, and by how much its user stretches thresholds."""

    score: Any
    variance: Any
    stretch: Any


@inlined
def judge(belief, view, seen):
    """What all that is believed of an event comes to."""
    return Judged(
        score_of(belief, view, seen),
        variance_of_score(belief, view, seen),
        exponential_soon(seen.scale),
    )


@inlined
def forecast(belief, seen, judged):
    """Write how far each threshold is above the score to `by_place`, and the probabilities of what is below it to `by_gap`."""
    sharpness = exponential_soon(get(belief.parameters, SHARPNESS))
    square = judged.stretch * judged.stretch
    write_edge_variances(belief, belief.by_place)
    # of the last eight thresholds some may be none
    for j in range(0, belief.n_ranks - 1, 8):
        threshold = spread(judged.stretch) * load(belief.thresholds, j, 0.0)
        whole = spread(judged.variance) + spread(square) * load(belief.by_place, j, 0.0)
        whole = whole + threshold * threshold * spread(seen.scale_variance)
        unsure = root(spread(1.0) + spread(PI_EIGHTHS) * whole)
        far = spread(sharpness) * (threshold - spread(judged.score)) / unsure
        store(belief.by_place, j, far)
        store(belief.by_gap, j, logistic_each(far))


@inlined
def write_shares(belief, shares):
    """The probability of every rank, after its `forecast`."""
    before = 0.0
    for j in range(belief.n_ranks - 1):
        up_to = max(before, get(belief.by_gap, j))
        put(shares, j, up_to - before)
        before = up_to
    put(shares, belief.n_ranks - 1, 1.0 - before)


@inlined
def sharpen(belief, rank):
    """Move the sharpness of probabilities towards what would have made this rank more likely, after its `forecast`.

    It is a step of the natural gradient.
    """
    one, two, upper, lower = 0.0, 0.0, 1.0, 0.0
    if rank < belief.n_ranks:
        upper = get(belief.by_gap, rank - 1)
        one = get(belief.by_place, rank - 1) * upper * (1.0 - upper)
    if rank > 1:
        lower = get(belief.by_gap, rank - 2)
        two = get(belief.by_place, rank - 2) * lower * (1.0 - lower)
    slope = (one - two) / max(upper - lower, _LEAST_SHARE)
    told = get(belief.parameters, TOLD) + slope * slope
    put(belief.parameters, TOLD, told)
    moved = get(belief.parameters, SHARPNESS) + slope / told
    put(belief.parameters, SHARPNESS, min(max(moved, -_MOST_SHARPNESS), _MOST_SHARPNESS))
