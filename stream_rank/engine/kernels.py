"""Kernel values between an event and the support set, and the family of members over them.

A kernel learner's weights are coefficients of support vectors, and its features are kernel
values. The support set is one for all members: an event costs one row of kernel values,
whatever the number of members. An event joins it when at least one member was wrong. When
`budget` vectors are kept, the oldest is dropped, with its coefficient in every member and in the averaged rule.

Cost of an event: O(budget * d) for the row, then what the family costs with `budget` features.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.events import Expansion
from stream_rank.engine.family import ask
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import as_element, get, pointer, put, shift
from stream_rank.engine.members import choose, consider, find_wrong, learn, score
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.state import AVERAGED, EVENTS, LASTING, UPDATES, open_state
from stream_rank.engine.sums import dot, lanes_of, squares_sparse

__all__ = [
    "GAUSSIAN",
    "POLYNOMIAL",
    "lay_out",
    "learn_pair_kernel",
    "opinions_kernel",
    "run_kernel",
    "support_layout",
]

# Sections of the support set's memory.
SIZES, PARAMETERS, VECTORS, SQUARES, ROW, OTHER_ROW = range(6)

# Entries of SIZES: the kernel, the most vectors, how many there are, the next to be dropped, and the features.
KIND, BUDGET, USED, OLDEST, FEATURES = range(5)

POLYNOMIAL, GAUSSIAN = range(2)
"""`(x.z + offset) ** degree`, and `exp(-|x - z|**2 / (2 * width**2))`."""


def support_layout(budget: int, n_features: int, dtype: str) -> Layout:
    """The sections of a support set of at most `budget` vectors."""
    features, slots = padded(n_features, dtype), padded(budget, dtype)
    return {
        "sizes": Section("int64", (5,)),
        "parameters": Section("float64", (2,)),
        "vectors": Section(dtype, (budget, features)),
        "squares": Section("float64", (budget,)),
        "row": Section(dtype, (slots,), scratch=True),
        "other_row": Section(dtype, (slots,), scratch=True),
    }


class Support(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    parameters: Any
    vectors: Any
    squares: Any
    row: Any
    other_row: Any
    features: Any


@inlined
def open_support(block):
    """The support set inside a memory block."""
    sizes = pointer(block, place(block, SIZES), np.int64)
    return Support(
        sizes,
        pointer(block, place(block, PARAMETERS), np.float64),
        pointer(block, place(block, VECTORS), block.dtype),
        pointer(block, place(block, SQUARES), np.float64),
        pointer(block, place(block, ROW), block.dtype),
        pointer(block, place(block, OTHER_ROW), block.dtype),
        get(sizes, FEATURES),
    )


@inlined
def power(base, exponent):
    """`base ** exponent` by squaring, so that every machine gives the same bits."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@inlined
def evaluate(support, values, square, row):
    """Write the kernel values of an event and every support vector; return how many, in whole vectors.

    `square` is the event's product with itself, which counts features that no support vector has.
    """
    used = get(support.sizes, USED)
    first, second = get(support.parameters, 0), get(support.parameters, 1)
    polynomial = get(support.sizes, KIND) == POLYNOMIAL
    for i in range(used):
        vector = shift(support.vectors, i * support.features)
        product = np.float64(dot(vector, values, support.features))
        if polynomial:
            value = power(product + first, np.int64(second))
        else:
            distance = max(0.0, square + get(support.squares, i) - 2.0 * product)
            value = np.exp(-distance / (2.0 * first * first))
        put(row, i, as_element(row, value))
    lanes = lanes_of(get(row, 0))
    return (used + lanes - 1) & -lanes


@inlined
def join(state, support, values, square):
    """Put an event into a free slot, or into that of the oldest, whose coefficients are forgotten; return the slot."""
    slot = get(support.sizes, USED)
    if slot < get(support.sizes, BUDGET):
        put(support.sizes, USED, slot + 1)
    else:
        slot = get(support.sizes, OLDEST)
        put(support.sizes, OLDEST, (slot + 1) % get(support.sizes, BUDGET))
        for j in range(state.n_members):
            put(shift(state.weights, j * state.slots), slot, as_element(state.weights, 0.0))
        put(state.mean, slot, 0.0)
    for i in range(support.features):
        put(support.vectors, slot * support.features + i, get(values, i))
    put(support.squares, slot, square)
    return slot


@compiled
def lay_out(starts, slots, values, rows, squares):
    """Write sparse events out as rows, and the product of each with itself; slots beyond the row count in it only."""
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, values.dtype)
    n_slots = rows.shape[1]
    rows[:] = 0
    for i in range(squares.size):
        count = starts[i + 1] - starts[i]
        squares[i] = squares_sparse(shift(where, starts[i]), shift(what, starts[i]), count)
        for at in range(starts[i], starts[i + 1]):
            if slots[at] < n_slots:
                rows[i, slots[at]] = values[at]


@compiled
def run_kernel(block, support_block, rows, squares, labels, ranks, learning):
    """Predict the ranks of dense rows with their squares, each before it is learned if `learning`."""
    state, support = open_state(block), open_support(support_block)
    for i in range(ranks.size):
        values = shift(pointer(rows, 0, block.dtype), i * support.features)
        count = evaluate(support, values, squares[i], support.row)
        rank, n_members = consider(state, Expansion(support.row, count, 0), learning, False)
        ranks[i] = rank
        if learning:
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


@compiled
def learn_pair_kernel(block, support_block, pair, squares, magnitude):
    """Learn that the first of two rows is preferred to the second: both join the support set."""
    state, support = open_state(block), open_support(support_block)
    preferred = pointer(pair, 0, block.dtype)
    other = shift(preferred, support.features)
    evaluate(support, preferred, squares[0], support.row)
    count = evaluate(support, other, squares[1], support.other_row)
    for i in range(count):
        put(support.row, i, get(support.row, i) - get(support.other_row, i))
    number = get(state.sizes, EVENTS)
    n_chosen = choose(state, number)
    score(state, Expansion(support.row, count, 0), state.chosen, n_chosen, False)
    n_wrong = 0
    for i in range(n_chosen):
        put(state.wrong, n_wrong, get(state.chosen, i))
        n_wrong += get(state.scores, i) <= 0.0
    if n_wrong > 0:
        rounds = np.float64(number) if state.rule == LASTING else 1.0
        for which in range(2):
            factor = magnitude if which == 0 else -magnitude
            slot = join(state, support, preferred if which == 0 else other, squares[which])
            for i in range(n_wrong):
                row = shift(state.weights, np.int64(get(state.wrong, i)) * state.slots)
                put(row, slot, as_element(row, factor))
            if state.rule == AVERAGED or state.rule == LASTING:
                put(state.mean, slot, rounds * n_wrong * factor)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + n_wrong)
    put(state.sizes, EVENTS, number + 1)
