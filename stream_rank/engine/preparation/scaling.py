"""Running means and deviations of features, and events expressed in them.

Events are entries (slot and value), one event after the other; some are learned, all are transformed. A learned event counts
before it is transformed, as River's pipelines do it.

Reference: B. P. Welford. Note on a method for calculating corrected sums of squares and products. Technometrics 1962.
"""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, root, spread, store, where
from stream_rank.engine.pointers import get, pointer, prefetch, put

__all__ = [
    *("CONSTANT", "COUNT", "FACTOR", "MEAN", "MORE", "SPREAD", "SUMS", "WORDS"),
    *("scale", "scale_dense"),
]

COUNT, MEAN, SPREAD, FACTOR, MORE = 0, 1, 2, 3, 4
"""Rows of the state: how often a feature came, its mean, its sum of squared distances from it, one over its deviation (0 of a
constant), and whether it was ever anything but 0 or 1."""
SUMS = 5
WORDS = 8
"""Rows that there is room for: those of a feature fill a line of the processor's cache where they stand together."""

CONSTANT = 1e-290
"""A feature with a sum of squares up to this has not varied: one over it would be no number."""
_NEAR, _AHEAD = 16384, 8
"""The numbers of so many features are in the second cache anyway; those of others are asked for so many rows before their event."""


@inlined
def _known(sums, at, step):
    """What a value is scaled by, of a feature whose numbers are `step` words apart from each other, from `at` on."""
    return get(sums, at + MEAN * step), get(sums, at + FACTOR * step), get(sums, at + MORE * step)


@inlined
def _learned(sums, at, step, value):
    """The same, after a value was counted."""
    mean, factor, more = _known(sums, at, step)
    count, squares = get(sums, at + COUNT * step) + 1.0, get(sums, at + SPREAD * step)
    distance = value - mean
    put(sums, at + COUNT * step, count)
    indicates = (value == 0.0) | (value == 1.0)
    if indicates & (distance == 0.0) & (squares <= CONSTANT):
        return mean, factor, more  # what follows would divide twice, and change nothing
    mean += distance / count
    squares += distance * (value - mean)
    factor = np.sqrt(count / squares) if squares > CONSTANT else 0.0
    more = more if indicates else 1.0
    put(sums, at + MEAN * step, mean)
    put(sums, at + SPREAD * step, squares)
    put(sums, at + FACTOR * step, factor)
    put(sums, at + MORE * step, more)
    return mean, factor, more


@inlined
def _scaled(known, value, width):
    """A value in deviations from the mean; that of an indicator as it is, and 0 as long as nothing varied."""
    mean, factor, more = known
    if ((value == 0.0) | (value == 1.0)) & (more == 0.0):
        return value
    return min(max((value - mean) * factor, -width), width)


@compiled
def scale(starts, slots, values, learning, state, width, results):
    """Scale events, each after it was learned if it is; slots beyond the state are of features that never came.

    Cost: some two nanoseconds an entry. The numbers of a feature stand together in the state; where it is larger than a
    cache, they are asked for some rows ahead.
    """
    sums, room, count = pointer(state, 0, np.float64), state.shape[1], len(learning)
    where, given = pointer(slots, 0, np.int64), pointer(values, 0, np.float64)
    found = pointer(results, 0, np.float64)
    for event in range(count):
        ahead, learned = event + _AHEAD, learning[event]
        # an event that is learned after it was predicted has been asked for
        if room > _NEAR and ahead < count and not (learning[ahead] and not learning[ahead - 1]):
            for entry in range(starts[ahead], starts[ahead + 1]):
                prefetch(sums, WORDS * get(where, entry))
        for entry in range(starts[event], starts[event + 1]):
            slot, value = get(where, entry), get(given, entry)
            if slot >= room:
                put(found, entry, value if (value == 0.0) | (value == 1.0) else 0.0)
                continue
            at = WORDS * slot
            known = _learned(sums, at, 1, value) if learned else _known(sums, at, 1)
            put(found, entry, _scaled(known, value, width))


@inlined
def _is(vector, number):
    """The lanes that are a number."""
    return (vector <= number) & (number <= vector)


@inlined
def _learn_eight(state, room, j, values):
    """`_learned` of eight features, which learns and says nothing."""
    zero, one = spread(0.0), spread(1.0)
    count = load(state, j + COUNT * room, 0.0) + one
    mean = load(state, j + MEAN * room, 0.0)
    distance = values - mean
    mean = mean + distance / count
    squares = load(state, j + SPREAD * room, 0.0) + distance * (values - mean)
    store(state, j + COUNT * room, count)
    store(state, j + MEAN * room, mean)
    store(state, j + SPREAD * room, squares)
    factor = root(where(spread(CONSTANT) < squares, count / squares, zero))
    store(state, j + FACTOR * room, factor)
    more = where(_is(values, zero), load(state, j + MORE * room, 0.0), one)
    more = where(_is(values, one), load(state, j + MORE * room, 0.0), more)
    store(state, j + MORE * room, more)


@inlined
def _scaled_eight(state, room, j, values, width):
    """`_scaled` of eight features."""
    zero, one, most, least = spread(0.0), spread(1.0), spread(width), spread(-width)
    found = (values - load(state, j + MEAN * room, 0.0)) * load(state, j + FACTOR * room, 0.0)
    found = where(found < least, least, found)
    found = where(most < found, most, found)
    plain = load(state, j + MORE * room, 0.0) < one
    found = where(_is(values, zero) & plain, values, found)
    return where(_is(values, one) & plain, values, found)


@compiled
def scale_dense(matrix, at, learning, state, width, results):
    """The same for events that are rows of a matrix, eight features at a time.

    Cost: some half a nanosecond a number. The rows of the state stand one behind the other.
    """
    room, columns = state.shape[1], matrix.shape[1]
    whole = columns & -8
    sums = pointer(state, 0, np.float64)
    numbers, prepared = pointer(matrix, 0, np.float64), pointer(results, 0, np.float64)
    for event in range(len(learning)):
        row, result = at[event] * columns, event * columns
        if learning[event]:
            for j in range(0, whole, 8):
                _learn_eight(sums, room, j, load(numbers, row + j, 0.0))
            for j in range(whole, columns):
                _learned(sums, j, room, get(numbers, row + j))
        for j in range(0, whole, 8):
            found = _scaled_eight(sums, room, j, load(numbers, row + j, 0.0), width)
            store(prepared, result + j, found)
        for j in range(whole, columns):
            known = _known(sums, j, room)
            put(prepared, result + j, _scaled(known, get(numbers, row + j), width))
