"""Votes of a committee, whose members have weights by what they lost so far."""

import numpy as np

from stream_rank.engine.functions import exponential, logarithm
from stream_rank.engine.jit import compiled, inlined

__all__ = ["count_votes", "pool_pairs", "write_weights"]


@inlined
def _write(losses, events, weights):
    """Members' shares of the vote: `exp(-rate * loss)` with `rate = sqrt(8 ln(members) / events)`, to the sum of 1."""
    count, best = len(losses), losses[0]
    for i in range(1, count):
        best = min(best, losses[i])
    rate, total = np.sqrt(8.0 * logarithm(np.float64(count)) / (events + 1.0)), 0.0
    for i in range(count):
        weights[i] = exponential(-rate * (losses[i] - best))
        total += weights[i]
    for i in range(count):
        weights[i] /= total


@compiled
def write_weights(losses, events, weights):
    """The members' weights, after so many events with these sums of losses."""
    _write(losses, events, weights)


@inlined
def _median(pooled):
    """The lowest rank that, with those below, has more than half of the probability."""
    so_far, last = 0.0, len(pooled)
    for rank in range(last - 1):
        so_far += pooled[rank]
        if so_far > 0.5:
            return rank + 1
    return last


@compiled
def count_votes(losses, events, shares, ranks, labels, learning, weights, found, pooled):
    """Pool the members' opinions about events, one after the other, and charge each with what it lost where they are learned.

    `shares` has each member's probabilities for every event and `ranks` what it predicted; the median rank goes to `found` and
    the probabilities to `pooled`. Members lose their distance from the label, as a part of the largest one.
    Returns the number of events that were charged so far. Cost: O(members * ranks) an event, and 10 ns a member.
    """
    count, n_ranks = len(losses), shares.shape[2]
    furthest = max(1.0, n_ranks - 1.0)
    _write(losses, events, weights)
    for event in range(len(found)):
        for rank in range(n_ranks):
            pooled[event, rank] = 0.0
        for i in range(count):
            for rank in range(n_ranks):
                pooled[event, rank] += weights[i] * shares[i, event, rank]
        found[event] = _median(pooled[event])
        if learning[event]:
            for i in range(count):
                losses[i] += abs(ranks[i, event] - labels[event]) / furthest
            events += 1.0
            _write(losses, events, weights)
    return events


@compiled
def pool_pairs(losses, events, leads, shares, magnitudes, learning, weights, pooled):
    """Pool what members have of pairs: the probabilities that the first is preferred, that neither is, and that the other is.

    A member without an opinion, which is NaN, has no say, and is charged what the others are charged in the mean; what is charged is 1 for the
    wrong order, and a half for none. Returns the number of events that were charged so far.
    """
    count = len(losses)
    _write(losses, events, weights)
    for pair in range(len(pooled)):
        total, charged = 0.0, 0.0
        for outcome in range(3):
            pooled[pair, outcome] = 0.0
        for i in range(count):
            lead = leads[i, pair]
            if lead == lead:
                total += weights[i]
                charged += weights[i] * _charge(lead, magnitudes[pair])
                for outcome in range(3):
                    pooled[pair, outcome] += weights[i] * shares[i, pair, outcome]
        for outcome in range(3):
            pooled[pair, outcome] = pooled[pair, outcome] / total if total > 0.0 else np.nan
        if learning and total > 0.0:
            for i in range(count):
                lead = leads[i, pair]
                losses[i] += _charge(lead, magnitudes[pair]) if lead == lead else charged / total
            events += 1.0
            _write(losses, events, weights)
    return events


@inlined
def _charge(lead, magnitude):
    if magnitude == 0.0 or lead > 0.0:
        return 0.0
    return 0.5 if lead == 0.0 else 1.0
