"""Pairs that a margin of 1 does not part, counted without looking at pairs."""

from stream_rank.engine.jit import compiled

__all__ = ["count_violations"]


@compiled
def _add(tree, place):
    while place < len(tree):
        tree[place] += 1
        place += place & -place


@compiled
def _up_to(tree, place):
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@compiled
def count_violations(scores, ranks, bounds, tree, below, above):
    """Count, for every event, the pairs within its group whose difference of scores is less than 1.

    Events are sorted by groups, which begin and end at `bounds`, and by scores within; `ranks` are their labels as 1, 2, ... `below` gets
    the number of events of lower rank that are not a margin behind, `above` that of higher rank that are not a margin
    ahead. `tree` is a Fenwick tree over ranks, one longer than the most of them. O(m log k), and O(k) a group.
    """
    for group in range(len(bounds) - 1):
        start, end = bounds[group], bounds[group + 1]
        most = 0
        for i in range(start, end):
            most = max(most, ranks[i])
        some = tree[: most + 1]
        some[:] = 0
        entered = end - 1
        for i in range(end - 1, start - 1, -1):
            while entered >= start and scores[i] - scores[entered] < 1.0:
                _add(some, ranks[entered])
                entered -= 1
            below[i] = _up_to(some, ranks[i] - 1)
        some[:] = 0
        entered = start
        for j in range(start, end):
            while entered < end and scores[entered] - scores[j] < 1.0:
                _add(some, ranks[entered])
                entered += 1
            above[j] = entered - start - _up_to(some, ranks[j])
