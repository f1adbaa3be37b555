"""Many pairs for a family of PRank members: by how much the preferred item was ahead, and then the pair is learned.

Items come as rows of doubles, for which `scratch` has room in the precision of the weights, or as CSR matrices with
ascending slots in that precision. Where `ahead` or `shares` is empty nobody asks; `shares` are of the members who have
the preferred item ahead.

Cost of a pair: what a rating costs to learn, two predictions by the averaged rule, and one by all members for `shares`.
"""

import numpy as np

from stream_rank.engine.events import Dense, Sparse
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pairs import rounded, write_difference
from stream_rank.engine.perceptron.family import mean_score, merit_of, take_pair
from stream_rank.engine.perceptron.members import score, utility
from stream_rank.engine.perceptron.state import (
    AVERAGED,
    EVENTS,
    GROUP,
    LASTING,
    narrowed,
    open_state,
)
from stream_rank.engine.perceptron.voted import take_hypothesis_pair
from stream_rank.engine.pointers import get, pointer, shift
from stream_rank.engine.sums import lanes_of

__all__ = [
    *("run_hypotheses_pairs", "run_hypotheses_pairs_sparse"),
    *("run_pairs", "run_pairs_sparse", "share_ahead", "standing"),
]


@inlined
def standing(state, event, merit):
    """The averaged rule's score of an event, as `ask` gives it; `merit` is that of all members."""
    if state.rule >= LASTING:
        return utility(state, event) / max(1, get(state.sizes, EVENTS))
    if state.rule == AVERAGED:
        return utility(state, event) / state.n_members
    score(state, event, state.everybody, state.n_members, False)
    return mean_score(state, merit)


@inlined
def _lead(state, preferred, other):
    """By how much the preferred item is ahead."""
    merit = merit_of(state)
    return standing(state, preferred, merit) - standing(state, other, merit)


@inlined
def share_ahead(state, difference, merit):
    """The share of the members' votes for the first of two items, as if there were one more member that is undecided.

    That keeps it off 0 and 1: no number of members makes sure of anything.
    """
    score(state, difference, state.everybody, state.n_members, False)
    halves = np.int64(
        0
    )  # two for each vote, one of a member who is undecided: without a branch, which would be mispredicted
    if merit > 0:
        for j in range(state.n_members):
            score_ = get(state.scores, j)
            halves += get(state.correct, j) * (np.int64(score_ >= 0.0) + np.int64(score_ > 0.0))
    else:
        for j in range(state.n_members):
            score_ = get(state.scores, j)
            halves += np.int64(score_ >= 0.0) + np.int64(score_ > 0.0)
    total = np.float64(merit) if merit > 0 else np.float64(state.n_members)
    return (0.5 * halves / total * state.n_members + 0.5) / (state.n_members + 1.0)


@compiled
def run_pairs(block, rows, others, scratch, magnitudes, ahead, shares, learning):
    """Learn the pairs of dense rows, or only say what is expected of them."""
    state = open_state(block)
    first, second = pointer(rows, 0, np.float64), pointer(others, 0, np.float64)
    room = pointer(scratch, 0, block.dtype)
    lanes, slots = lanes_of(block.dtype.type(0)), state.slots
    narrow = slots == lanes and state.edges == GROUP and state.n_members >= GROUP
    constant = narrowed(state, lanes, GROUP)
    for i in range(magnitudes.size):
        preferred, other = shift(first, i * slots), shift(second, i * slots)
        if ahead.size > 0:
            one = Dense(rounded(room, preferred, slots), slots)
            ahead[i] = _lead(state, one, Dense(rounded(shift(room, slots), other, slots), slots))
        write_difference(state.row, preferred, other, slots)
        if shares.size > 0:
            shares[i] = share_ahead(state, Dense(state.row, slots), merit_of(state))
        if not learning:
            continue
        if narrow:
            take_pair(constant, Dense(constant.row, lanes), magnitudes[i], True, shares.size > 0)
        else:
            take_pair(state, Dense(state.row, slots), magnitudes[i], False, shares.size > 0)


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
    shares,
    learning,
):
    """`run_pairs` for the rows of CSR matrices; the third of them holds the differences."""
    state = open_state(block)
    for i in range(magnitudes.size):
        if ahead.size > 0:
            preferred = _entries(starts, slots, values, i)
            ahead[i] = _lead(state, preferred, _entries(starts_2, slots_2, values_2, i))
        difference = _entries(starts_3, slots_3, values_3, i)
        if shares.size > 0:
            shares[i] = share_ahead(state, difference, merit_of(state))
        if learning:
            take_pair(state, difference, magnitudes[i], False, shares.size > 0)


@compiled
def run_hypotheses_pairs(block, rows, others, scratch, magnitudes, ahead, shares, learning):
    """`run_pairs` for hypotheses, of which one learns."""
    state = open_state(block)
    first, second = pointer(rows, 0, np.float64), pointer(others, 0, np.float64)
    room = pointer(scratch, 0, block.dtype)
    slots = state.slots
    for i in range(magnitudes.size):
        preferred, other = shift(first, i * slots), shift(second, i * slots)
        if ahead.size > 0:
            one = Dense(rounded(room, preferred, slots), slots)
            ahead[i] = _lead(state, one, Dense(rounded(shift(room, slots), other, slots), slots))
        write_difference(state.row, preferred, other, slots)
        if shares.size > 0:
            shares[i] = share_ahead(state, Dense(state.row, slots), merit_of(state))
        if not learning:
            continue
        take_hypothesis_pair(state, Dense(state.row, slots), magnitudes[i])


@compiled
def run_hypotheses_pairs_sparse(
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
    shares,
    learning,
):
    """`run_pairs_sparse` for hypotheses, of which one learns."""
    state = open_state(block)
    for i in range(magnitudes.size):
        if ahead.size > 0:
            preferred = _entries(starts, slots, values, i)
            ahead[i] = _lead(state, preferred, _entries(starts_2, slots_2, values_2, i))
        difference = _entries(starts_3, slots_3, values_3, i)
        if shares.size > 0:
            shares[i] = share_ahead(state, difference, merit_of(state))
        if learning:
            take_hypothesis_pair(state, difference, magnitudes[i])
