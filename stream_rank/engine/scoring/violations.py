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
def count_violations(scores, ranks, tree, below, above):
    """Count, for every event, the pairs within its group whose difference of scores is less than 1.

    `scores` ascend, `ranks` are those events' labels as 1, 2, ... `below` gets the number of events of lower rank that are not a
    margin behind, `above` that of higher rank that are not a margin ahead. `tree` is a Fenwick tree over ranks, one longer
    than their number. O(m log k).
    """
    m = len(scores)
    tree[:] = 0
    entered = m - 1
    for i in range(m - 1, -1, -1):
        while entered >= 0 and scores[i] - scores[entered] < 1.0:
            _add(tree, ranks[entered])
            entered -= 1
        below[i] = _up_to(tree, ranks[i] - 1)
    tree[:] = 0
    entered = 0
    for j in range(m):
        while entered < m and scores[entered] - scores[j] < 1.0:
            _add(tree, ranks[entered])
            entered += 1
        above[j] = entered - _up_to(tree, ranks[j])
