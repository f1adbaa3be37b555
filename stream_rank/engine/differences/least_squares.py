"""Widrow and Hoff's least-mean-squares rule.

After predicting `s = w.x + b`, the weights move by `rate * (y - s) * x` (and the intercept by
`rate * (y - s)`, where there is one). A rate above `2 / |x|**2` would overshoot further than it came,
so it is capped at `1 / |x|**2` (counting a 1 for the intercept), which hits the label exactly. A capped
step never lengthens the weights by more than `sqrt(rate) * |y|`: whatever the scale of the features, they do not blow up.

Cost of an event: O(d), or O(non-zeros).
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.events import Dense, Sparse, add, bounded, inner, squares
from stream_rank.engine.few import few_entries, few_section
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pairs import rounded, write_difference
from stream_rank.engine.pointers import as_element, get, pointer, put, shift

__all__ = [
    "EVENTS",
    "layout",
    "learn_pair",
    "learn_row",
    "predict_row",
    "run",
    "run_pairs",
    "run_pairs_sparse",
    "run_sparse",
    "take_few",
]

# Sections of the memory.
SIZES, PARAMETERS, WEIGHTS, ROW, FEW = range(5)

# Entries of SIZES and of PARAMETERS.
SLOTS, EVENTS = range(2)
RATE, HAS_INTERCEPT, INTERCEPT = range(3)


def layout(n_slots: int, dtype: str) -> Layout:
    """The sections for `n_slots` features."""
    slots = padded(n_slots, dtype)
    return {
        "sizes": Section("int64", (2,), own=(SLOTS,)),
        "parameters": Section("float64", (3,)),
        "weights": Section(dtype, (slots,)),
        "row": Section(dtype, (slots,), scratch=True),
        "few": few_section(),
    }


class State(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    parameters: Any
    weights: Any
    row: Any
    slots: Any


@inlined
def open_state(block):
    """The state inside a memory block."""
    sizes = pointer(block, place(block, SIZES), np.int64)
    return State(
        sizes,
        pointer(block, place(block, PARAMETERS), np.float64),
        pointer(block, place(block, WEIGHTS), block.dtype),
        pointer(block, place(block, ROW), block.dtype),
        get(sizes, SLOTS),
    )


@inlined
def _score(state, event):
    return np.float64(inner(state.weights, event)) + get(state.parameters, INTERCEPT)


@inlined
def _move(state, event, error, intercept):
    """Move towards the label, by the rate or as far as the label."""
    size = np.float64(squares(event)) + intercept
    rate = get(state.parameters, RATE)
    if rate * size > 1.0:
        rate = 1.0 / size
    add(state.weights, as_element(state.weights, rate * error), event)
    put(state.parameters, INTERCEPT, get(state.parameters, INTERCEPT) + rate * error * intercept)
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@inlined
def _take(state, event, label, learning):
    """Predict an event's score, and then learn it if asked to."""
    score = _score(state, event)
    if learning:
        _move(state, event, label - score, get(state.parameters, HAS_INTERCEPT))
    return score


@compiled
def run(block, rows, labels, scores, learning):
    """Predict the scores of dense rows, each before it is learned if its entry of `learning` says so."""
    state = open_state(block)
    values = pointer(rows, 0, block.dtype)
    for i in range(scores.size):
        event = Dense(shift(values, i * state.slots), state.slots)
        scores[i] = _take(state, event, labels[i], learning[i])


@compiled
def run_sparse(block, starts, slots, values, labels, scores, learning):
    """`run` for the rows of a CSR matrix with ascending slots."""
    state = open_state(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    for i in range(scores.size):
        event = Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])
        scores[i] = _take(state, event, labels[i], learning[i])


@compiled
def learn_row(block, label, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _take(state, Dense(state.row, state.slots), label, True)
    return True


@compiled
def predict_row(block, bound):
    """The score of the event in the section `row`; NaN if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return np.nan
    return _take(state, Dense(state.row, state.slots), 0.0, False)


@compiled
def take_few(block, count, label, bound, learning):
    """The score of the event in the section `few`, which is learned if `learning`; NaN, and nothing learned, beyond `bound`."""
    event = few_entries(block, FEW, count, bound)
    return np.nan if event.count < 0 else _take(open_state(block), event, label, learning)


@inlined
def _take_pair(state, event, magnitude):
    """Move towards a score of `magnitude` for a pair's difference, if it is misordered or a tie."""
    score = np.float64(inner(state.weights, event))
    if score <= 0.0 or magnitude == 0.0:
        _move(state, event, magnitude - score, 0.0)
    else:
        put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@compiled
def learn_pair(block, magnitude, bound):
    """Learn the pair whose difference is in the section `row`; False, and nothing learned, beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _take_pair(state, Dense(state.row, state.slots), magnitude)
    return True


@compiled
def run_pairs(block, rows, others, scratch, magnitudes, ahead):
    """Learn pairs of rows of doubles; `scratch` has room for two in the precision of weights. Where `ahead` is empty nobody asks."""
    state = open_state(block)
    first, second = pointer(rows, 0, np.float64), pointer(others, 0, np.float64)
    room = pointer(scratch, 0, block.dtype)
    slots = state.slots
    for i in range(magnitudes.size):
        preferred, other = shift(first, i * slots), shift(second, i * slots)
        if ahead.size > 0:
            lead = _score(state, Dense(rounded(room, preferred, slots), slots))
            ahead[i] = lead - _score(state, Dense(rounded(room, other, slots), slots))
        write_difference(state.row, preferred, other, slots)
        _take_pair(state, Dense(state.row, slots), magnitudes[i])


@inlined
def _entries(starts, slots, values, i):
    """A row of a CSR matrix as an event."""
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, values.dtype)
    return Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])


@compiled
def run_pairs_sparse(
    block,
    starts,
    slots,
    values,
    starts_2,
    slots_2,
    values_2,
    starts_3,
    slots_3,
    values_3,
    magnitudes,
    ahead,
):
    """`run_pairs` for the rows of CSR matrices; the third of them holds the differences."""
    state = open_state(block)
    for i in range(magnitudes.size):
        if ahead.size > 0:
            lead = _score(state, _entries(starts, slots, values, i))
            ahead[i] = lead - _score(state, _entries(starts_2, slots_2, values_2, i))
        _take_pair(state, _entries(starts_3, slots_3, values_3, i), magnitudes[i])
