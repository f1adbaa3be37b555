"""How the averaged rule follows the members' moves, and the features that came later than others.

Where a rule is averaged over rounds, the rounds before a feature came would count as many zeros. So every feature
that was in none of the first ten events has a clock of its own: after the round of its first move, 1, and one more for
every later round that it is in. Its weight is averaged over these rounds; `lag` is what the average `a` is ahead of
the weight `w`. A round that moves the weight by `v`, the n-th of its clock, makes of

    a' = a + (w + v - a) / n    the difference    a' - (w + v) = (a - w - v) * (n - 1) / n.

A feature that is in a few rounds is averaged over those, and not over however long its weight happened to
rest between them. The features of the first events, in dense streams all, are averaged over all rounds.

Cost: O(non-zeros) an event, once any feature came later; before, and where none does, nothing unless weights move.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from stream_rank.engine.events import Dense, Sparse, add
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import but_not, count, load, spread, store
from stream_rank.engine.perceptron.state import (
    AVERAGED,
    EVENTS,
    GROUP,
    LASTING,
    PRESENT,
)
from stream_rank.engine.pointers import get, put

__all__ = ["average"]

_FIRST = -1.0
"""The clock of a feature of the first events."""

_BEGINNING = 10
"""So many events make the beginning: a value of a dense event may be 0 by chance, and behind a scaler all of the first are."""


@inlined
def _attend(state, slot, value, moved):
    """Let the average of one feature that is in this round follow its weight."""
    clock = get(state.clocks, slot)
    if get(state.sizes, EVENTS) < _BEGINNING:
        clock = _FIRST
        put(state.clocks, slot, clock)
    if clock < 0.0:
        if moved != 0.0:
            move = np.float64(get(state.sizes, EVENTS)) * moved
            put(state.mean, slot, get(state.mean, slot) + move * value)
    elif clock > 0.0 or moved != 0.0:
        put(state.clocks, slot, clock + 1.0)
        put(state.late, 0, get(state.late, 0) + (clock == 0.0))
        put(state.lag, slot, (get(state.lag, slot) - moved * value) * (clock / (clock + 1.0)))


@inlined
def _attend_dense(state, event, moved):
    """`_attend` for all values that are not zero; eight features that came first at once."""
    zero = spread(0.0)
    move = spread(np.float64(get(state.sizes, EVENTS)) * moved)
    for first in range(0, event.count, GROUP):
        values, clocks = load(event.values, first, 0.0), load(state.clocks, first, 0.0)
        nothing = (values <= zero) & (zero <= values)
        if count(but_not(zero <= clocks, nothing)) == 0:
            if moved != 0.0:
                store(state.mean, first, load(state.mean, first, 0.0) + move * values)
        else:
            for slot in range(first, first + GROUP):
                value = np.float64(get(event.values, slot))
                if value != 0.0:
                    _attend(state, slot, value, moved)


@inlined
def _attend_sparse(state, event, moved):
    """`_attend` for all values that are not zero."""
    for i in range(event.count):
        value = np.float64(get(event.values, i))
        if value != 0.0:
            _attend(state, get(event.slots, i), value, moved)


def _attend_all(state: Any, event: Any, moved: Any) -> None:
    raise NotImplementedError("compiled code only")


@overload(_attend_all, inline="always")
def _attending(state, event, moved):
    if event.instance_class is Dense:
        return lambda state, event, moved: _attend_dense(state, event, moved)
    if event.instance_class is Sparse:
        return lambda state, event, moved: _attend_sparse(state, event, moved)
    return lambda state, event, moved: None  # support vectors are never without a coefficient


@inlined
def average(state, event, moved):
    """Let the averaged rule follow a round in which members moved by `moved` times the event, all together."""
    number = get(state.sizes, EVENTS)
    if state.rule == PRESENT:
        if moved != 0.0 or get(state.late, 0) > 0 or number < _BEGINNING:
            _attend_all(state, event, moved)
    elif moved != 0.0 and (state.rule == AVERAGED or state.rule == LASTING):
        rounds = np.float64(number) if state.rule == LASTING else 1.0
        add(state.mean, rounds * moved, event)
