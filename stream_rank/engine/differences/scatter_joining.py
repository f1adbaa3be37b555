"""The sums of two streams together, from those of each. Cost: O(d**2), and as much for each group in both."""

from stream_rank.engine.differences.centre import FEATURES
from stream_rank.engine.differences.joining import add_counts, join_means
from stream_rank.engine.differences.scatter import absorb, open_state
from stream_rank.engine.factors import diagonal_place
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import get, put

__all__ = ["join"]


@inlined
def _add(triangle, row, column, more):
    at = diagonal_place(column) - column + row
    put(triangle, at, get(triangle, at) + more)


@compiled
def join(block, other_block, places, rows):
    """Add what another summed: its features are at `places`, its groups in `rows`."""
    state, other = open_state(block), open_state(other_block)
    for j in range(get(other.centre.sizes, FEATURES)):
        for i in range(j + 1):
            more = get(other.triangle, diagonal_place(j) - j + i)
            one, two = places[i], places[j]
            _add(state.triangle, min(one, two), max(one, two), more)
            if i < j and one >> 3 == two >> 3:  # columns of a block are of one length
                _add(state.triangle, max(one, two), min(one, two), more)
        put(state.products, places[j], get(state.products, places[j]) + get(other.products, j))
    for row in range(len(rows)):
        if rows[row] >= 0:
            weight, distance = join_means(state.centre, other.centre, places, rows[row], row)
            if row > 0 and weight > 0.0:  # row 0 is of all events, and only for the constant
                absorb(state, state.centre.centred, distance, weight, 1.0)
    add_counts(state.centre, other.centre)
