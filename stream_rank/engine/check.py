"""Finding numbers that must not enter."""

import numpy as np

from stream_rank.engine.jit import compiled
from stream_rank.engine.lanes import load, store
from stream_rank.engine.pointers import get, pointer, put

__all__ = ["bound_of", "copy_columns", "first_beyond", "round_rows", "take_rows"]

# in single precision what rounds to 1e9, so that a number may be checked before or after it is rounded
_BOUNDS = {"float64": 1e130, "float32": 1e9 + 32}


def bound_of(dtype: str) -> float:
    """The largest feature that is let in.

    A weight is a sum of features, each a few ranks times over, and stops growing when a feature is
    less than its last digit; a score is a sum of products of weights and features, for lasting
    averages times the number of rounds. With these bounds and fewer than 2**30 features
    none of them can overflow, however many events come, and no event needs a check of the weights.
    """
    return _BOUNDS[dtype]


@compiled
def first_beyond(values, bound):
    """The place, counted along rows, of the first number that is beyond `bound` or not a number; or -1."""
    n_rows, n_columns = values.shape
    for row in range(n_rows):
        good = True
        for column in range(n_columns):
            good &= abs(values[row, column]) <= bound
        if not good:
            for column in range(n_columns):
                if not abs(values[row, column]) <= bound:
                    return row * n_columns + column
    return -1


@compiled
def copy_columns(values, slots, rows):
    """Copy every column of `values` to its slot in `rows`, or nowhere if the slot is -1."""
    for row in range(len(values)):
        for column in range(values.shape[1]):
            if slots[column] >= 0:
                rows[row, slots[column]] = values[row, column]


@compiled
def take_rows(matrix, at, rows):
    """Copy some rows of a matrix to the beginning of wider rows, eight numbers at a time."""
    columns, room = matrix.shape[1], rows.shape[1]
    source, copy = pointer(matrix, 0, np.float64), pointer(rows, 0, np.float64)
    whole = columns & -8
    for row in range(len(at)):
        begin, place = at[row] * columns, row * room
        for column in range(0, whole, 8):
            store(copy, place + column, load(source, begin + column, 0.0))
        for column in range(whole, columns):
            put(copy, place + column, get(source, begin + column))


@compiled
def round_rows(matrix, at, rows):
    """The same into rows of another precision."""
    for row in range(len(at)):
        for column in range(matrix.shape[1]):
            rows[row, column] = matrix[at[row], column]
