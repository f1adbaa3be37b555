"""Sums of products of NumPy's arrays, in the engine's order of sums.

NumPy hands such sums to a library that chooses its loops, and so the last bits, by the processor. Whatever is
kept, predicted or printed is summed here instead.

Cost: O(numbers), about as long as NumPy takes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.jit import compiled
from stream_rank.engine.pointers import pointer, shift
from stream_rank.engine.sums import dot_within

__all__ = ["combined", "mean", "product", "products"]

_Array = npt.NDArray[Any]


@compiled
def _products(rows, values, result):
    first, other = pointer(rows, 0, np.float64), pointer(values, 0, np.float64)
    stride = rows.shape[1] if len(values) > 1 else 0
    for i in range(result.size):
        result[i] = dot_within(
            shift(first, i * rows.shape[1]), shift(other, i * stride), rows.shape[1]
        )


@compiled
def _combined(factors, rows, result):
    for i in range(factors.size):
        for j in range(result.size):
            result[j] += factors[i] * rows[i, j]


def products(rows: npt.ArrayLike, values: npt.ArrayLike) -> _Array:
    """The sum of each row's products with the values: one number for a column, or a matrix like the rows."""
    these, those = (np.ascontiguousarray(each, np.float64) for each in (rows, values))
    those = np.atleast_2d(those)
    if those.shape not in (these.shape, (1, these.shape[1])):
        raise ValueError(f"rows of {these.shape} and values of {those.shape}")
    result = np.empty(len(these))
    _products(these, those, result)
    return result


def product(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """The sum of the products of two vectors' numbers."""
    return float(products(np.atleast_2d(left), right)[0])


def mean(values: npt.ArrayLike) -> float:
    """The mean of a vector's numbers, of which there are some."""
    numbers = np.asarray(values, np.float64)
    return product(numbers, np.ones(len(numbers))) / len(numbers)


def combined(factors: npt.ArrayLike, rows: npt.ArrayLike) -> _Array:
    """The sum of the rows, each times its factor, the first row first."""
    matrix = np.ascontiguousarray(rows, np.float64)
    numbers = np.ascontiguousarray(factors, np.float64)
    if numbers.shape != (len(matrix),):
        raise ValueError(f"rows of {matrix.shape} and {numbers.shape} factors")
    result = np.zeros(matrix.shape[1])
    _combined(numbers, matrix, result)
    return result
