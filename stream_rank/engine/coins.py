"""Coins that depend on nothing but their place.

Subscription `j` learns event `t` when its coin comes up heads. The coin is a function of (key, t, j)
alone, never of a generator's state: one event at a time or many, resumed or not, the same coins
fall, and a snapshot needs one integer.

A coin is heads if a uniform number of 64 bits is below the sampling rate. The coins of 64 members are
tossed together: 16 hashes, eight to a vector, give each its first 16 bits, and these nearly always tell. Only
where they equal the rate's first bits (once in 1,024 words) another hash gives the 48 that follow.
The hash is SplitMix64 (Steele, Lea and Flood, 2014): a counter, and a finaliser that mixes it.

Cost: O(members), about an eighth of a nanosecond each.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from stream_rank.engine.jit import inlined, intrinsic

__all__ = ["WORD", "chance", "draw", "toss", "word"]

WORD = 64
"""Members whose coins are tossed together and lie in one word."""

_GOLDEN = 0x9E3779B97F4A7C15
_OTHER = 0x8EBC6AF09C88C6E3
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, None))
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASHES = 16


def chance(sampling: float) -> int:
    """The sampling rate as a fraction of 2**64; 1.0 becomes the largest number, which `toss` knows."""
    return min(round(sampling * 2.0**64), 2**64 - 1)


def _finalise(builder: Any, state: Any) -> Any:
    """SplitMix64's finaliser, of a word or of a vector of words."""

    def constant(number: int) -> Any:
        many = isinstance(state.type, ir.VectorType)
        return ir.Constant(state.type, [number] * state.type.count if many else number)

    for distance, factor in _MIXERS:
        state = builder.xor(state, builder.lshr(state, constant(distance)))
        if factor is not None:
            state = builder.mul(state, constant(factor))
    return state


@intrinsic
def _mix(typingctx: Any, state: Any) -> Any:
    """A hash of a word."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _finalise(builder, args[0])

    return types.uint64(types.uint64), build


@intrinsic
def _compare(typingctx: Any, state: Any, rate: Any) -> Any:
    """The first 16 bits of 64 numbers against those of the rate: which are below, and which are equal."""
    word, half = ir.IntType(64), ir.VectorType(ir.IntType(16), 32)
    result = types.UniTuple(types.uint64, 2)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def everywhere(number: Any, kind: Any) -> Any:
            unset = ir.Constant(kind, ir.Undefined)
            first = builder.insert_element(unset, number, ir.Constant(ir.IntType(32), 0))
            pattern = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None)
            return builder.shuffle_vector(first, unset, pattern)

        eight = ir.VectorType(word, 8)
        start = everywhere(args[0], eight)
        limit = everywhere(
            builder.trunc(builder.lshr(args[1], ir.Constant(word, 48)), ir.IntType(16)), half
        )
        masks = [ir.Constant(word, 0)] * 2
        for first in range(0, _HASHES, 8):
            steps = [(first + i + 1) * _GOLDEN % 2**64 for i in range(8)]
            hashes = _finalise(builder, builder.add(start, ir.Constant(eight, steps)))
            numbers = builder.bitcast(hashes, half)
            for which, order in enumerate(("<", "==")):
                found = builder.bitcast(
                    builder.icmp_unsigned(order, numbers, limit), ir.IntType(32)
                )
                moved = builder.shl(builder.zext(found, word), ir.Constant(word, 4 * first))
                masks[which] = builder.or_(masks[which], moved)
        return context.make_tuple(builder, result, masks)

    return result(types.uint64, types.uint64), build


@inlined
def toss(key, event, first, rate):
    """The coins of members `first` to `first + 63` for an event: bit `i` is member `first + i`."""
    if rate == _ALL:
        return _ALL
    state = _mix(key + np.uint64(event) * np.uint64(_GOLDEN) + np.uint64(first) * np.uint64(_OTHER))
    heads, close = _compare(state, rate)
    if close != np.uint64(0):
        for i in range(WORD):
            if (close >> np.uint64(i)) & np.uint64(1):
                rest = _mix(state + np.uint64(_HASHES + 1 + i) * np.uint64(_GOLDEN))
                below = (rest >> np.uint64(16)) < (rate & np.uint64(0xFFFFFFFFFFFF))
                heads |= np.uint64(below) << np.uint64(i)
    return heads


@inlined
def word(key, event, place):
    """64 random bits, the same whenever the same is asked."""
    return _mix(key + np.uint64(event) * np.uint64(_GOLDEN) + np.uint64(place) * np.uint64(_OTHER))


@inlined
def draw(key, event, place, count):
    """A whole number below `count`, the same whenever the same is asked."""
    return np.int64(word(key, event, place) % np.uint64(count))
