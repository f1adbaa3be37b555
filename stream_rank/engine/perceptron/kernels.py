"""A family of members over the kernel values of a support set.

A kernel learner's weights are coefficients of support vectors, and its features are kernel
values. The support set is one for all members: an event costs one row of kernel values,
whatever the number of members. An event joins it when at least one member was wrong. When
`budget` vectors are kept, the oldest is dropped, with its coefficient in every member and in the averaged rule; or, if events are
*merged*, the set stays as it is, and the vector nearest to the event takes over its coefficient, `K(x, z) / K(z, z)` of it: the part of the event that is
along that vector. Only an event that is far from all takes the place of the oldest, whose coefficients go to the vector nearest to it.

Cost of an event: O(budget * d) for the row, then what the family costs with `budget` features.
"""

import numpy as np

from stream_rank.engine.events import Dense, Expansion, add
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pairs import towards_even
from stream_rank.engine.perceptron.family import ask, merit_of
from stream_rank.engine.perceptron.members import choose, consider, find_wrong, learn, score
from stream_rank.engine.perceptron.pairs import share_ahead, standing
from stream_rank.engine.perceptron.state import AVERAGED, EVENTS, LASTING, UPDATES, open_state
from stream_rank.engine.perceptron.widths import observe
from stream_rank.engine.pointers import as_element, get, pointer, put, shift
from stream_rank.engine.sums import dot
from stream_rank.engine.support import (
    BUDGET,
    OLDEST,
    USED,
    evaluate,
    kernel_value,
    open_support,
    take_slot,
    write_vector,
)

__all__ = [
    *(
        "distance",
        "hand_over",
        "has_room",
        "join",
        "merge_pair",
        "move_of",
        "nearest_to",
        "nowhere",
    ),
    *("opinions_kernel", "run_kernel", "run_pairs_kernel", "shift_by"),
]

FAR = 0.018
"""The square of the cosine of two usual events of a Gaussian kernel whose width follows the stream, which are two widths apart: exp(-4)."""


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


@inlined
def has_room(support, count):
    """Whether so many vectors can join, and none has to go."""
    return get(support.sizes, USED) + count <= get(support.sizes, BUDGET)


@inlined
def nearest_to(support, row, more, own):
    """The vector nearest to an event in direction, and how much of the event is along it.

    The event's kernel values are those in `row` and `more` times those in the other row, `own` is that with itself. No vector is near, and the
    share 0, if the square of the cosine is at most `FAR`.
    """
    best, nearest, share = FAR * own, 0, 0.0
    for i in range(get(support.sizes, USED)):
        square = get(support.squares, i)
        size = kernel_value(support, square, square, square)
        value = np.float64(get(row, i)) + more * np.float64(get(support.other_row, i))
        along = value / size
        if along * value > best:
            best, nearest, share = along * value, i, along
    return nearest, share


@inlined
def hand_over(state, support):
    """Let the vector nearest to the oldest take over its coefficients, which is the next to go; overwrites the other row."""
    oldest = get(support.sizes, OLDEST)
    square = get(support.squares, oldest)
    evaluate(support, shift(support.vectors, oldest * support.features), square, support.other_row)
    put(support.other_row, oldest, as_element(support.other_row, 0.0))
    own = kernel_value(support, square, square, square)
    near, share = nearest_to(support, support.other_row, 0.0, own)
    if share != 0.0:
        for j in range(state.n_members):
            row = shift(state.weights, j * state.slots)
            part = as_element(row, share * np.float64(get(row, oldest)))
            put(row, near, get(row, near) + part)
        put(state.mean, near, get(state.mean, near) + share * get(state.mean, oldest))


@inlined
def nowhere(support, count):
    """A change of no coefficient yet, in the other row."""
    for i in range(count):
        put(support.other_row, i, as_element(support.other_row, 0.0))
    return Dense(support.other_row, count)


@inlined
def shift_by(change, slot, share):
    """Let a change have so much more of a vector."""
    put(
        change.values, slot, as_element(change.values, np.float64(get(change.values, slot)) + share)
    )


