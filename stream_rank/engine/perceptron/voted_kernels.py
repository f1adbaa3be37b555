"""Hypotheses of a voted perceptron over the kernel values of a support set, which all of them share.

A wrong event joins the support set, and the copy of the current hypothesis that goes on has a coefficient of it; in all others it is 0. Where
it is full, the oldest vector goes, or the nearest takes the coefficient over.

Cost of an event: O(budget * d) for the row of kernel values, and O(H * (budget + k)) with H hypotheses.
"""

import numpy as np

from stream_rank.engine.events import Expansion, add, inner
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.perceptron.family import merit_of
from stream_rank.engine.perceptron.kernels import (
    distance,
    hand_over,
    has_room,
    join,
    merge_pair,
    move_of,
    nearest_to,
)
from stream_rank.engine.perceptron.members import score, step, vote_rank
from stream_rank.engine.perceptron.pairs import share_ahead, standing
from stream_rank.engine.perceptron.state import EVENTS, open_state
from stream_rank.engine.perceptron.voted import CURRENT, USED, go_on_from
from stream_rank.engine.perceptron.widths import observe
from stream_rank.engine.pointers import as_element, get, pointer, put, shift
from stream_rank.engine.support import evaluate, kernel_value, open_support

__all__ = ["run_hypotheses_kernel", "run_hypotheses_pairs_kernel"]


@inlined
def _learn(state, support, values, square, count, label, merging):
    """Let the current hypothesis learn an event that was scored; where it is wrong, the event joins the support set."""
    current = get(state.sizes, CURRENT)
    score_, edges = get(state.scores, current), shift(state.thresholds, current * state.edges)
    if get(edges, label - 1) <= score_ and score_ < get(edges, label):
        put(state.correct, current, get(state.correct, current) + 1)
    else:
        slot, share = 0, 0.0
        if merging and not has_room(support, 1):
            own = kernel_value(support, square, square, square)
            slot, share = nearest_to(support, support.row, 0.0, own)
        if share == 0.0:
            if merging and not has_room(support, 1):
                hand_over(state, support)
            slot, share = join(state, support, values, square), 1.0
        copy = go_on_from(state, current)
        move = share * step(state, copy, score_, label, state.steps)
        row = shift(state.weights, copy * state.slots)
        put(row, slot, get(row, slot) + as_element(row, move))
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@compiled
def run_hypotheses_kernel(block, support_block, rows, squares, labels, ranks, learning, merging):
    """Predict the ranks of dense rows with their squares, each before it is learned if its entry of `learning` says so."""
    state, support = open_state(block), open_support(support_block)
    for i in range(ranks.size):
        values = shift(pointer(rows, 0, block.dtype), i * support.features)
        count, used = evaluate(support, values, squares[i], support.row), get(state.sizes, USED)
        score(state, Expansion(support.row, count, 0), state.everybody, used, False)
        ranks[i] = vote_rank(state, used)
        if learning[i]:
            _learn(state, support, values, squares[i], count, labels[i], merging)
            observe(support, squares[i])


@inlined
def _learn_pair(state, support, count, preferred, other, squares, magnitude, merging):
    """Let the current hypothesis learn a pair, whose difference is in the support set's row, if it misorders it."""
    current = get(state.sizes, CURRENT)
    row = shift(state.weights, current * state.slots)
    score_ = np.float64(inner(row, Expansion(support.row, count, 0)))
    size = distance(support, preferred, other, squares) if magnitude == 0.0 else 0.0
    move = move_of(score_, magnitude, size)
    if move == 0.0:
        put(state.correct, current, get(state.correct, current) + 1)
    else:
        merged, change = merge_pair(support, squares, count, merging)
        if merged:
            row = shift(state.weights, go_on_from(state, current) * state.slots)
            add(row, as_element(row, move), change)
        else:
            if merging and not has_room(support, 1):
                hand_over(state, support)
            first = join(state, support, preferred, squares[0])
            if merging and not has_room(support, 1):
                hand_over(state, support)
            second = join(state, support, other, squares[1])
            row = shift(state.weights, go_on_from(state, current) * state.slots)
            put(row, first, as_element(row, move))
            put(row, second, as_element(row, -move))
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@compiled
def run_hypotheses_pairs_kernel(
    block,
    support_block,
    rows,
    squares,
    other_rows,
    other_squares,
    magnitudes,
    ahead,
    shares,
    learning,
    merging,
):
    """Learn that rows are preferred to others; where `ahead` or `shares` is empty nobody asks."""
    state, support = open_state(block), open_support(support_block)
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, block.dtype), i * support.features)
        other = shift(pointer(other_rows, 0, block.dtype), i * support.features)
        evaluate(support, preferred, squares[i], support.row)
        count = evaluate(support, other, other_squares[i], support.other_row)
        merit = merit_of(state)
        if ahead.size > 0:
            lead = standing(state, Expansion(support.row, count, 0), merit)
            ahead[i] = lead - standing(state, Expansion(support.other_row, count, 0), merit)
        for j in range(count):
            put(support.row, j, get(support.row, j) - get(support.other_row, j))
        if shares.size > 0:
            shares[i] = share_ahead(state, Expansion(support.row, count, 0), merit)
        if learning:
            both = (squares[i], other_squares[i])
            _learn_pair(state, support, count, preferred, other, both, magnitudes[i], merging)
            observe(support, squares[i])
            observe(support, other_squares[i])
