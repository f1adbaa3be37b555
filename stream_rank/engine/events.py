"""The forms in which an event's features reach the engine.

`Dense` is a row of numbers, one a slot. `Sparse` names the slots that are not zero, ascending.
`Expansion` is a row of kernel values, one a support vector; learning it sets one coefficient.
Loops are written once, against `inner` and `add`, and compiled for each form.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import load, spread, totals
from stream_rank.engine.pointers import get, put
from stream_rank.engine.sums import (
    add_scaled,
    add_scaled_sparse,
    dot,
    dot_sparse,
    squares_sparse,
    zero_of,
)

__all__ = ["Dense", "Expansion", "Sparse", "add", "bounded", "inner", "inner_eight", "squares"]


class Dense(NamedTuple):
    """`count` values, whole vectors of them."""

    values: Any
    count: Any


class Sparse(NamedTuple):
    """`count` values at ascending `slots`."""

    slots: Any
    values: Any
    count: Any


class Expansion(NamedTuple):
    """`count` kernel values, whole vectors of them, and the slot that this event would take."""

    values: Any
    count: Any
    slot: Any


def inner(weights: Any, event: Any) -> Any:
    """The inner product of weights and an event."""
    raise NotImplementedError("compiled code only")


def add(weights: Any, factor: Any, event: Any) -> Any:
    """Move the weights by `factor` times an event."""
    raise NotImplementedError("compiled code only")


@overload(inner, inline="always")
def _inner(weights, event):
    if event.instance_class is Sparse:
        return lambda weights, event: dot_sparse(weights, event.slots, event.values, event.count)
    return lambda weights, event: dot(weights, event.values, event.count)


@overload(add, inline="always")
def _add(weights, factor, event):
    if event.instance_class is Sparse:
        return lambda weights, factor, event: add_scaled_sparse(
            weights, factor, event.slots, event.values, event.count
        )
    if event.instance_class is Expansion:
        return lambda weights, factor, event: put(
            weights, event.slot, get(weights, event.slot) + factor
        )
    return lambda weights, factor, event: add_scaled(weights, factor, event.values, event.count)


def squares(event: Any) -> Any:
    """The inner product of an event with itself."""
    raise NotImplementedError("compiled code only")


@overload(squares, inline="always")
def _squares(event):
    if event.instance_class is Sparse:
        return lambda event: squares_sparse(event.slots, event.values, event.count)
    return lambda event: dot(event.values, event.values, event.count)


def inner_eight(weights: Any, stride: Any, rows: Any, event: Any) -> Any:
    """The inner products of eight rows of weights with a dense event of one vector."""
    raise NotImplementedError("compiled code only")


@overload(inner_eight, inline="always")
def _inner_eight(weights, stride, rows, event):
    if event.instance_class is not Dense:
        return lambda weights, stride, rows, event: spread(0.0)  # never asked for
    return lambda weights, stride, rows, event: totals(
        weights, stride, rows, load(event.values, 0, zero_of(weights))
    )


@inlined
def bounded(values, count, bound):
    """Whether all values are numbers of at most `bound` in size; NaN is not."""
    good = True
    for i in range(count):
        good &= abs(get(values, i)) <= bound
    return good
