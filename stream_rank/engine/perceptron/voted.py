"""PRank's past, voting: every rule that it ever held, by the number of rounds that it survived.

The memory is that of a family whose members are hypotheses, of which one, the current, learns.
When the current hypothesis is wrong it is kept as it is, and a copy that has been mended goes on. Where there
is no room for the copy, it takes the place of the hypothesis that survived the fewest rounds.

Cost of an event: O(H * (d + k)) with H hypotheses, as all of them vote.
"""

import numpy as np

from stream_rank.engine.events import Dense, Sparse, add, bounded, inner, squares
from stream_rank.engine.few import few_entries
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pairs import towards_even
from stream_rank.engine.perceptron.members import score, step, vote_rank
from stream_rank.engine.perceptron.state import EVENTS, FEW, KEY, RATE, UPDATES, open_state
from stream_rank.engine.pointers import as_element, get, pointer, put, shift

__all__ = [
    "CURRENT",
    "USED",
    "go_on_from",
    "learn_hypothesis_pair",
    "learn_hypothesis_row",
    "predict_hypotheses_row",
    "run_hypotheses",
    "run_hypotheses_sparse",
    "take_few_hypotheses",
    "take_hypothesis_pair",
]

CURRENT, USED = KEY, RATE
"""Nothing is sampled here, so the entries of the coins say which hypothesis learns, and how many there are."""


@inlined
def go_on_from(state, current):
    """Keep the current hypothesis, and make a copy of it current; return the copy."""
    used = get(state.sizes, USED)
    copy = used
    if used < state.n_members:
        put(state.sizes, USED, used + 1)
    else:
        copy = 0
        for j in range(1, used):
            if get(state.correct, j) < get(state.correct, copy):
                copy = j
    if copy != current:
        for i in range(state.slots):
            put(
                state.weights, copy * state.slots + i, get(state.weights, current * state.slots + i)
            )
        for r in range(state.edges):
            edge = get(state.thresholds, current * state.edges + r)
            put(state.thresholds, copy * state.edges + r, edge)
    put(state.correct, copy, 1)  # it is made by a round that it survives
    put(state.sizes, CURRENT, copy)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + 1)
    return copy


@inlined
def _take(state, event, label, learning):
    """Predict an event's rank, and then let the current hypothesis learn it if asked to."""
    used = get(state.sizes, USED)
    score(state, event, state.everybody, used, False)
    rank = vote_rank(state, used)
    if learning:
        current = get(state.sizes, CURRENT)
        score_, edges = get(state.scores, current), shift(state.thresholds, current * state.edges)
        if get(edges, label - 1) <= score_ and score_ < get(edges, label):
            put(state.correct, current, get(state.correct, current) + 1)
        else:
            copy = go_on_from(state, current)
            move = step(state, copy, score_, label, state.steps)
            row = shift(state.weights, copy * state.slots)
            add(row, as_element(state.weights, move), event)
        put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)
    return rank


@compiled
def run_hypotheses(block, rows, labels, ranks, learning):
    """Predict the ranks of dense rows, each before it is learned if its entry of `learning` says so."""
    state = open_state(block)
    values = pointer(rows, 0, block.dtype)
    for i in range(ranks.size):
        event = Dense(shift(values, i * state.slots), state.slots)
        ranks[i] = _take(state, event, labels[i], learning[i])


@compiled
def run_hypotheses_sparse(block, starts, slots, values, labels, ranks, learning):
    """`run_hypotheses` for the rows of a CSR matrix with ascending slots."""
    state = open_state(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    for i in range(ranks.size):
        event = Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])
        ranks[i] = _take(state, event, labels[i], learning[i])


@compiled
def learn_hypothesis_row(block, label, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _take(state, Dense(state.row, state.slots), label, True)
    return True


@compiled
def predict_hypotheses_row(block, bound):
    """The rank of the event in the section `row`; 0 if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return 0
    return _take(state, Dense(state.row, state.slots), 0, False)


@compiled
def take_few_hypotheses(block, count, label, bound, learning):
    """The rank of the event in the section `few`, which is learned if `learning`; 0, and nothing learned, beyond `bound`."""
    event = few_entries(block, FEW, count, bound)
    return 0 if event.count < 0 else _take(open_state(block), event, label, learning)


@inlined
def take_hypothesis_pair(state, event, magnitude):
    """Let the current hypothesis learn the pair whose difference is the event, if it misorders it.

    Of a tie, of magnitude 0, any order is wrong.
    """
    current = get(state.sizes, CURRENT)
    score_ = np.float64(inner(shift(state.weights, current * state.slots), event))
    move = magnitude if score_ <= 0.0 else 0.0
    if magnitude == 0.0:
        move = towards_even(score_, np.float64(squares(event)))
    if move != 0.0:
        row = shift(state.weights, go_on_from(state, current) * state.slots)
        add(row, as_element(state.weights, move), event)
    else:
        put(state.correct, current, get(state.correct, current) + 1)
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@compiled
def learn_hypothesis_pair(block, magnitude, bound):
    """Learn the pair whose difference is in the section `row`; False, and nothing learned, beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    take_hypothesis_pair(state, Dense(state.row, state.slots), magnitude)
    return True
