"""Means of two streams in one, by group.

Of a group that is in both, with `n` and `n'` events and the means `m` and `m'`, the sum of squared distances from the common
mean is that of the one, that of the other, and `n n' / (n + n')` times the square of `m' - m`: one residual more,
without a constant, of that weight.

Cost: O(d) a group.

Reference: T. F. Chan, G. H. Golub and R. J. LeVeque. Updating formulae and a pairwise algorithm for computing sample variances. 1979.
"""

from stream_rank.engine.differences.centre import EVENTS, TOTAL
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import load, spread, store
from stream_rank.engine.pointers import get, put, shift

__all__ = ["add_counts", "join_means"]


@inlined
def join_means(state, other, places, row, other_row):
    """Join the events of a row of another stream; leave the distance of its mean in `centred`, return the weight and the label's distance.

    The other's features are at `places` here. Those that it does not know were 0 in all of its events.
    """
    count, more = get(state.counts, row), get(other.counts, other_row)
    mean = shift(state.means, row * state.slots)
    other_mean = shift(other.means, other_row * other.slots)
    for i in range(0, state.slots, 8):
        store(state.centred, i, spread(0.0) - load(mean, i, 0.0))
    for j in range(len(places)):
        put(state.centred, places[j], get(state.centred, places[j]) + get(other_mean, j))
    distance = get(other.label_means, other_row) - get(state.label_means, row)
    if more > 0.0:
        share = more / (count + more)
        for i in range(0, state.slots, 8):
            moved = load(mean, i, 0.0) + spread(share) * load(state.centred, i, 0.0)
            store(mean, i, moved)
        put(state.label_means, row, get(state.label_means, row) + share * distance)
        put(state.counts, row, count + more)
    return count * (more / max(count + more, 1.0)), distance


@inlined
def add_counts(state, other):
    """Count the events of another stream."""
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + get(other.sizes, EVENTS))
    put(state.parameters, TOTAL, get(state.parameters, TOTAL) + get(other.parameters, TOTAL))
