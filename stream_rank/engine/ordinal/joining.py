"""A belief about what two streams told, from the beliefs after each.

Gaussian beliefs of independent observations multiply: precisions add up, less the prior, which is in both. The precision of another belief
with the covariance `U D U'` is a sum over the rows `v` of `U**-1`, each with the weight `1 / D`: so what another learned
comes as observations of `v`, one for every weight and edge, with the noise `D` and the value that `v` has at its mean. Then its
prior is taken off, as observations of the single parameters with negative noise, which leave less than the prior in no direction.

Edges are the same in both, but for the threshold in the middle where labels were discovered in another order: a threshold is
a straight function of another and of the logarithms of the gaps between, at the gaps that the other belief has.

Cost: O((d + k)**3), some 7 of them.
"""

import numpy as np

from stream_rank.engine.factors import absorb, diagonal_place, products
from stream_rank.engine.functions import exponential, logarithm
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import spread, store
from stream_rank.engine.ordinal.edges import absorb_edges, write_products
from stream_rank.engine.ordinal.state import (
    EVENTS,
    FEATURES,
    MIDDLE,
    MIDDLE_EDGE,
    SQUARES,
    TIE,
    TIE_EDGE,
    open_belief,
)
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled, dot

__all__ = ["join"]

_LEAST_GAP, _LARGEST_GAP = 1e-6, 1e100


@inlined
def _clear(values, count):
    for i in range(count):
        put(values, i, 0.0)


@inlined
def _write_point(belief, thresholds, tie, point):
    """Thresholds and the width of ties as edges of a belief."""
    _clear(point, belief.edges)
    put(point, TIE_EDGE, logarithm(tie))
    if belief.n_ranks > 1:
        put(point, MIDDLE_EDGE, get(thresholds, get(belief.sizes, MIDDLE)))
    for i in range(belief.n_ranks - 2):
        gap = max(get(thresholds, i + 1) - get(thresholds, i), _LEAST_GAP)
        put(point, get(belief.gaps, i), logarithm(gap))


@inlined
def _read_point(belief, point):
    """Thresholds and the width of ties from edges."""
    put(belief.parameters, TIE, _width(get(point, TIE_EDGE)))
    if belief.n_ranks < 2:
        return
    middle, thresholds = get(belief.sizes, MIDDLE), belief.thresholds
    put(thresholds, middle, get(point, MIDDLE_EDGE))
    for i in range(middle, belief.n_ranks - 2):
        width = _width(get(point, get(belief.gaps, i)))
        put(thresholds, i + 1, get(thresholds, i) + width)
    for back in range(middle):
        i = middle - 1 - back
        width = _width(get(point, get(belief.gaps, i)))
        put(thresholds, i, get(thresholds, i + 1) - width)


@inlined
def _width(log):
    return min(max(exponential(log), _LEAST_GAP), _LARGEST_GAP)


@inlined
def _translate(belief, other, edges, found):
    """A function of another belief's edges as one of this belief's."""
    _clear(found, belief.edges)
    put(found, TIE_EDGE, get(edges, TIE_EDGE))
    by_middle = get(edges, MIDDLE_EDGE)
    put(found, MIDDLE_EDGE, by_middle)
    here, there = get(belief.sizes, MIDDLE), get(other.sizes, MIDDLE)
    for i in range(belief.n_ranks - 2):
        slope = get(edges, get(other.gaps, i))
        gap = get(other.thresholds, i + 1) - get(other.thresholds, i)
        if here <= i < there:
            slope += by_middle * gap
        if there <= i < here:
            slope -= by_middle * gap
        put(found, get(belief.gaps, i), slope)


@inlined
def _value(belief, edges, point):
    found = 0.0
    for j in range(belief.edges):
        found += get(edges, j) * get(point, j)
    return found


