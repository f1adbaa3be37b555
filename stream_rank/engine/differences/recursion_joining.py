"""The exact minimiser of two streams together, from those of each.

What is minimised adds up: with `A = ridge * I + sum of u u'` of one stream and `A'` of the other, it is `A + A' - ridge * I`, and what
groups in both have between their means. The other's `A' = (U D U')**-1` is a sum over the rows `v` of `U**-1`, each with the
weight `1 / D`: so what another learned comes as d events `v`, seen with the noise `D`, whose labels `v.w'` its weights
meet exactly. Then the regularization that is there twice is taken off, as events `w(j) = 0` of negative weight, which
leave at least half of what is known in any direction.

Cost: O(d**3), some 7 d**3 operations, and O(d**2) for each group in both.
"""

import numpy as np

from stream_rank.engine.differences.centre import FEATURES, STRENGTH
from stream_rank.engine.differences.joining import add_counts, join_means
from stream_rank.engine.differences.recursion import absorb, open_state
from stream_rank.engine.factors import diagonal_place
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import spread, store
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import dot

__all__ = ["join"]


@inlined
def _clear(values, count):
    for i in range(0, count, 8):
        store(values, i, spread(0.0))


@inlined
def _invert_row(triangle, row, features, values):
    """Write a row of the inverse of a triangle with ones on its diagonal; what is not written must be 0."""
    put(values, row, 1.0)
    for j in range(row + 1, features):
        column = shift(triangle, diagonal_place(j) - j)
        put(values, j, -dot(column, values, 8 * ((j >> 3) + 1)))


@compiled
def join(block, other_block, places, rows, scratch):
    """Learn what another learned: its features are at `places`, its groups in `rows`; `scratch` has room for its slots."""
    state, other = open_state(block), open_state(other_block)
    means, values = state.centre, pointer(scratch, 0, np.float64)
    features = get(other.centre.sizes, FEATURES)
    for k in range(features):
        _clear(values, other.centre.slots)
        _invert_row(other.covariance.triangle, k, features, values)
        _clear(means.centred, means.slots)
        for j in range(k, features):
            put(means.centred, places[j], get(values, j))
        target = dot(other.centre.weights, values, other.centre.slots)
        absorb(state, means.centred, target, get(other.covariance.diagonal, k))
    for row in range(len(rows)):
        if rows[row] >= 0:
            weight, distance = join_means(means, other.centre, places, rows[row], row)
            if row > 0 and weight > 0.0:  # row 0 is of all events, and only for the constant
                absorb(state, means.centred, distance, 1.0 / weight)
    for k in range(features):
        _clear(means.centred, means.slots)
        put(means.centred, places[k], 1.0)
        absorb(state, means.centred, 0.0, -1.0 / get(means.parameters, STRENGTH))
    add_counts(means, other.centre)
