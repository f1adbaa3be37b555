"""What Python calls to teach and to ask a family of PRank members.

Events come as rows of a matrix, as rows of a CSR matrix with ascending slots, or as the section
`row` of the memory, which spares a single event the handing over of an array; so does the section
`few` an event that has few of the features.
"""

import numpy as np

from stream_rank.engine.events import Dense, Sparse, add, bounded, squares
from stream_rank.engine.few import few_entries
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pairs import towards_even
from stream_rank.engine.perceptron.members import (
    averaged_rank,
    choose,
    reached,
    score,
    take,
    utility,
)
from stream_rank.engine.perceptron.presence import average
from stream_rank.engine.perceptron.state import (
    AVERAGED,
    EVENTS,
    FEW,
    GROUP,
    LASTING,
    UPDATES,
    WEIGHTED,
    narrowed,
    open_state,
)
from stream_rank.engine.pointers import as_element, get, pointer, prefetch, put, shift
from stream_rank.engine.sums import lanes_of

__all__ = [
    "ask",
    "learn_pair",
    "learn_row",
    "mean_score",
    "merit_of",
    "opinions",
    "opinions_sparse",
    "predict_row",
    "run",
    "run_sparse",
    "take_few",
    "take_pair",
]

_NEAR, _AHEAD = 16384, 8
"""The weights of so many features are in the second cache anyway; those of others are asked for so many rows before their event."""


@compiled
def run(block, rows, labels, ranks, learning):
    """Predict the ranks of dense rows, each before it is learned if its entry of `learning` says so."""
    state = open_state(block)
    values, answers = pointer(rows, 0, block.dtype), pointer(labels, 0, np.int64)
    lanes = lanes_of(block.dtype.type(0))
    if state.slots == lanes and state.edges == GROUP and state.n_members >= GROUP:
        narrow = narrowed(state, lanes, GROUP)
        for i in range(ranks.size):
            event = Dense(shift(values, i * lanes), lanes)
            ranks[i] = take(narrow, event, get(answers, i), learning[i], True)
    else:
        for i in range(ranks.size):
            event = Dense(shift(values, i * state.slots), state.slots)
            ranks[i] = take(state, event, get(answers, i), learning[i], False)


@compiled
def run_sparse(block, starts, slots, values, labels, ranks, learning):
    """`run` for the rows of a CSR matrix. Where there are more weights than a cache holds, they are asked for some rows ahead."""
    state = open_state(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    for i in range(ranks.size):
        ahead = i + _AHEAD
        # an event that is learned after it was predicted has been asked for
        if (
            state.slots > _NEAR
            and ahead < ranks.size
            and not (learning[ahead] and not learning[ahead - 1])
        ):
            for entry in range(starts[ahead], starts[ahead + 1]):
                prefetch(state.mean, get(where, entry))
                prefetch(state.weights, get(where, entry))  # of the first member
        event = Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])
        ranks[i] = take(state, event, labels[i], learning[i], False)


