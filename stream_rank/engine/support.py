"""A bounded set of vectors, and the kernel values between them and an event.

Cost: O(used * d) for the values of an event.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import as_element, get, pointer, put, shift
from stream_rank.engine.sums import dot, lanes_of, squares_sparse

__all__ = [
    "BUDGET",
    "FEATURES",
    "GAUSSIAN",
    "KIND",
    "POLYNOMIAL",
    "USED",
    "Support",
    "evaluate",
    "kernel_value",
    "lay_out",
    "open_support",
    "support_layout",
    "take_slot",
    "write_vector",
]

# Sections of the support set's memory.
SIZES, PARAMETERS, VECTORS, SQUARES, ROW, OTHER_ROW = range(6)

# Entries of SIZES: the kernel, the most vectors, how many there are, the next to be dropped, and the features.
KIND, BUDGET, USED, OLDEST, FEATURES = range(5)

POLYNOMIAL, GAUSSIAN = range(2)
"""`(x.z + offset) ** degree`, and `exp(-|x - z|**2 / (2 * width**2))`."""


def support_layout(budget: int, n_features: int, dtype: str) -> Layout:
    """The sections of a support set of at most `budget` vectors."""
    features, slots = padded(n_features, dtype), padded(budget, dtype)
    return {
        "sizes": Section(
            "int64",
            (5,),
            own=(KIND, BUDGET, FEATURES),
            below={USED: budget + 1, OLDEST: budget},
        ),
        "parameters": Section("float64", (2,)),
        "vectors": Section(dtype, (budget, features)),
        "squares": Section("float64", (budget,)),
        "row": Section(dtype, (slots,), scratch=True),
        "other_row": Section(dtype, (slots,), scratch=True),
    }


class Support(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    parameters: Any
    vectors: Any
    squares: Any
    row: Any
    other_row: Any
    features: Any


@inlined
def open_support(block):
    """The support set inside a memory block."""
    sizes = pointer(block, place(block, SIZES), np.int64)
    return Support(
        sizes,
        pointer(block, place(block, PARAMETERS), np.float64),
        pointer(block, place(block, VECTORS), block.dtype),
        pointer(block, place(block, SQUARES), np.float64),
        pointer(block, place(block, ROW), block.dtype),
        pointer(block, place(block, OTHER_ROW), block.dtype),
        get(sizes, FEATURES),
    )


@inlined
def power(base, exponent):
    """`base ** exponent` by squaring, so that every machine gives the same bits."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@inlined
def kernel_value(support, product, square, other_square):
    """The kernel of two vectors, from their products with each other and themselves."""
    first, second = get(support.parameters, 0), get(support.parameters, 1)
    if get(support.sizes, KIND) == POLYNOMIAL:
        return power(product + first, np.int64(second))
    distance = max(0.0, square + other_square - 2.0 * product)
    return np.exp(-distance / (2.0 * first * first))


@inlined
def evaluate(support, values, square, row):
    """Write the kernel values of an event and every support vector; return how many, in whole vectors.

    `square` is the event's product with itself, which counts features that no support vector has.
    """
    used = get(support.sizes, USED)
    for i in range(used):
        vector = shift(support.vectors, i * support.features)
        product = np.float64(dot(vector, values, support.features))
        value = kernel_value(support, product, square, get(support.squares, i))
        put(row, i, as_element(row, value))
    lanes = lanes_of(get(row, 0))
    return (used + lanes - 1) & -lanes


@inlined
def take_slot(support):
    """A free slot, and whether it was freed by dropping the oldest vector."""
    slot = get(support.sizes, USED)
    if slot < get(support.sizes, BUDGET):
        put(support.sizes, USED, slot + 1)
        return slot, False
    slot = get(support.sizes, OLDEST)
    put(support.sizes, OLDEST, (slot + 1) % get(support.sizes, BUDGET))
    return slot, True


@inlined
def write_vector(support, slot, values, square):
    """Put an event into a slot."""
    for i in range(support.features):
        put(support.vectors, slot * support.features + i, get(values, i))
    put(support.squares, slot, square)


@compiled
def lay_out(starts, slots, values, rows, squares):
    """Write sparse events out as rows, and the product of each with itself; slots beyond the row count in it only."""
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, values.dtype)
    n_slots = rows.shape[1]
    rows[:] = 0
    for i in range(squares.size):
        count = starts[i + 1] - starts[i]
        squares[i] = squares_sparse(shift(where, starts[i]), shift(what, starts[i]), count)
        for at in range(starts[i], starts[i + 1]):
            if slots[at] < n_slots:
                rows[i, slots[at]] = values[at]
