"""The edges of a belief: how thresholds follow from them, and their part of the covariance.

An event's score less a threshold is a linear function of weights and edges, once gaps are taken as straight functions of
their logarithms: its slopes are the event itself and, for edges, minus what `write_slopes` writes. With `f = U'u` for such slopes
`u`, covariances are sums of `D f f'`; `f` of edge j is what the event has of its column's border (`crossed`) less what the slopes have
of its corner.

Cost: O(k**2) for k ranks, and O(k d) where there is a border.
"""

from stream_rank.engine.functions import exponential
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import fused, load, spread, store
from stream_rank.engine.ordinal.state import (
    FORGETTING,
    MIDDLE,
    MIDDLE_EDGE,
    TIE,
    TIE_EDGE,
)
from stream_rank.engine.pointers import get, put, shift

__all__ = [
    *("absorb_edges", "covariance", "fade_edges", "mix", "move_edges", "no_slopes"),
    *("pass_gap", "write_products", "write_slopes"),
]

_LEAST_GAP, _LARGEST_GAP = 1e-6, 1e100


@inlined
def no_slopes(belief, slopes):
    """Nothing depends on any edge."""
    for i in range(belief.edges):
        put(slopes, i, 0.0)


@inlined
def write_slopes(belief, threshold, slopes):
    """How a threshold moves with each edge: with the middle one as it does, with a gap's logarithm by the gap."""
    no_slopes(belief, slopes)
    put(slopes, MIDDLE_EDGE, 1.0)
    middle, thresholds = get(belief.sizes, MIDDLE), belief.thresholds
    for i in range(middle, threshold):
        put(slopes, get(belief.gaps, i), get(thresholds, i + 1) - get(thresholds, i))
    for i in range(threshold, middle):
        put(slopes, get(belief.gaps, i), get(thresholds, i) - get(thresholds, i + 1))


@inlined
def write_products(belief, slopes, products):
    """`U'u`, in the columns of edges, of an event's score less a threshold with these slopes."""
    for j in range(belief.edges):
        column, found = shift(belief.corner, j * belief.room), get(belief.crossed, j)
        for i in range(j + 1):
            found -= get(column, i) * get(slopes, i)
        put(products, j, found)


@inlined
def pass_gap(belief, gap, products):
    """Make the products of the score less a threshold those of the score less the next one, `gap` being what is between. Cost: O(k)."""
    edge, thresholds = get(belief.gaps, gap), belief.thresholds
    width = get(thresholds, gap + 1) - get(thresholds, gap)
    for j in range(edge, belief.edges):
        put(products, j, get(products, j) - get(belief.corner, j * belief.room + edge) * width)


@inlined
def mix(belief, share, first, second, mixed):
    """`share` times the first and the rest of the second."""
    for j in range(belief.edges):
        put(mixed, j, share * get(first, j) + (1.0 - share) * get(second, j))


@inlined
def covariance(belief, first, second):
    """The edges' part of the covariance of two functions, by their products."""
    found = 0.0
    for j in range(belief.edges):
        found += get(belief.edge_diagonal, j) * get(first, j) * get(second, j)
    return found


@inlined
def absorb_edges(belief, gain, width, products, so_far):
    """Add an observation's information, as `factors.absorb` does, in the columns of edges.

    `so_far` is its noise and the variance in the columns before. Leave the rows of edges of `P u` in `edge_gain`, complete
    those of weights in `gain`, which are `width` many, and return the variance and noise of all columns.
    """
    edge_gain = belief.edge_gain
    for i in range(belief.edges):
        put(edge_gain, i, 0.0)
    for j in range(belief.edges):
        product = get(products, j)
        if product != 0.0:
            diagonal = get(belief.edge_diagonal, j)
            move, factor = diagonal * product, -product / so_far
            after = so_far + move * product
            if after > so_far:
                put(belief.edge_diagonal, j, diagonal * (so_far / after))
            column, moves, factors = shift(belief.border, j * width), spread(move), spread(factor)
            for i in range(0, width, 8):
                old, before = load(column, i, 0.0), load(gain, i, 0.0)
                store(column, i, fused(factors, before, old))
                store(gain, i, fused(moves, old, before))
            column = shift(belief.corner, j * belief.room)
            for i in range(j):
                old = get(column, i)
                put(column, i, old + factor * get(edge_gain, i))
                put(edge_gain, i, get(edge_gain, i) + move * old)
            put(edge_gain, j, move)
            so_far = after
    return so_far


@inlined
def _stretched(gap, move):
    """A gap whose logarithm moves: it grows as the straight function says, and shrinks towards 0."""
    new = gap * (1.0 + move) if move > 0.0 else gap * exponential(move)
    return min(max(new, _LEAST_GAP), _LARGEST_GAP)


@inlined
def move_edges(belief):
    """Move thresholds, and the width of ties, by what `moved` says of every edge."""
    sizes, thresholds, moved = belief.sizes, belief.thresholds, belief.moved
    put(belief.parameters, TIE, _stretched(get(belief.parameters, TIE), get(moved, TIE_EDGE)))
    middle, n_thresholds = get(sizes, MIDDLE), belief.n_ranks - 1
    if n_thresholds < 1:
        return
    start, moved_by = get(thresholds, middle), get(moved, MIDDLE_EDGE)
    put(thresholds, middle, start + moved_by)
    old, by = start, moved_by
    for i in range(middle + 1, n_thresholds):
        here = get(thresholds, i)
        # as a difference, so that what does not move keeps its bits
        by += _stretched(here - old, get(moved, get(belief.gaps, i - 1))) - (here - old)
        put(thresholds, i, max(here + by, get(thresholds, i - 1)))
        old = here
    old, by = start, moved_by
    for back in range(middle):
        i = middle - 1 - back
        here = get(thresholds, i)
        by -= _stretched(old - here, get(moved, get(belief.gaps, i))) - (old - here)
        put(thresholds, i, min(here + by, get(thresholds, i + 1)))
        old = here


@inlined
def fade_edges(belief):
    """Let every edge become less certain, at most as uncertain as at the beginning."""
    forgetting = get(belief.parameters, FORGETTING)
    for j in range(belief.edges):
        grown = get(belief.edge_diagonal, j) / forgetting
        put(belief.edge_diagonal, j, min(grown, get(belief.edge_priors, j)))