@compiled
def run_kernel(block, support_block, rows, squares, labels, ranks, learning, merging):
    """Predict the ranks of dense rows with their squares, each before it is learned if its entry of `learning` says so."""
    state, support = open_state(block), open_support(support_block)
    for i in range(ranks.size):
        values = shift(pointer(rows, 0, block.dtype), i * support.features)
        count = evaluate(support, values, squares[i], support.row)
        rank, n_members = consider(state, Expansion(support.row, count, 0), learning[i], False)
        ranks[i] = rank
        if learning[i]:
            n_wrong = find_wrong(state, labels[i], n_members)
            near, share = 0, 0.0
            if n_wrong > 0 and merging and not has_room(support, 1):
                own = kernel_value(support, squares[i], squares[i], squares[i])
                near, share = nearest_to(support, support.row, 0.0, own)
            if share != 0.0:
                change = nowhere(support, count)
                shift_by(change, near, share)
                learn(state, change, labels[i], n_wrong)
            else:
                if n_wrong > 0 and merging and not has_room(support, 1):
                    hand_over(state, support)
                slot = join(state, support, values, squares[i]) if n_wrong > 0 else 0
                learn(state, Expansion(support.row, count, slot), labels[i], n_wrong)
            observe(support, squares[i])


@compiled
def opinions_kernel(block, support_block, rows, squares, shares, scores):
    """For dense rows with their squares: each rank's share of the votes, and the averaged rule's score."""
    state, support = open_state(block), open_support(support_block)
    for i in range(scores.size):
        values = shift(pointer(rows, 0, block.dtype), i * support.features)
        count = evaluate(support, values, squares[i], support.row)
        scores[i] = ask(state, Expansion(support.row, count, 0), shares[i])


@inlined
def distance(support, first, second, squares):
    """The squared distance of two vectors in the space of the kernel."""
    product = np.float64(dot(first, second, support.features))
    one, two = squares
    between = kernel_value(support, product, one, two)
    return (
        kernel_value(support, one, one, one) + kernel_value(support, two, two, two) - 2.0 * between
    )


@inlined
def move_of(score_, magnitude, size):
    """The step of a member along a pair's difference, of squared length `size`; 0 if it has it right."""
    if magnitude == 0.0:
        return towards_even(score_, size)
    return magnitude if score_ <= 0.0 else 0.0


@inlined
def merge_pair(support, squares, count, merging):
    """Whether both items of a pair are near enough to vectors that are kept, where there is no room; and the change that has both.

    The row has the difference of their kernel values, the other row those of the second.
    """
    one, share, two, other_share = 0, 0.0, 0, 0.0
    if merging and not has_room(support, 2):
        own = kernel_value(support, squares[1], squares[1], squares[1])
        two, other_share = nearest_to(support, support.other_row, 0.0, own)
        own = kernel_value(support, squares[0], squares[0], squares[0])
        one, share = nearest_to(support, support.row, 1.0, own)
    change = Dense(support.other_row, count)
    merged = share != 0.0 and other_share != 0.0
    if merged:
        change = nowhere(support, count)
        shift_by(change, one, share)
        shift_by(change, two, -other_share)
    return merged, change


@inlined
def _take_pair(state, support, count, preferred, other, squares, magnitude, merging):
    """Move the chosen members that misorder a pair, whose difference is in the support set's row."""
    number = get(state.sizes, EVENTS)
    n_chosen = choose(state, number)
    score(state, Expansion(support.row, count, 0), state.chosen, n_chosen, False)
    size = distance(support, preferred, other, squares) if magnitude == 0.0 else 0.0
    n_wrong, total = 0, 0.0
    for i in range(n_chosen):
        factor = move_of(np.float64(get(state.scores, i)), magnitude, size)
        put(state.scores, n_wrong, factor)
        put(state.wrong, n_wrong, get(state.chosen, i))
        n_wrong += factor != 0.0
        total += factor
    if n_wrong > 0:
        rounds = np.float64(number) if state.rule == LASTING else 1.0
        share = rounds * total if magnitude == 0.0 else rounds * n_wrong * magnitude
        merged, change = merge_pair(support, squares, count, merging)
        if merged:
            for i in range(n_wrong):
                row = shift(state.weights, np.int64(get(state.wrong, i)) * state.slots)
                add(row, as_element(row, get(state.scores, i)), change)
            if state.rule == AVERAGED or state.rule == LASTING:
                add(state.mean, share, change)
        for which in range(0 if merged else 2):
            sign = 1.0 if which == 0 else -1.0
            if merging and not has_room(support, 1):
                hand_over(state, support)
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
    merging,
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
        _take_pair(state, support, count, preferred, other, both, magnitudes[i], merging)
        observe(support, squares[i])
        observe(support, other_squares[i])
