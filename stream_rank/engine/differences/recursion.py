"""The exact minimiser of centred least squares after every event, by its covariance.

With `A = regularization * I + sum of u u'` over the events `u` as `centre` sees them, the weights are
`A**-1 b`. Kept are the weights and the factors of `A**-1`: an event moves the weights by
`A**-1 u` times its error.

Forgetting multiplies all of `A` by less than one, the regularization too, which would in time let a direction
without events grow beyond all bounds. So what it has lost is given back, feature by feature in turn, as an event
`w(j) = 0` of that weight: as many features an event as it takes for each to have its turn before a thousandth is left, and
out of turn where others that joined made one wait longer.
A feature takes part in this from its first value that is not zero, however it is written.

Cost of an event: O(d**2), and with forgetting twice that for every feature whose turn it is.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.differences.centre import (
    ACTIVE,
    FADING,
    FEATURES,
    NEXT,
    SECTIONS,
    STRENGTH,
    Centre,
    age,
    centre,
    centre_layout,
    open_centre,
    score,
)
from stream_rank.engine.events import bounded
from stream_rank.engine.factors import Factors, factors_layout, introduce, update
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import spread, store
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pairs import write_difference
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled, dot

__all__ = [
    "FADED",
    "absorb",
    "begin_again",
    "begin_features",
    "forget_feature",
    "layout",
    "learn_row",
    "open_state",
    "predict_row",
    "run",
    "run_pairs",
]


_NO_NOISE = 2.0**-70
"""Times a number and added to it, it is lost."""

FADED = 1000.0
"""Into how small a part a feature's regularization may fade before it is given back."""


def layout(n_slots: int, n_rows: int) -> Layout:
    """The sections for `n_slots` features and `n_rows` groups."""
    slots = padded(n_slots, np.float64)
    return {
        **centre_layout(n_slots, n_rows),
        **factors_layout(slots),
        "regularizers": Section("float64", (slots,)),
    }


class State(NamedTuple):
    """The means, the covariance, and every feature's regularization, 0 before it takes part in fading."""

    centre: Centre
    covariance: Factors
    regularizers: Any


@inlined
def open_state(block):
    """The state inside a memory block."""
    return State(
        open_centre(block),
        Factors(
            pointer(block, place(block, SECTIONS), np.float64),
            pointer(block, place(block, SECTIONS + 1), np.float64),
            pointer(block, place(block, SECTIONS + 2), np.float64),
            pointer(block, place(block, SECTIONS + 3), np.float64),
            pointer(block, place(block, SECTIONS + 4), np.float64),
        ),
        pointer(block, place(block, SECTIONS + 5), np.float64),
    )


@inlined
def absorb(state, values, target, noise):
    """Move the weights to the minimiser with `(w.x - target)**2 / noise` added to what is minimised."""
    means = state.centre
    size = update(state.covariance, values, noise, get(means.sizes, FEATURES))
    error = target - dot(means.weights, values, means.slots)
    count = (get(means.sizes, FEATURES) + 7) & -8
    add_scaled(means.weights, error / size, state.covariance.gain, count)


@inlined
def _fade(state, values, forgetting):
    """Let the past weigh less; features that have a value for the first time take part from now on."""
    sizes, full = state.centre.sizes, get(state.centre.parameters, STRENGTH)
    for j in range(get(sizes, FEATURES)):
        left = get(state.regularizers, j)
        if left > 0.0:
            put(state.regularizers, j, left * forgetting)
            diagonal = state.covariance.diagonal
            put(diagonal, j, get(diagonal, j) / forgetting)
        elif get(values, j) != 0.0:
            put(state.regularizers, j, full)
            put(sizes, ACTIVE, get(sizes, ACTIVE) + 1)


@inlined
def _restore(state, j):
    """Give a feature the regularization back that has faded."""
    means = state.centre
    full = get(means.parameters, STRENGTH)
    lost = full - get(state.regularizers, j)
    if lost > 0.0:
        for i in range(0, means.slots, 8):
            store(means.centred, i, spread(0.0))
        put(means.centred, j, 1.0)
        absorb(state, means.centred, 0.0, 1.0 / lost)
        put(state.regularizers, j, full)


@inlined
def _renew(state):
    """Restore the features whose turn it is, and those that must not wait for it."""
    means = state.centre
    sizes, least = means.sizes, get(means.parameters, STRENGTH) / FADED
    turns = np.int64(np.ceil(get(sizes, ACTIVE) * get(means.parameters, FADING)))
    for _ in range(turns):
        j = get(sizes, NEXT) % get(sizes, FEATURES)
        while get(state.regularizers, j) == 0.0:
            j = (j + 1) % get(sizes, FEATURES)
        put(sizes, NEXT, j + 1)  # not wrapped: a new feature may follow before the next turn
        _restore(state, j)
    for j in range(get(sizes, FEATURES)):
        left = get(state.regularizers, j)
        if left > 0.0 and left < least:
            _restore(state, j)


@inlined
def _learn(state, values, label, group):
    """Learn a rating of a group, or the pair whose difference `values` is if `group` is 0."""
    means = state.centre
    forgetting = age(means)
    if forgetting < 1.0:
        _fade(state, values, forgetting)
    if group == 0:
        absorb(state, values, label, 1.0)
    else:
        weight, distance = centre(means, values, label, group)
        if weight > 0.0:
            absorb(state, means.centred, distance, 1.0 / weight)
    if forgetting < 1.0:
        _renew(state)


@compiled
def begin_features(block, first, end):
    """Give features their place in the covariance."""
    state = open_state(block)
    for j in range(first, end):
        introduce(state.covariance, j, 1.0 / get(state.centre.parameters, STRENGTH))
    put(state.centre.sizes, FEATURES, end)


@compiled
def forget_feature(block, j):
    """Leave a feature out of what is minimised, by an event `w(j) = 0` of all the weight that there is.

    What the events say of the other weights, if this one is 0, is what they would say without the feature. The noise is
    too small to be seen beside the feature's variance, which is at least the diagonal.
    """
    state = open_state(block)
    means = state.centre
    for i in range(0, means.slots, 8):
        store(means.centred, i, spread(0.0))
    put(means.centred, j, 1.0)
    absorb(state, means.centred, 0.0, get(state.covariance.diagonal, j) * _NO_NOISE)
    if get(state.regularizers, j) > 0.0:
        put(state.regularizers, j, 0.0)
        put(means.sizes, ACTIVE, get(means.sizes, ACTIVE) - 1)


@compiled
def begin_again(block, j):
    """Give a feature the place in the covariance of one that never came; its row and column were cleared."""
    state = open_state(block)
    introduce(state.covariance, j, 1.0 / get(state.centre.parameters, STRENGTH))


@compiled
def run(block, rows, labels, groups, scores, learning):
    """Predict the scores of rows, each before it is learned as one of its group if its entry of `learning` says so."""
    state = open_state(block)
    values = pointer(rows, 0, np.float64)
    for i in range(scores.size):
        event = shift(values, i * state.centre.slots)
        scores[i] = score(state.centre, event)
        if learning[i]:
            _learn(state, event, labels[i], groups[i])


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
    """Learn that rows are preferred to others; where `ahead` is empty nobody asks by how much they were."""
    state = open_state(block)
    means = state.centre
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, np.float64), i * means.slots)
        other = shift(pointer(others, 0, np.float64), i * means.slots)
        if ahead.size > 0:
            ahead[i] = score(means, preferred) - score(means, other)
        write_difference(means.row, preferred, other, means.slots)
        _learn(state, means.row, magnitudes[i], 0)