@inlined
def _observe(belief, values, edges, point, target, noise):
    """Learn that a function of weights and edges has a value, seen with this noise; `edges` are left with the other sign."""
    n_features, gain = get(belief.sizes, FEATURES), belief.covariance.gain
    expected = dot(belief.weights, values, belief.width) + _value(belief, edges, point)
    products(belief.covariance, values, n_features)
    for j in range(belief.edges):
        crossed = dot(shift(belief.border, j * belief.width), values, belief.width)
        put(belief.crossed, j, crossed)
        put(edges, j, -get(edges, j))
    write_products(belief, edges, belief.mixed)
    so_far = absorb(belief.covariance, noise, n_features)
    total = absorb_edges(belief, gain, belief.width, belief.mixed, so_far)
    step = (target - expected) / total
    add_scaled(belief.weights, step, gain, belief.width)
    for j in range(belief.edges):
        put(point, j, get(point, j) + step * get(belief.edge_gain, j))


@inlined
def _invert_row(belief, row, values, edges):
    """Write the row of the inverse of `U` that begins with a weight, or, after these, with an edge."""
    features = get(belief.sizes, FEATURES)
    _clear(values, belief.width)
    _clear(edges, belief.edges)
    if row < features:
        put(values, row, 1.0)
    for j in range(row + 1, features):
        column = shift(belief.covariance.triangle, diagonal_place(j) - j)
        put(values, j, -dot(column, values, 8 * ((j >> 3) + 1)))
    for j in range(max(0, row - features), belief.edges):
        if j == row - features:
            put(edges, j, 1.0)
            continue
        found = dot(shift(belief.border, j * belief.width), values, belief.width)
        column = shift(belief.corner, j * belief.room)
        for i in range(j):
            found += get(column, i) * get(edges, i)
        put(edges, j, -found)


@inlined
def _begin(belief, other, places):
    """Begin the weights of features that only the other met, as it did."""
    for j in range(get(other.sizes, FEATURES)):
        prior = get(other.priors, j)
        if prior > 0.0 and get(belief.priors, places[j]) == 0.0:
            put(belief.priors, places[j], prior)
            put(belief.covariance.diagonal, places[j], prior)


@compiled
def join(block, other_block, places, prior_thresholds, prior_tie, scratch):
    """Believe what another believes too: its features of the full covariance are at `places`. `scratch` has a row for edges and three more."""
    belief, other = open_belief(block), open_belief(other_block)
    point, theirs, prior, edges = (
        pointer(scratch[0], 0, np.float64),
        pointer(scratch[1], 0, np.float64),
        pointer(scratch[2], 0, np.float64),
        pointer(scratch[3], 0, np.float64),
    )
    features, row = get(other.sizes, FEATURES), other.slope_above
    _begin(belief, other, places)
    _write_point(belief, belief.thresholds, get(belief.parameters, TIE), point)
    _write_point(belief, other.thresholds, get(other.parameters, TIE), theirs)
    _write_point(belief, pointer(prior_thresholds, 0, np.float64), prior_tie, prior)
    for k in range(features + other.edges):
        noise = (
            get(other.covariance.diagonal, k)
            if k < features
            else get(other.edge_diagonal, k - features)
        )
        if noise == 0.0:
            continue  # nothing was ever to be known of it
        _invert_row(other, k, other.head, row)
        for i in range(0, belief.width, 8):
            store(belief.head, i, spread(0.0))
        for j in range(min(k, features), features):
            put(belief.head, places[j], get(other.head, j))
        _translate(belief, other, row, edges)
        target = dot(other.weights, other.head, other.width) + _value(belief, edges, theirs)
        _observe(belief, belief.head, edges, point, target, noise)
    for k in range(features + other.edges):
        variance = get(other.priors, k) if k < features else get(other.edge_priors, k - features)
        if variance == 0.0:
            continue
        for i in range(0, belief.width, 8):
            store(belief.head, i, spread(0.0))
        _clear(row, other.edges)
        if k < features:
            put(belief.head, places[k], 1.0)
        else:
            put(row, k - features, 1.0)
        _translate(belief, other, row, edges)
        _observe(belief, belief.head, edges, point, _value(belief, edges, prior), -variance)
    _read_point(belief, point)
    put(belief.sizes, EVENTS, get(belief.sizes, EVENTS) + get(other.sizes, EVENTS))
    squares = get(belief.parameters, SQUARES) + get(other.parameters, SQUARES)
    put(belief.parameters, SQUARES, squares)
