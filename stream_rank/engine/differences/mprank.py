"""On-line MPRank with linear scores: `w` is kept at the sum of `alpha(i) * (x(i) - mean of its group)`.

When an event joins or leaves a group, the group's mean moves along the line to the event, and `w` with it.
Sums that are added to and taken from would in time lose digits; they are formed anew from what is kept whenever the
oldest event comes round to the first slot.

Cost of an event: O(d), and as much for every revisit.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.differences.duals import (
    BIAS,
    OLDEST,
    PAIR,
    REVISITS,
    ROWS,
    SECTIONS,
    SLOTS,
    USED,
    Duals,
    begin,
    change,
    cost_of,
    duals_layout,
    enter,
    leave,
    next_visit,
    open_duals,
    recount,
    row_of,
    seat,
)
from stream_rank.engine.events import bounded
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, spread, store
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled, dot

__all__ = ["costs", "layout", "learn_row", "predict_row", "run", "run_pairs", "settle", "sweep"]


def layout(n_slots: int, budget: int, n_rows: int, scaled: bool) -> Layout:
    """The sections for `n_slots` features, `budget` events and `n_rows` groups."""
    slots = padded(n_slots, np.float64)
    return {
        **duals_layout(budget, n_rows, scaled),
        "weights": Section("float64", (slots,)),
        "row": Section("float64", (slots,), scratch=True),
        "centred": Section("float64", (slots,), scratch=True),
        "sums": Section("float64", (n_rows, slots)),
        "vectors": Section("float64", (budget, slots)),
    }


class State(NamedTuple):
    """The dual variables, the weights, and the events kept."""

    duals: Duals
    weights: Any
    row: Any
    centred: Any
    sums: Any
    vectors: Any
    slots: Any


@inlined
def open_state(block):
    """The state inside a memory block."""
    duals = open_duals(block)
    return State(
        duals,
        pointer(block, place(block, SECTIONS), np.float64),
        pointer(block, place(block, SECTIONS + 1), np.float64),
        pointer(block, place(block, SECTIONS + 2), np.float64),
        pointer(block, place(block, SECTIONS + 3), np.float64),
        pointer(block, place(block, SECTIONS + 4), np.float64),
        get(duals.sizes, SLOTS),
    )


@inlined
def _vector(state, slot):
    return shift(state.vectors, slot * state.slots)


@inlined
def _sum(state, row):
    return shift(state.sums, row * state.slots)


@inlined
def _centre(state, values, row):
    """Write the distance of an event from the middle of a group, which has events."""
    sums, share = _sum(state, row), spread(1.0 / get(state.duals.counts, row))
    for i in range(0, state.slots, 8):
        store(state.centred, i, load(values, i, 0.0) - share * load(sums, i, 0.0))


@inlined
def _clear(state, values):
    for i in range(0, state.slots, 8):
        store(values, i, spread(0.0))


@inlined
def _drop(state, slot):
    """Let the oldest event go, and the mean of its group move away from it."""
    duals, vector = state.duals, _vector(state, slot)
    member, alpha = get(duals.members, slot), get(duals.alphas, slot)
    row = row_of(member)
    _centre(state, vector, row)
    leave(duals, slot)
    others = get(duals.counts, row)
    moved = get(duals.alpha_sums, row) / others if others > 0 else 0.0
    add_scaled(state.weights, moved - alpha, state.centred, state.slots)
    add_scaled(_sum(state, row), -1.0, vector, state.slots)
    if member < PAIR:
        add_scaled(_sum(state, 0), -1.0, vector, state.slots)


@inlined
def _keep(state, slot, values, label, group):
    """Put an event into a slot, and let the mean of its group move towards it."""
    duals, row = state.duals, row_of(group)
    if get(duals.counts, row) > 0:
        _centre(state, values, row)
        moved = get(duals.alpha_sums, row) / (get(duals.counts, row) + 1.0)
        add_scaled(state.weights, -moved, state.centred, state.slots)
    enter(duals, slot, label, group)
    vector = _vector(state, slot)
    for i in range(0, state.slots, 8):
        store(vector, i, load(values, i, 0.0))
    add_scaled(_sum(state, row), 1.0, vector, state.slots)
    if abs(group) < PAIR:
        add_scaled(_sum(state, 0), 1.0, vector, state.slots)


@inlined
def _renew(state):
    """Form all sums anew from the events kept."""
    duals = state.duals
    recount(duals)
    for row in range(get(duals.sizes, ROWS)):
        _clear(state, _sum(state, row))
    for i in range(get(duals.sizes, USED)):
        member, vector = get(duals.members, i), _vector(state, i)
        add_scaled(_sum(state, row_of(member)), 1.0, vector, state.slots)
        if member < PAIR:
            add_scaled(_sum(state, 0), 1.0, vector, state.slots)
    _clear(state, state.weights)
    for i in range(get(duals.sizes, USED)):
        _centre(state, _vector(state, i), row_of(get(duals.members, i)))
        add_scaled(state.weights, get(duals.alphas, i), state.centred, state.slots)


@inlined
def _step(state, slot, new):
    """Step along the dual variable of an event."""
    _centre(state, _vector(state, slot), row_of(get(state.duals.members, slot)))
    value = dot(state.weights, state.centred, state.slots)
    square = dot(state.centred, state.centred, state.slots)
    moved = change(state.duals, slot, value, square, new)
    add_scaled(state.weights, moved, state.centred, state.slots)


@inlined
def _constant(state):
    """Let the mean prediction of the rated events be their mean label."""
    count = max(1, get(state.duals.counts, 0))
    mean = dot(state.weights, state.sums, state.slots)
    put(state.duals.parameters, BIAS, (get(state.duals.label_sums, 0) - mean) / count)


@compiled
def settle(block):
    """Form the constant anew, after features were forgotten."""
    _constant(open_state(block))


@inlined
def _score(state, values):
    return dot(state.weights, values, state.slots) + get(state.duals.parameters, BIAS)


@inlined
def _learn(state, values, label, group):
    """Keep an event, step along its dual variable, and then along some earlier ones."""
    duals = state.duals
    slot, taken = seat(duals)
    if taken:
        _drop(state, slot)
    if group < 0:
        begin(duals, row_of(group))
        _clear(state, _sum(state, row_of(group)))
    _keep(state, slot, values, label, group)
    if taken and get(duals.sizes, OLDEST) == 0:
        _renew(state)
    _step(state, slot, True)
    if get(duals.sizes, USED) > 1:
        for _ in range(get(duals.sizes, REVISITS)):
            _step(state, next_visit(duals, slot), False)
    _constant(state)


@compiled
def run(block, rows, labels, groups, scores, learning):
    """Predict the scores of rows, each before it is learned as one of its group if its entry of `learning` says so."""
    state = open_state(block)
    values = pointer(rows, 0, np.float64)
    for i in range(scores.size):
        event = shift(values, i * state.slots)
        scores[i] = _score(state, event)
        if learning[i]:
            _learn(state, event, labels[i], groups[i])


@compiled
def learn_row(block, label, group, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _learn(state, state.row, label, group)
    return True


@compiled
def predict_row(block, bound):
    """The score of the event in the section `row`; NaN if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return np.nan
    return _score(state, state.row)