@compiled
def learn_row(block, label, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    take(state, Dense(state.row, state.slots), label, True, False)
    return True


@compiled
def predict_row(block, bound):
    """The rank of the event in the section `row`; 0 if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return 0
    return take(state, Dense(state.row, state.slots), 0, False, False)


@compiled
def take_few(block, count, label, bound, learning):
    """The rank of the event in the section `few`, which is learned if `learning`; 0, and nothing learned, beyond `bound`."""
    event = few_entries(block, FEW, count, bound)
    return 0 if event.count < 0 else take(open_state(block), event, label, learning, False)


@inlined
def take_pair(state, event, magnitude, narrow, scored):
    """Move the chosen members that misorder a pair, whose difference is the event, by `magnitude` times it.

    If it is a tie, of magnitude 0, all members with a side ahead move towards even. `scored` says that all members were
    scored before, and that `scores` has what each one said.
    """
    number = get(state.sizes, EVENTS)
    n_chosen = choose(state, number)
    if scored:
        for i in range(n_chosen):  # ascending, so none is written over before it was read
            put(state.scores, i, get(state.scores, np.int64(get(state.chosen, i))))
    else:
        score(state, event, state.chosen, n_chosen, narrow)
    if magnitude == 0.0:
        _take_tie(state, event, n_chosen)
    else:
        _take_decided(state, event, magnitude, n_chosen)
    put(state.sizes, EVENTS, number + 1)


@inlined
def _take_decided(state, event, magnitude, n_chosen):
    """Move the chosen members that misorder a pair."""
    n_wrong = 0
    for i in range(n_chosen):  # listed without a branch on each, which would be mispredicted
        put(state.wrong, n_wrong, get(state.chosen, i))
        n_wrong += get(state.scores, i) <= 0.0
    for i in range(n_wrong):
        row = shift(state.weights, np.int64(get(state.wrong, i)) * state.slots)
        add(row, as_element(state.weights, magnitude), event)
    average(state, event, n_wrong * magnitude)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + n_wrong)


@inlined
def _take_tie(state, event, n_chosen):
    """Move the chosen members that have a side of a tie ahead."""
    size, n_wrong, total = np.float64(squares(event)), 0, 0.0
    for i in range(n_chosen):
        factor = towards_even(np.float64(get(state.scores, i)), size)
        if factor != 0.0:
            row = shift(state.weights, np.int64(get(state.chosen, i)) * state.slots)
            add(row, as_element(state.weights, factor), event)
            n_wrong += 1
            total += factor
    average(state, event, total)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + n_wrong)


@compiled
def learn_pair(block, magnitude, bound):
    """Learn the pair whose difference is in the section `row`; False, and nothing learned, beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    take_pair(state, Dense(state.row, state.slots), magnitude, False, False)
    return True


@inlined
def merit_of(state):
    """The correct ranks of all members, where votes are weighted by them; else 0."""
    merit = 0
    if state.rule == WEIGHTED:
        for j in range(state.n_members):
            merit += get(state.correct, j)
    return merit


@inlined
def mean_score(state, merit):
    """The mean of all members' scores, each weighted by correct ranks if there were any."""
    score_ = 0.0
    for j in range(state.n_members):
        ballots = get(state.correct, j) / merit if merit > 0 else 1.0 / state.n_members
        score_ += ballots * get(state.scores, j)
    return score_


@inlined
def ask(state, event, shares):
    """Set each rank's share of the members' votes, and return the averaged rule's score."""
    if state.rule >= LASTING:  # its only member does not speak for it
        shares[:] = 0.0
        shares[averaged_rank(state, event) - 1] = 1.0
        return utility(state, event) / max(1, get(state.sizes, EVENTS))
    score(state, event, state.everybody, state.n_members, False)
    merit = merit_of(state)
    shares[:] = 0.0
    for j in range(state.n_members):
        rank = reached(shift(state.thresholds, j * state.edges), get(state.scores, j), state.edges)
        shares[rank - 1] += get(state.correct, j) if merit > 0 else 1
    shares /= merit if merit > 0 else state.n_members  # last, or rounding makes a share more than 1
    if state.rule == AVERAGED:
        return utility(state, event) / state.n_members
    return mean_score(state, merit)


@compiled
def opinions(block, rows, shares, scores):
    """For dense rows: each rank's share of the votes, and the averaged rule's score."""
    state = open_state(block)
    values = pointer(rows, 0, block.dtype)
    for i in range(scores.size):
        event = Dense(shift(values, i * state.slots), state.slots)
        scores[i] = ask(state, event, shares[i])


@compiled
def opinions_sparse(block, starts, slots, values, shares, scores):
    """`opinions` for the rows of a CSR matrix."""
    state = open_state(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    for i in range(scores.size):
        event = Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])
        scores[i] = ask(state, event, shares[i])
