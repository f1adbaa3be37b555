"""The running root mean square length of events, and events divided by it."""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, spread, store, where
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import dot_within, squares_sparse

__all__ = [
    "COUNT",
    "SQUARES",
    "SUMS",
    "divide",
    "factors_of",
    "factors_of_dense",
    "multiply_dense",
    "normalize",
    "normalize_dense",
]

COUNT, SQUARES = 0, 1
"""Entries of the state: how many events came, and the sum of their squared lengths."""
SUMS = 2

_GROUP = 8
_NOTHING = 1e-290
"""A sum of squares up to this is none: one over it would be no number."""
_LARGEST = 1e130
"""An event that is longer by orders of magnitude than all before it is cut off here, so that what comes after can square it."""


@inlined
def _factor(sums, square, learned):
    """What an event of this squared length is multiplied with, after it was counted if it is learned."""
    count, squares = get(sums, COUNT), get(sums, SQUARES)
    if learned:
        count, squares = count + 1.0, squares + square
        put(sums, COUNT, count)
        put(sums, SQUARES, squares)
    if squares > _NOTHING:
        return np.sqrt(count / squares)
    return 1.0 / np.sqrt(square) if square > _NOTHING else 0.0


@inlined
def _factor_of(starts, places, numbers, event, learned, sums):
    """One over the root mean square length so far, after an event was counted if it is learned."""
    begin, square = get(starts, event), 0.0
    if learned or get(sums, SQUARES) <= _NOTHING:
        count = get(starts, event + 1) - begin
        square = squares_sparse(shift(places, begin), shift(numbers, begin), count)
    return _factor(sums, square, learned)


@compiled
def factors_of(starts, slots, values, learning, state, factors):
    """One over the root mean square length so far for every event, after the event was counted if it is learned.

    Before any event had a length, it is that of the event itself. Cost: a nanosecond an entry.
    """
    places, numbers = pointer(slots, 0, np.int64), pointer(values, 0, np.float64)
    begins, sums = pointer(starts, 0, np.int64), pointer(state, 0, np.float64)
    for event in range(len(learning)):
        factors[event] = _factor_of(begins, places, numbers, event, learning[event], sums)


@inlined
def _divide(numbers, divided, begin, end, most, factor):
    """Numbers times a factor, eight at a time as long as that reaches no further than `most`, where what is behind is written later."""
    factors, least, largest = spread(factor), spread(-_LARGEST), spread(_LARGEST)
    while begin < end and begin + _GROUP <= most:
        found = load(numbers, begin, 0.0) * factors
        found = where(found < least, least, found)
        store(divided, begin, where(largest < found, largest, found))
        begin += _GROUP
    for entry in range(begin, end):
        put(divided, entry, min(max(get(numbers, entry) * factor, -_LARGEST), _LARGEST))


@compiled
def factors_of_dense(matrix, at, learning, state, factors):
    """The same for events that are rows of a matrix."""
    width, numbers = matrix.shape[1], pointer(matrix, 0, np.float64)
    sums = pointer(state, 0, np.float64)
    for event in range(len(learning)):
        row, square = shift(numbers, at[event] * width), 0.0
        if learning[event] or get(sums, SQUARES) <= _NOTHING:
            square = dot_within(row, row, width)
        factors[event] = _factor(sums, square, learning[event])


@compiled
def multiply_dense(matrix, at, factors, where, results):
    """Rows of a matrix times their factors, each column at the place that `where` says."""
    for event in range(len(factors)):
        for column in range(len(where)):
            found = matrix[at[event], column] * factors[event]
            results[event, where[column]] = min(max(found, -_LARGEST), _LARGEST)


@compiled
def normalize(starts, values, factors, results):
    """Events times their factors."""
    numbers, divided = pointer(values, 0, np.float64), pointer(results, 0, np.float64)
    for event in range(len(factors)):
        begin, end = starts[event], starts[event + 1]
        _divide(numbers, divided, begin, end, len(values), factors[event])


@compiled
def divide(starts, slots, values, learning, state, results):
    """Events times the factors that `factors_of` finds."""
    places, numbers = pointer(slots, 0, np.int64), pointer(values, 0, np.float64)
    begins, sums = pointer(starts, 0, np.int64), pointer(state, 0, np.float64)
    divided, most = pointer(results, 0, np.float64), len(values)
    for event in range(len(learning)):
        factor = _factor_of(begins, places, numbers, event, learning[event], sums)
        _divide(numbers, divided, get(begins, event), get(begins, event + 1), most, factor)


@compiled
def normalize_dense(matrix, at, learning, state, results):
    """Both for events that are rows of a matrix, eight features at a time."""
    width = matrix.shape[1]
    whole = width & -8
    numbers, divided = pointer(matrix, 0, np.float64), pointer(results, 0, np.float64)
    sums = pointer(state, 0, np.float64)
    least, most = spread(-_LARGEST), spread(_LARGEST)
    for event in range(len(learning)):
        row, result, square = at[event] * width, event * width, 0.0
        if learning[event] or get(sums, SQUARES) <= _NOTHING:
            square = dot_within(shift(numbers, row), shift(numbers, row), width)
        factor = _factor(sums, square, learning[event])
        factors = spread(factor)
        for j in range(0, whole, 8):
            found = load(numbers, row + j, 0.0) * factors
            found = where(found < least, least, found)
            store(divided, result + j, where(most < found, most, found))
        for j in range(whole, width):
            found_one = get(numbers, row + j) * factor
            put(divided, result + j, min(max(found_one, -_LARGEST), _LARGEST))