@compiled
def run_pairs(block, rows, others, magnitudes, groups, ahead):
    """Learn that rows are preferred to others, each pair a group of its own; where `ahead` is empty nobody asks."""
    state = open_state(block)
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, np.float64), i * state.slots)
        other = shift(pointer(others, 0, np.float64), i * state.slots)
        if ahead.size > 0:
            ahead[i] = _score(state, preferred) - _score(state, other)
        for which in range(2):
            values, label = (preferred, magnitudes[i]) if which == 0 else (other, 0.0)
            group = groups[i] + PAIR
            _learn(state, values, label, -group if which == 0 else group)


@compiled
def sweep(block):
    """Step along the dual variables of all events kept, once each."""
    state = open_state(block)
    for slot in range(get(state.duals.sizes, USED)):
        _step(state, slot, False)
    _constant(state)


@compiled
def costs(block):
    """What is minimised, and what it cannot be below: the dual at the variables as they are."""
    state = open_state(block)
    cost, bound = 0.0, 0.0
    for slot in range(get(state.duals.sizes, USED)):
        _centre(state, _vector(state, slot), row_of(get(state.duals.members, slot)))
        value = dot(state.weights, state.centred, state.slots)
        part, dual = cost_of(state.duals, slot, value)
        cost += part
        bound += dual
    return cost, bound
