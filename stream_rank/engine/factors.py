"""A positive matrix as `U D U'`, and what a rank-one term added to its inverse does to it.

`U` is triangular with ones on its diagonal, `D` diagonal. The factors never lose what a matrix of the same
precision would: positive by construction, as good as double the digits. An update goes through the
columns of `U` in order (Bierman's); here eight at a time, and before it all of `U'x` is found,
from the last column to the first, so that each pass begins with what the one before left in the nearest cache.

Columns come in blocks of 8 of one length, that of the longest in whole vectors: a
matrix that grows leaves what it holds where it is.

Products are fused with what they are added to: half of the instructions, and the same bits everywhere.

Cost: 3 d**2 operations an update, d**2 / 2 numbers of memory.

Reference: G. J. Bierman. Measurement updating using the U-D factorization. Automatica, 1976.
"""

from typing import Any, NamedTuple

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import (
    fused,
    load,
    moved_up,
    running,
    spread,
    store,
    total,
    total_each,
    where,
)
from stream_rank.engine.memory import Layout, Section
from stream_rank.engine.pointers import get, put, shift

__all__ = [
    *("Factors", "absorb", "block_start", "clear_feature", "diagonal_place", "factors_layout"),
    *("introduce", "marginalise", "products", "triangle_size", "update", "variance"),
]

_BLOCK = 8
"""Columns of one length: a vector of doubles."""


def triangle_size(n_slots: int) -> int:
    """How many numbers the columns of a matrix of `n_slots` rows, whole blocks, hold."""
    blocks = n_slots // _BLOCK
    return _BLOCK * _BLOCK // 2 * blocks * (blocks + 1)


def factors_layout(n_slots: int) -> Layout:
    """The sections for a matrix of `n_slots` rows, whole vectors."""
    return {
        "triangle": Section("float64", (triangle_size(n_slots),)),
        "diagonal": Section("float64", (n_slots,)),
        "gain": Section("float64", (n_slots,), scratch=True),
        "factors": Section("float64", (n_slots,), scratch=True),
        "moves": Section("float64", (n_slots,), scratch=True),
    }


class Factors(NamedTuple):
    """The sections as pointers."""

    triangle: Any
    diagonal: Any
    gain: Any
    factors: Any
    moves: Any


@inlined
def block_start(block):
    """Where a block of columns begins: those before it hold 8, 16, ... numbers in each of 8 columns."""
    return 32 * block * (block + 1)


@inlined
def diagonal_place(column):
    """Where a column's entry on the diagonal is."""
    block = column >> 3
    return block_start(block) + (column & 7) * 8 * (block + 1) + column


@compiled
def clear_feature(triangle, feature):
    """Set a feature's row and column of a triangle to 0. Cost: O(d)."""
    first = feature >> 3
    length = 8 * (first + 1)
    column = block_start(first) + (feature & 7) * length
    triangle[column : column + length] = 0.0
    size = len(triangle)
    block = first
    while block_start(block) < size:
        for other in range(8):
            triangle[block_start(block) + other * 8 * (block + 1) + feature] = 0.0
        block += 1


@inlined
def marginalise(state, feature):
    """Make what comes before a feature's column as uncertain without it as it was with it (Agee and Turner's update). Cost: O(d**2).

    A column says what the features before it have in common with its own. Its part of their covariance is given to theirs.
    """
    own = feature >> 3
    column = shift(state.triangle, block_start(own) + (feature & 7) * 8 * (own + 1))
    shared, weight = state.gain, get(state.diagonal, feature)
    for i in range(feature):
        put(shared, i, get(column, i))
    for back in range(feature):
        j = feature - 1 - back
        here, diagonal = get(shared, j), get(state.diagonal, j)
        grown = diagonal + weight * here * here
        if grown > diagonal:
            factor = here * weight / grown
            weight *= diagonal / grown
            put(state.diagonal, j, grown)
        else:
            factor = 0.0
        block = j >> 3
        column = shift(state.triangle, block_start(block) + (j & 7) * 8 * (block + 1))
        for i in range(j):
            rest = get(shared, i) - here * get(column, i)
            put(shared, i, rest)
            put(column, i, get(column, i) + factor * rest)


@inlined
def introduce(state, column, value):
    """Begin a column, which so far is that of `value * I`."""
    put(state.triangle, diagonal_place(column), 1.0)
    put(state.diagonal, column, value)


@inlined
def _products(columns, length, values, products):
    """The products of eight columns with the values."""
    a = spread(0.0)
    b = spread(0.0)
    c = spread(0.0)
    d = spread(0.0)
    e = spread(0.0)
    f = spread(0.0)
    g = spread(0.0)
    h = spread(0.0)
    for i in range(0, length, 8):
        x = load(values, i, 0.0)
        a = fused(load(columns, 0 * length + i, 0.0), x, a)
        b = fused(load(columns, 1 * length + i, 0.0), x, b)
        c = fused(load(columns, 2 * length + i, 0.0), x, c)
        d = fused(load(columns, 3 * length + i, 0.0), x, d)
        e = fused(load(columns, 4 * length + i, 0.0), x, e)
        f = fused(load(columns, 5 * length + i, 0.0), x, f)
        g = fused(load(columns, 6 * length + i, 0.0), x, g)
        h = fused(load(columns, 7 * length + i, 0.0), x, h)
    store(products, 0, total_each(a, b, c, d, e, f, g, h))


