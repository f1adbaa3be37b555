"""What Python calls to teach a family of members by another rule than the perceptron's; asking it is no different.

The phases are those of `members.py`, but a chosen member is mended wherever it falls short of a margin of 1, and by `updates.py`.
"""

import numpy as np

from stream_rank.engine.coins import WORD
from stream_rank.engine.events import Dense, Sparse, bounded, squares
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pairs import rounded, write_difference
from stream_rank.engine.perceptron.family import merit_of
from stream_rank.engine.perceptron.members import choose, consider, score
from stream_rank.engine.perceptron.pairs import share_ahead, standing
from stream_rank.engine.perceptron.presence import average
from stream_rank.engine.perceptron.state import (
    EVENTS,
    LASTING,
    UPDATES,
    VOTED,
    WEIGHTED,
    open_state,
)
from stream_rank.engine.perceptron.updates import (
    PASSIVE_AGGRESSIVE,
    move_on_event,
    move_on_pair,
    open_rules,
)
from stream_rank.engine.pointers import get, pointer, put, shift

__all__ = [
    "learn_pair_by_margin",
    "learn_row_by_margin",
    "run_by_margin",
    "run_by_margin_sparse",
    "run_pairs_by_margin",
    "run_pairs_by_margin_sparse",
]


@inlined
def _find_short(state, label, n_scored):
    """List the chosen members that fall short of a margin of 1, move their scores up to match, and say how many they are.

    Where votes are weighted, the chosen that have the rank right have one more correct rank.
    """
    voting = state.rule == VOTED or state.rule == WEIGHTED
    members = state.everybody if voting else state.chosen
    lower, n_short = shift(state.thresholds, label - 1), 0
    for i in range(n_scored):
        j, score_ = np.int64(get(members, i)), get(state.scores, i)
        over = score_ - get(lower, j * state.edges)
        under = get(lower, j * state.edges + 1) - score_
        short = (over < 1.0) | (under < 1.0)
        if voting:
            coin = ((get(state.coins, j // WORD) >> np.uint64(j % WORD)) & np.uint64(1)) != 0
            if state.rule == WEIGHTED:
                right = (over >= 0.0) & (under > 0.0)
                put(state.correct, j, get(state.correct, j) + (coin & right))
            short &= coin
        put(state.wrong, n_short, np.uint32(j))
        put(state.scores, n_short, score_)
        n_short += short
    return n_short


@inlined
def _end_round(state, rules, event, n_moved, total):
    """Tell the averaged rule what it does not know yet, and count the round."""
    if rules.kind == PASSIVE_AGGRESSIVE or n_moved == 0:
        average(state, event, total)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + n_moved)
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@inlined
def _rounds(state):
    return np.float64(get(state.sizes, EVENTS)) if state.rule >= LASTING else 1.0


@inlined
def _take(state, rules, event, label, learning):
    """Predict an event's rank, and then learn it if asked to."""
    rank, n_scored = consider(state, event, learning, False)
    if learning:
        n_short, total = _find_short(state, label, n_scored), 0.0
        size = np.float64(squares(event)) if n_short > 0 else 0.0
        for i in range(n_short):
            j, score_ = np.int64(get(state.wrong, i)), np.float64(get(state.scores, i))
            total += move_on_event(state, rules, event, j, score_, label, size, _rounds(state))
        _end_round(state, rules, event, n_short, total)
    return rank


@compiled
def run_by_margin(block, rules_block, rows, labels, ranks, learning):
    """Predict the ranks of dense rows, each before it is learned if its entry of `learning` says so."""
    state, rules = open_state(block), open_rules(rules_block)
    values = pointer(rows, 0, block.dtype)
    for i in range(ranks.size):
        event = Dense(shift(values, i * state.slots), state.slots)
        ranks[i] = _take(state, rules, event, labels[i], learning[i])


@compiled
def run_by_margin_sparse(block, rules_block, starts, slots, values, labels, ranks, learning):
    """`run_by_margin` for the rows of a CSR matrix with ascending slots."""
    state, rules = open_state(block), open_rules(rules_block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    for i in range(ranks.size):
        event = Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])
        ranks[i] = _take(state, rules, event, labels[i], learning[i])


@compiled
def learn_row_by_margin(block, rules_block, label, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _take(state, open_rules(rules_block), Dense(state.row, state.slots), label, True)
    return True


@inlined
def _take_pair(state, rules, event, magnitude):
    """Move the chosen members that have the preferred item ahead by less than `magnitude`, or, in a tie, have one ahead."""
    n_chosen = choose(state, get(state.sizes, EVENTS))
    score(state, event, state.chosen, n_chosen, False)
    size, n_short, total = np.float64(squares(event)), 0, 0.0
    for i in range(n_chosen):
        score_ = np.float64(get(state.scores, i))
        if size > 0.0 and (score_ < magnitude or (magnitude == 0.0 and score_ != 0.0)):
            j = np.int64(get(state.chosen, i))
            total += move_on_pair(state, rules, event, j, score_, magnitude, size, _rounds(state))
            n_short += 1
    _end_round(state, rules, event, n_short, total)


@compiled
def learn_pair_by_margin(block, rules_block, magnitude, bound):
    """Learn the pair whose difference is in the section `row`; False, and nothing learned, beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _take_pair(state, open_rules(rules_block), Dense(state.row, state.slots), magnitude)
    return True


@inlined
def _lead(state, preferred, other):
    """By how much the preferred item is ahead."""
    merit = merit_of(state)
    return standing(state, preferred, merit) - standing(state, other, merit)


@compiled
def run_pairs_by_margin(
    block, rules_block, rows, others, scratch, magnitudes, ahead, shares, learning
):
    """Learn the pairs of dense rows, or only say what is expected of them; as `run_pairs`."""
    state, rules = open_state(block), open_rules(rules_block)
    first, second = pointer(rows, 0, np.float64), pointer(others, 0, np.float64)
    room, slots = pointer(scratch, 0, block.dtype), state.slots
    for i in range(magnitudes.size):
        preferred, other = shift(first, i * slots), shift(second, i * slots)
        if ahead.size > 0:
            one = Dense(rounded(room, preferred, slots), slots)
            ahead[i] = _lead(state, one, Dense(rounded(shift(room, slots), other, slots), slots))
        write_difference(state.row, preferred, other, slots)
        difference = Dense(state.row, slots)
        if shares.size > 0:
            shares[i] = share_ahead(state, difference, merit_of(state))
        if learning:
            _take_pair(state, rules, difference, magnitudes[i])


@inlined
def _entries(starts, slots, values, i):
    """A row of a CSR matrix as an event."""
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, values.dtype)
    return Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])


@compiled
def run_pairs_by_margin_sparse(
    block,
    rules_block,
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
    shares,
    learning,
):
    """`run_pairs_by_margin` for the rows of CSR matrices; the third of them holds the differences."""
    state, rules = open_state(block), open_rules(rules_block)
    for i in range(magnitudes.size):
        if ahead.size > 0:
            preferred = _entries(starts, slots, values, i)
            ahead[i] = _lead(state, preferred, _entries(starts_2, slots_2, values_2, i))
        difference = _entries(starts_3, slots_3, values_3, i)
        if shares.size > 0:
            shares[i] = share_ahead(state, difference, merit_of(state))
        if learning:
            _take_pair(state, rules, difference, magnitudes[i])
