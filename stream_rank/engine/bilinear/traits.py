"""Loops over traits: eight at a time, and the rest one by one, with the same bits.

A line of traits is as long as they are many, the views of an event are whole vectors, which end in zeros. What was written as a vector is
read as one at once; number by number, it would first have to leave for the cache.

Cost: O(traits), some three instructions each where there are eight.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from stream_rank.engine.bilinear.state import FIRST_TRAIT
from stream_rank.engine.jit import inlined, intrinsic
from stream_rank.engine.lanes import load, spread, store, total, where
from stream_rank.engine.pointers import as_element, get, put, shift

__all__ = ["add_spreads", "add_traits", "clear", "move_traits", "spread_of_product", "squares"]

_LEAST_LEFT = 1e-6
"""No event leaves less of a variance."""


@intrinsic
def _keep(typingctx: Any, base: Any, index: Any, vector: Any) -> Any:
    """`store`, rounded to the type that is kept there."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kept, place = args[2], builder.gep(args[0], [args[1]])
        if base.dtype is not vector.element:
            kept = builder.fptrunc(kept, ir.VectorType(ir.FloatType(), vector.lanes))
        place = builder.bitcast(place, kept.type.as_pointer())
        builder.store(kept, place, align=base.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(base, types.int64, vector), build


@inlined
def clear(belief, view):
    """Begin a view."""
    for i in range(0, 4 * belief.wide, 8):
        store(view.user, i, spread(0.0))


@inlined
def add_traits(belief, numbers, value, traits, spreads):
    """Add a feature's traits to those of a view, and their variances to its."""
    means, square = shift(numbers, FIRST_TRAIT), value * value
    variances, whole = shift(means, belief.n_traits), belief.n_traits & -8
    for t in range(0, whole, 8):
        store(traits, t, load(traits, t, 0.0) + spread(value) * load(means, t, 0.0))
        store(spreads, t, load(spreads, t, 0.0) + spread(square) * load(variances, t, 0.0))
    for t in range(whole, belief.n_traits):
        put(traits, t, get(traits, t) + value * np.float64(get(means, t)))
        put(spreads, t, get(spreads, t) + square * np.float64(get(variances, t)))


@inlined
def add_spreads(belief, variance, spreads):
    """Add the variance of what never came to those of a view."""
    for t in range(belief.n_traits):
        put(spreads, t, get(spreads, t) + variance)


@inlined
def spread_of_product(belief, view):
    """The variance of the product of both sides' traits, to the first order."""
    found = spread(0.0)
    for t in range(0, belief.wide, 8):
        one, two = load(view.user, t, 0.0), load(view.item, t, 0.0)
        of_item, of_user = load(view.item_spread, t, 0.0), load(view.user_spread, t, 0.0)
        found = found + (one * one * of_item + two * two * of_user)
    return total(found)


@inlined
def move_traits(belief, numbers, value, towards, other, away, along, told):
    """Move traits whose slopes are `value` times one vector less `other` times another, and shrink their variances."""
    means = shift(numbers, FIRST_TRAIT)
    variances, whole = shift(means, belief.n_traits), belief.n_traits & -8
    for t in range(0, whole, 8):
        slope = spread(value) * load(towards, t, 0.0) - spread(other) * load(away, t, 0.0)
        before = load(variances, t, 0.0)
        left = spread(1.0) - before * slope * slope * spread(told)
        left = where(left < spread(_LEAST_LEFT), spread(_LEAST_LEFT), left)
        _keep(means, t, load(means, t, 0.0) + before * slope * spread(along))
        _keep(variances, t, before * left)
    for t in range(whole, belief.n_traits):
        slope = value * get(towards, t) - other * get(away, t)
        before = np.float64(get(variances, t))
        moved = np.float64(get(means, t)) + before * slope * along
        left = before * max(1.0 - before * slope * slope * told, _LEAST_LEFT)
        put(means, t, as_element(means, moved))
        put(variances, t, as_element(variances, left))


@inlined
def squares(belief, numbers):
    """The sum of the traits' mean squares: of `mean**2 + variance`."""
    means = shift(numbers, FIRST_TRAIT)
    variances, whole = shift(means, belief.n_traits), belief.n_traits & -8
    found = spread(0.0)
    for t in range(0, whole, 8):
        mean = load(means, t, 0.0)
        found = found + (mean * mean + load(variances, t, 0.0))
    rest = 0.0
    for t in range(whole, belief.n_traits):
        mean = np.float64(get(means, t))
        rest += mean * mean + np.float64(get(variances, t))
    return total(found) + rest