@inlined
def _move_columns(columns, length, gain, factors, moves):
    """Each column moves by its factor times the gain so far, which moves by `moves` times the old column."""
    factor_a, move_a = spread(get(factors, 0)), spread(get(moves, 0))
    factor_b, move_b = spread(get(factors, 1)), spread(get(moves, 1))
    factor_c, move_c = spread(get(factors, 2)), spread(get(moves, 2))
    factor_d, move_d = spread(get(factors, 3)), spread(get(moves, 3))
    factor_e, move_e = spread(get(factors, 4)), spread(get(moves, 4))
    factor_f, move_f = spread(get(factors, 5)), spread(get(moves, 5))
    factor_g, move_g = spread(get(factors, 6)), spread(get(moves, 6))
    factor_h, move_h = spread(get(factors, 7)), spread(get(moves, 7))
    for i in range(0, length, 8):
        so_far = load(gain, i, 0.0)
        old = load(columns, 0 * length + i, 0.0)
        store(columns, 0 * length + i, fused(factor_a, so_far, old))
        so_far = fused(move_a, old, so_far)
        old = load(columns, 1 * length + i, 0.0)
        store(columns, 1 * length + i, fused(factor_b, so_far, old))
        so_far = fused(move_b, old, so_far)
        old = load(columns, 2 * length + i, 0.0)
        store(columns, 2 * length + i, fused(factor_c, so_far, old))
        so_far = fused(move_c, old, so_far)
        old = load(columns, 3 * length + i, 0.0)
        store(columns, 3 * length + i, fused(factor_d, so_far, old))
        so_far = fused(move_d, old, so_far)
        old = load(columns, 4 * length + i, 0.0)
        store(columns, 4 * length + i, fused(factor_e, so_far, old))
        so_far = fused(move_e, old, so_far)
        old = load(columns, 5 * length + i, 0.0)
        store(columns, 5 * length + i, fused(factor_f, so_far, old))
        so_far = fused(move_f, old, so_far)
        old = load(columns, 6 * length + i, 0.0)
        store(columns, 6 * length + i, fused(factor_g, so_far, old))
        so_far = fused(move_g, old, so_far)
        old = load(columns, 7 * length + i, 0.0)
        store(columns, 7 * length + i, fused(factor_h, so_far, old))
        so_far = fused(move_h, old, so_far)
        store(gain, i, so_far)


@inlined
def _scale(state, j, so_far):
    """Make factors and moves of the products of eight columns, and shrink their diagonal; return the new total."""
    product, diagonal = load(state.factors, j, 0.0), load(state.diagonal, j, 0.0)
    move = diagonal * product
    terms = move * product
    sums, start = running(terms), spread(so_far)
    before, after = start + moved_up(sums), start + sums
    store(state.moves, j, move)
    store(state.factors, j, (spread(0.0) - product) / before)
    # not where nothing is added: there a rounded sum may differ from itself
    some = spread(0.0) < terms
    store(state.diagonal, j, where(some, diagonal * (before / after), diagonal))
    return so_far + total(terms)


@inlined
def products(state, values, n_features):
    """Leave `U'x`, the products of all columns with the values, in `factors`, and zeros in `gain`."""
    blocks = (n_features + 7) >> 3
    for k in range(blocks):
        block = blocks - 1 - k
        columns = shift(state.triangle, block_start(block))
        _products(columns, 8 * (block + 1), values, shift(state.factors, 8 * block))
        store(state.gain, 8 * block, spread(0.0))


@inlined
def variance(state, n_features):
    """`x' P x` of the values whose `products` were found."""
    sums = spread(0.0)
    for j in range(0, n_features, 8):
        product = load(state.factors, j, 0.0)
        sums = sums + load(state.diagonal, j, 0.0) * product * product
    return total(sums)


@inlined
def absorb(state, noise, n_features):
    """Add `x x' / noise` to the inverse of the matrix, for values whose `products` were found; as `update` does."""
    blocks = (n_features + 7) >> 3
    so_far = noise
    for block in range(blocks):
        so_far = _scale(state, 8 * block, so_far)
    for block in range(blocks):
        columns = shift(state.triangle, block_start(block))
        factors, moves = shift(state.factors, 8 * block), shift(state.moves, 8 * block)
        _move_columns(columns, 8 * (block + 1), state.gain, factors, moves)
    return so_far


@inlined
def update(state, values, noise, n_features):
    """Add `x x' / noise` to the inverse of the matrix `P`.

    Leave `P x` in `gain` (of the old `P`), and return `noise + x' P x`.
    """
    products(state, values, n_features)
    return absorb(state, noise, n_features)
