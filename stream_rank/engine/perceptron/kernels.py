"""A family of members over the kernel values of a support set.

A kernel learner's weights are coefficients of support vectors, and its features are kernel
values. The support set is one for all members: an event costs one row of kernel values,
whatever the number of members. An event joins it when at least one member was wrong. When
`budget` vectors are kept, the oldest is dropped, with its coefficient in every member and in the averaged rule.

Cost of an event: O(budget * d) for the row, then what the family costs with `budget` features.
"""

import numpy as np

from stream_rank.engine.events import Expansion
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pairs import towards_even
from stream_rank.engine.perceptron.family import ask, merit_of
from stream_rank.engine.perceptron.members import choose, consider, find_wrong, learn, score
from stream_rank.engine.perceptron.pairs import share_ahead, standing
from stream_rank.engine.perceptron.state import AVERAGED, EVENTS, LASTING, UPDATES, open_state
from stream_rank.engine.pointers import as_element, get, pointer, put, shift
from stream_rank.engine.sums import dot
from stream_rank.engine.support import (
    evaluate,
    kernel_value,
    open_support,
    take_slot,
    write_vector,
)

__all__ = ["opinions_kernel", "run_kernel", "run_pairs_kernel"]


@inlined
def join(state, support, values, square):
    """Put an event into a free slot, or into that of the oldest, whose coefficients are forgotten; return the slot."""
    slot, taken = take_slot(support)
    if taken:
        for j in range(state.n_members):
            put(shift(state.weights, j * state.slots), slot, as_element(state.weights, 0.0))
        put(state.mean, slot, 0.0)
    write_vector(support, slot, values, square)
    return slot


@compiled
def run_kernel(block, support_block, rows, squares, labels, ranks, learning):
    """Predict the ranks of dense rows with their squares, each before it is learned if its entry of `learning` says so."""
    state, support = open_state(block), open_support(support_block)
    for i in range(ranks.size):
        values = shift(pointer(rows, 0, block.dtype), i * support.features)
        count = evaluate(support, values, squares[i], support.row)
        rank, n_members = consider(state, Expansion(support.row, count, 0), learning[i], False)
        ranks[i] = rank
        if learning[i]:
            n_wrong = find_wrong(state, labels[i], n_members)
            slot = join(state, support, values, squares[i]) if n_wrong > 0 else 0
            learn(state, Expansion(support.row, count, slot), labels[i], n_wrong)


@compiled
def opinions_kernel(block, support_block, rows, squares, shares, scores):
    """For dense rows with their squares: each rank's share of the votes, and the averaged rule's score."""
    state, support = open_state(block), open_support(support_block)
    for i in range(scores.size):
        values = shift(pointer(rows, 0, block.dtype), i * support.features)
        count = evaluate(support, values, squares[i], support.row)
        scores[i] = ask(state, Expansion(support.row, count, 0), shares[i])


@inlined
def _distance(support, first, second, squares):
    """The squared distance of two vectors in the space of the kernel."""
    product = np.float64(dot(first, second, support.features))
    one, two = squares
    between = kernel_value(support, product, one, two)
    return (
        kernel_value(support, one, one, one) + kernel_value(support, two, two, two) - 2.0 * between
    )


@inlined
def _move(score_, magnitude, size):
    """The step of a member along a pair's difference, of squared length `size`; 0 if it has it right."""
    if magnitude == 0.0:
        return towards_even(score_, size)
    return magnitude if score_ <= 0.0 else 0.0


@inlined
def _take_pair(state, support, count, preferred, other, squares, magnitude):
    """Move the chosen members that misorder a pair, whose difference is in the support set's row."""
    number = get(state.sizes, EVENTS)
    n_chosen = choose(state, number)
    score(state, Expansion(support.row, count, 0), state.chosen, n_chosen, False)
    size = _distance(support, preferred, other, squares) if magnitude == 0.0 else 0.0
    n_wrong, total = 0, 0.0
    for i in range(n_chosen):
        factor = _move(np.float64(get(state.scores, i)), magnitude, size)
        put(state.scores, n_wrong, factor)
        put(state.wrong, n_wrong, get(state.chosen, i))
        n_wrong += factor != 0.0
        total += factor
    if n_wrong > 0:
        rounds = np.float64(number) if state.rule == LASTING else 1.0
        share = rounds * total if magnitude == 0.0 else rounds * n_wrong * magnitude
        for which in range(2):
            sign = 1.0 if which == 0 else -1.0
            slot = join(state, support, preferred if which == 0 else other, squares[which])
            for i in range(n_wrong):
                row = shift(state.weights, np.int64(get(state.wrong, i)) * state.slots)
                put(row, slot, as_element(row, sign * get(state.scores, i)))
            if state.rule == AVERAGED or state.rule == LASTING:
                put(state.mean, slot, sign * share)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + n_wrong)
    put(state.sizes, EVENTS, number + 1)


@compiled
def run_pairs_kernel(
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
):
    """Learn that rows are preferred to others: both join the support set; where `ahead` or `shares` is empty nobody asks."""
    state, support = open_state(block), open_support(support_block)
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, block.dtype), i * support.features)
        other = shift(pointer(other_rows, 0, block.dtype), i * support.features)
        evaluate(support, preferred, squares[i], support.row)
        count = evaluate(support, other, other_squares[i], support.other_row)
        if ahead.size > 0:
            merit, lead = merit_of(state), 0.0
            for which in range(2):
                values = support.row if which == 0 else support.other_row
                score_ = standing(state, Expansion(values, count, 0), merit)
                lead = score_ if which == 0 else lead - score_
            ahead[i] = lead
        for j in range(count):
            put(support.row, j, get(support.row, j) - get(support.other_row, j))
        if shares.size > 0:
            difference = Expansion(support.row, count, 0)
            shares[i] = share_ahead(state, difference, merit_of(state))
        if not learning:
            continue
        both = (squares[i], other_squares[i])
        _take_pair(state, support, count, preferred, other, both, magnitudes[i])
