"""Where an event's constraints take a member: the nearest rule that keeps to all of them, or a relaxed one.

An event of label `y` asks of weights `w` and thresholds `c`, with `l(r) = 1` for `r < y` and -1 for the others,

    l(r) * (w.x - c(r)) >= 1    for every r.

All rules here are projections of `keep` times a member onto that, with a slack of `1 / weight - variance` times the square of each
multiplier. Weights move along one direction, on which the event has the product `size` with `x`, thresholds each along its own. So all
depends on one number, the event's new score `u`: with `b(r) = keep * c(r) + l(r)`, where threshold `r` would have the score,

    u = keep * score + size * weight * sum(b(r) - u)    over r < y with u < b(r), and r >= y with u > b(r).

The right side falls as `u` rises and is linear between neighbouring `b(r)`, which ascend on each side of the label as thresholds do. So
a walk over them finds the exact solution. The thresholds become

    min(keep * c(r), (1 - step) * keep * c(r) + step * (u - 1))    for r < y,
    max(keep * c(r), (1 - step) * keep * c(r) + step * (u + 1))    for the others,

with `step = weight * variance`, both of which rise with `c(r)`, also as they are rounded; the first are at most `keep * c(r)`, the others
at least. So thresholds stay in order.

Cost: O(k).
"""

import numpy as np

from stream_rank.engine.jit import called, inlined
from stream_rank.engine.pointers import get, put

__all__ = ["keep_of", "move_thresholds", "new_score"]

_MOST_TURNS = 64

LONGEST = 1e9
"""No relaxed maximum margin is longer: its square is at most three times the number of its events and ranks."""


@inlined
def new_score(thresholds, n_ranks, label, target, keep, pull):
    """The event's new score, which thresholds ask for it, and by how much altogether, for a weight of 1.

    Those ask from `low` on below the label, and below `high` above it. `target` is `keep * score`, and `pull` is `size * weight`.
    """
    low, high, total = 1, label, 0.0
    for r in range(1, label):
        total += keep * get(thresholds, r) + 1.0
    for _ in range(n_ranks - 1):
        score = (target + pull * total) / (1.0 + pull * (high - low))
        # where the next threshold is content, or begins to ask
        below = keep * get(thresholds, low) + 1.0 if low < label else np.inf
        above = keep * get(thresholds, high) - 1.0 if high < n_ranks else np.inf
        if score <= min(below, above):
            break
        if below <= above:
            total -= below
            low += 1
        else:
            total += above
            high += 1
    share = 1.0 / (1.0 + pull * (high - low))
    # the sum of b(r) - u, of which u is not subtracted: it may be as good as b(r)
    return share * (target + pull * total), low, high, share * (total - (high - low) * target)


@inlined
def move_thresholds(thresholds, means, n_ranks, label, keep, step, score, rounds):
    """Move the thresholds of a member, and `rounds` times as far their means."""
    for r in range(1, n_ranks):
        before = get(thresholds, r)
        kept = keep * before
        if r < label:
            after = min(kept, (1.0 - step) * kept + step * (score - 1.0))
        else:
            after = max(kept, (1.0 - step) * kept + step * (score + 1.0))
        put(thresholds, r, after)
        put(means, r, get(means, r) + rounds * (after - before))


@inlined
def _keep_by(thresholds, label, score, size, weight, square, asking):
    """What `keep_of` is, if it is these thresholds that ask."""
    low, high = asking
    count, total, sides, squares, products = np.float64(high - low), 0.0, 0.0, 0.0, 0.0
    for r in range(low, high):
        edge, side = get(thresholds, r), 1.0 if r < label else -1.0
        total += edge
        sides += side
        squares += edge * edge
        products += side * edge
    pull = size * weight
    share = 1.0 / (1.0 + pull * count)
    # new score and move are `slope * keep + start` and `more * keep + first`
    slope, start = share * (score + pull * total), share * (pull * sides)
    more, first = weight * share * (total - count * score), weight * share * sides
    left = square - first * score + weight * (products - start * total)
    return left / (square + more * score - weight * (squares - slope * total))


@called
def keep_of(thresholds, n_ranks, label, score, size, weight, square):
    """How much of a member the relaxed maximum margin keeps: of all rules that are as far along it and content the event, the shortest.

    `square` is the member's own, slack included. The product of the member with the projection of `keep` times it rises with `keep`, by
    linear pieces, and has to be `square`: Newton's method, within the bracket that is known.
    """
    least, most, keep = 0.0, LONGEST / np.sqrt(square), 1.0
    _, low, high, _ = new_score(thresholds, n_ranks, label, score, 1.0, size * weight)
    for _ in range(_MOST_TURNS):
        root = _keep_by(thresholds, label, score, size, weight, square, (low, high))
        inside = least <= root <= most
        wanted = root if inside else 0.5 * ((least if root < keep else most) + keep)
        if wanted > keep:
            least = keep
        else:
            most = keep
        keep, before = wanted, (low, high)
        _, low, high, _ = new_score(thresholds, n_ranks, label, keep * score, keep, size * weight)
        if inside and before == (low, high):
            break
    return keep
