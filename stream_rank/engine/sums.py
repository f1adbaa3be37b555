"""The one order in which numbers are summed.

A rank is a step function of a score, so a score must not depend on how it was
computed. Every score of the engine is summed in one order: slot `i` belongs to
lane `i mod 2V`, lanes are summed by ascending slot, and then the upper half of the lanes
is added to the lower half until one number is left. `V` is what 64 bytes hold:
8 numbers of double precision, 16 of single precision. A missing feature adds a zero,
which changes nothing; so dense and sparse events, alone or in batches, give the
same bits. Nothing is fused or reassociated, so every machine gives them too.

Cost: `dot`, `dot_within` and `add_scaled` are O(n), their sparse twins O(non-zeros).
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from stream_rank.engine.jit import inlined, intrinsic
from stream_rank.engine.lanes import WIDTH_BYTES, Vector, load, scalar, spread, store, total
from stream_rank.engine.pointers import get, put

__all__ = [
    "add_scaled",
    "add_scaled_sparse",
    "dot",
    "dot_sparse",
    "dot_within",
    "lanes_of",
    "squares_sparse",
    "zero_of",
]


@intrinsic
def zero_of(typingctx: Any, base: Any) -> Any:
    """The number 0 of the type that a pointer points to."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_constant(base.dtype, 0.0)

    return base.dtype(base), build


@intrinsic
def lanes_of(typingctx: Any, number: Any) -> Any:
    """How many lanes a vector of such numbers has."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_constant(types.int64, Vector(number).lanes)

    return types.int64(number), build


@intrinsic
def _lane_sums(typingctx: Any, number: Any) -> Any:
    """Room on the stack for two vectors of sums, set to zero."""
    result = types.CPointer(number)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.ArrayType(scalar(number), 2 * Vector(number).lanes)
        room = cgutils.alloca_once(builder, kind)
        room.align = WIDTH_BYTES
        builder.store(ir.Constant(kind, None), room)
        return builder.bitcast(room, context.get_value_type(result))

    return result(number), build


@intrinsic
def _total_of_lanes(typingctx: Any, sums: Any) -> Any:
    """`total` of two vectors of sums that were written number by number.

    They are read so too: a vector that was written in parts can only be read once all of them have left for the cache.
    """
    lanes = Vector(sums.dtype).lanes

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = [builder.gep(args[0], [ir.Constant(ir.IntType(64), i)]) for i in range(2 * lanes)]
        parts = [builder.load(place) for place in places]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [builder.fadd(parts[i], parts[half + i]) for i in range(half)]
        return parts[0]

    return sums.dtype(sums), build


@inlined
def dot(weights, values, count):
    """`sum(weights[i] * values[i] for i < count)` in the precision of `weights`."""
    zero = zero_of(weights)
    lanes = lanes_of(zero)
    even, odd = spread(zero), spread(zero)
    pairs = count & (-2 * lanes)
    for i in range(0, pairs, 2 * lanes):
        even = even + load(weights, i, zero) * load(values, i, zero)
        odd = odd + load(weights, i + lanes, zero) * load(values, i + lanes, zero)
    if pairs != count:
        even = even + load(weights, pairs, zero) * load(values, pairs, zero)
    return total(even + odd)


@inlined
def dot_within(weights, values, count):
    """`dot` of numbers that are not followed by zeros: nothing is read beyond `count`."""
    zero = zero_of(weights)
    lanes = lanes_of(zero)
    even, odd = spread(zero), spread(zero)
    pairs = count & (-2 * lanes)
    for i in range(0, pairs, 2 * lanes):
        even = even + load(weights, i, zero) * load(values, i, zero)
        odd = odd + load(weights, i + lanes, zero) * load(values, i + lanes, zero)
    sums = _lane_sums(zero)
    store(sums, 0, even)
    store(sums, lanes, odd)
    for i in range(pairs, count):
        put(sums, i - pairs, get(sums, i - pairs) + get(weights, i) * get(values, i))
    return total(load(sums, 0, zero) + load(sums, lanes, zero))


@inlined
def add_scaled(weights, factor, values, count):
    """`weights[i] += factor * values[i]` for `i < count`; `factor` has the type of the weights."""
    zero = zero_of(weights)
    factors = spread(factor)
    for i in range(0, count, lanes_of(zero)):
        store(weights, i, load(weights, i, zero) + factors * load(values, i, zero))


@inlined
def dot_sparse(weights, slots, values, count):
    """`dot` where only the `count` values at ascending `slots` are not zero."""
    zero = zero_of(weights)
    lanes = lanes_of(zero)
    sums = _lane_sums(zero)
    for i in range(count):
        slot = get(slots, i)
        lane = slot & (2 * lanes - 1)
        put(sums, lane, get(sums, lane) + get(weights, slot) * get(values, i))
    return _total_of_lanes(sums)


@inlined
def add_scaled_sparse(weights, factor, slots, values, count):
    """`add_scaled` where only the `count` values at `slots` are not zero."""
    for i in range(count):
        slot = get(slots, i)
        put(weights, slot, get(weights, slot) + factor * get(values, i))


@inlined
def squares_sparse(slots, values, count):
    """`dot` of an event with itself where only the `count` values at ascending `slots` are not zero."""
    zero = zero_of(values)
    lanes = lanes_of(zero)
    sums = _lane_sums(zero)
    for i in range(count):
        lane, value = get(slots, i) & (2 * lanes - 1), get(values, i)
        put(sums, lane, get(sums, lane) + value * value)
    return _total_of_lanes(sums)
