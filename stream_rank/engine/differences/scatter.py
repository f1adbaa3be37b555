"""The sums that centred least squares is solved from: `sum of u u'` and `sum of u y`, by event as `centre` sees them.

Kept where the trade-off changes with every event, so that no inverse can be carried on.

Cost of an event: O(d**2).
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.differences.centre import (
    FEATURES,
    SECTIONS,
    Centre,
    age,
    centre,
    centre_layout,
    open_centre,
    score,
)
from stream_rank.engine.events import bounded
from stream_rank.engine.factors import block_start, diagonal_place, triangle_size
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, spread, store
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pairs import write_difference
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled

__all__ = [
    *("absorb", "answer", "equations", "layout", "learn_row", "open_state", "predict_row", "run"),
    "run_pairs",
]


def layout(n_slots: int, n_rows: int) -> Layout:
    """The sections for `n_slots` features and `n_rows` groups."""
    slots = padded(n_slots, np.float64)
    return {
        **centre_layout(n_slots, n_rows),
        "triangle": Section("float64", (triangle_size(slots),)),
        "products": Section("float64", (slots,)),
    }


class State(NamedTuple):
    """The means, the scatter's columns, and the products with the labels."""

    centre: Centre
    triangle: Any
    products: Any


@inlined
def open_state(block):
    """The state inside a memory block."""
    return State(
        open_centre(block),
        pointer(block, place(block, SECTIONS), np.float64),
        pointer(block, place(block, SECTIONS + 1), np.float64),
    )


@inlined
def absorb(state, values, target, weight, forgetting):
    """Add an event of that weight to what has faded."""
    blocks, fading = (get(state.centre.sizes, FEATURES) + 7) >> 3, spread(forgetting)
    for block in range(blocks):
        length = 8 * (block + 1)
        for j in range(8):
            column = shift(state.triangle, block_start(block) + j * length)
            if forgetting < 1.0:
                for i in range(0, length, 8):
                    store(column, i, load(column, i, 0.0) * fading)
            add_scaled(column, weight * get(values, 8 * block + j), values, length)
    for i in range(0, 8 * blocks, 8):
        store(state.products, i, load(state.products, i, 0.0) * fading)
    add_scaled(state.products, weight * target, values, 8 * blocks)


@inlined
def _learn(state, values, label, group):
    """Learn a rating of a group, or the pair whose difference `values` is if `group` is 0."""
    forgetting = age(state.centre)
    if group == 0:
        absorb(state, values, label, 1.0, forgetting)
    else:
        weight, distance = centre(state.centre, values, label, group)
        absorb(state, state.centre.centred, distance, weight, forgetting)


@compiled
def equations(block, matrix, right):
    """Write the scatter and the products of the features that vary; return which they are."""
    state = open_state(block)
    features = get(state.centre.sizes, FEATURES)
    which = np.empty(features, np.int64)
    count = 0
    for j in range(features):
        if get(state.triangle, diagonal_place(j)) > 0.0:
            which[count] = j
            count += 1
    for at in range(count):
        column = shift(state.triangle, diagonal_place(which[at]) - which[at])
        right[at] = get(state.products, which[at])
        for other in range(at + 1):
            matrix[at, other] = get(column, which[other])
            matrix[other, at] = matrix[at, other]
    return which[:count]


@compiled
def answer(block, which, values):
    """Set the weights: those of some features, 0 of the others."""
    state = open_state(block)
    for j in range(state.centre.slots):
        put(state.centre.weights, j, 0.0)
    for at in range(len(which)):
        put(state.centre.weights, which[at], values[at])


@compiled
def run(block, rows, labels, groups, scores, learning):
    """The scores of rows by the weights as they are, or learn the rows."""
    state = open_state(block)
    values = pointer(rows, 0, np.float64)
    for i in range(scores.size):
        event = shift(values, i * state.centre.slots)
        if learning:
            _learn(state, event, labels[i], groups[i])
        else:
            scores[i] = score(state.centre, event)


@compiled
def learn_row(block, label, group, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.centre.row, state.centre.slots, bound):
        return False
    _learn(state, state.centre.row, label, group)
    return True


@compiled
def predict_row(block, bound):
    """The score of the event in the section `row`; NaN if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.centre.row, state.centre.slots, bound):
        return np.nan
    return score(state.centre, state.centre.row)


@compiled
def run_pairs(block, rows, others, magnitudes, ahead):
    """Learn that rows are preferred to others, or, if `ahead` is not empty, say by how much they are by the weights as they are."""
    state = open_state(block)
    means = state.centre
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, np.float64), i * means.slots)
        other = shift(pointer(others, 0, np.float64), i * means.slots)
        if ahead.size > 0:
            ahead[i] = score(means, preferred) - score(means, other)
        else:
            write_difference(means.row, preferred, other, means.slots)
            _learn(state, means.row, magnitudes[i], 0)
