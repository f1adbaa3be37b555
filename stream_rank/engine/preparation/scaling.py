"""Running means and deviations of features, and events expressed in them.

Events are entries (slot and value), one event after the other; some are learned, all are transformed. A learned event counts
before it is transformed, as River's pipelines do it.

Reference: B. P. Welford. Note on a method for calculating corrected sums of squares and products. Technometrics 1962.
"""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, root, spread, store, where
from stream_rank.engine.pointers import get, pointer, put

__all__ = ["COUNT", "FACTOR", "MEAN", "MORE", "SPREAD", "SUMS", "WORDS", "scale", "scale_dense"]

COUNT, MEAN, SPREAD, FACTOR, MORE = 0, 1, 2, 3, 4
"""Rows of the state: how often a feature came, its mean, its sum of squared distances from it, one over its deviation (0 of a
constant), and whether it was ever anything but 0 or 1."""
SUMS = 5
WORDS = 8
"""Rows that there is room for: those of a feature fill a line of the processor's cache where they stand together."""

_CONSTANT = 1e-290
"""A feature with a sum of squares up to this has not varied: one over it would be no number."""


@inlined
def _learn(state, slot, value):
    """Count one value of a feature."""
    count = state[COUNT, slot] + 1.0
    distance = value - state[MEAN, slot]
    mean = state[MEAN, slot] + distance / count
    squares = state[SPREAD, slot] + distance * (value - mean)
    state[COUNT, slot], state[MEAN, slot], state[SPREAD, slot] = count, mean, squares
    state[FACTOR, slot] = np.sqrt(count / squares) if squares > _CONSTANT else 0.0
    if value != 0.0 and value != 1.0:
        state[MORE, slot] = 1.0


@inlined
def _scaled(state, slot, value, width):
    """A value in deviations from the mean; that of an indicator as it is, and 0 as long as nothing varied."""
    indicates = value == 0.0 or value == 1.0
    if slot >= state.shape[1]:
        return value if indicates else 0.0
    if indicates and state[MORE, slot] == 0.0:
        return value
    distance = (value - state[MEAN, slot]) * state[FACTOR, slot]
    return min(max(distance, -width), width)


@compiled
def scale(starts, slots, values, learning, state, width, results):
    """Scale events, each after it was learned if it is; slots beyond the state are of features that never came.

    Cost: some five nanoseconds an entry, if the numbers of a feature stand together in the state.
    """
    for event in range(len(learning)):
        if learning[event]:
            for entry in range(starts[event], starts[event + 1]):
                _learn(state, slots[entry], values[entry])
        for entry in range(starts[event], starts[event + 1]):
            results[entry] = _scaled(state, slots[entry], values[entry], width)


@inlined
def _is(vector, number):
    """The lanes that are a number."""
    return (vector <= number) & (number <= vector)


@inlined
def _learn_eight(state, room, j, values):
    """`_learn` of eight features."""
    zero, one = spread(0.0), spread(1.0)
    count = load(state, j + COUNT * room, 0.0) + one
    mean = load(state, j + MEAN * room, 0.0)
    distance = values - mean
    mean = mean + distance / count
    squares = load(state, j + SPREAD * room, 0.0) + distance * (values - mean)
    store(state, j + COUNT * room, count)
    store(state, j + MEAN * room, mean)
    store(state, j + SPREAD * room, squares)
    factor = root(where(spread(_CONSTANT) < squares, count / squares, zero))
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
                _learn(state, j, get(numbers, row + j))
        for j in range(0, whole, 8):
            found = _scaled_eight(sums, room, j, load(numbers, row + j, 0.0), width)
            store(prepared, result + j, found)
        for j in range(whole, columns):
            put(prepared, result + j, _scaled(state, j, get(numbers, row + j), width))
