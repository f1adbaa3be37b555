"""The difference of a pair: what the preferred item has more than the other.

It is formed in double precision and rounded once to the precision of the weights.

Cost: O(d), or O(non-zeros of both).
"""

from typing import Any

from numba.extending import overload

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import as_element, get, put

__all__ = ["rounded", "sparse_differences", "towards_even", "write_difference"]


def rounded(to: Any, values: Any, count: Any) -> Any:
    """A row of doubles in the precision of `to`: as it is, or rounded into `to`."""
    raise NotImplementedError("compiled code only")


@inlined
def _write(to, values, count):
    for i in range(count):
        put(to, i, as_element(to, get(values, i)))
    return to


@overload(rounded, inline="always")
def _rounded(to, values, count):
    if to.dtype is values.dtype:
        return lambda to, values, count: values
    return lambda to, values, count: _write(to, values, count)


@inlined
def towards_even(score, size):
    """The step along the difference of two items in a tie: to a score of 0, if that is at most 1 away.

    `size` is the product of the difference with itself.
    """
    if size == 0.0:
        return 0.0
    return -min(max(score / size, -1.0), 1.0)


@inlined
def write_difference(to, first, second, count):
    """Write what the first of two rows of doubles has more than the second."""
    for i in range(count):
        put(to, i, as_element(to, get(first, i) - get(second, i)))


@compiled
def sparse_differences(
    starts, slots, values, other_starts, other_slots, other_values, to_starts, to_slots, to_values
):
    """Write the differences of the rows of two CSR matrices with ascending slots; how many entries they have."""
    count = 0
    for row in range(len(starts) - 1):
        to_starts[row] = count
        at, end = starts[row], starts[row + 1]
        other, other_end = other_starts[row], other_starts[row + 1]
        while at < end or other < other_end:
            if other == other_end or (at < end and slots[at] < other_slots[other]):
                to_slots[count], to_values[count] = slots[at], values[at] - 0.0
                at += 1
            elif at == end or other_slots[other] < slots[at]:
                to_slots[count], to_values[count] = other_slots[other], 0.0 - other_values[other]
                other += 1
            else:
                to_slots[count], to_values[count] = slots[at], values[at] - other_values[other]
                at += 1
                other += 1
            count += 1
    to_starts[len(starts) - 1] = count
    return count
