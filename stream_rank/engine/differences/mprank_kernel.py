"""On-line MPRank over a kernel: scores are `sum of beta(i) * K(x, x(i))`.

`beta` is `alpha` less its mean over the group: `w` is the sum of `beta(i)` times the kernel's feature vectors. The kernel's
values between all events kept are kept too (the Gram matrix), and for every group the sum of its
rows. From these follow, for an event of a group of n:

    w.x~   = sum over j of beta(j) * (K(i, j) - S(j) / n)
    |x~|^2 = K(i, i) - 2 S(i) / n + (sum of S over the group) / n**2.

A group's sums go with the events: an entry is formed anew when its slot gets a new event.

Cost of an event: one row of kernel values, O(budget * d), and O(budget) for the step and for every revisit.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.differences.duals import (
    BIAS,
    OLDEST,
    PAIR,
    REVISITS,
    ROWS,
    SECTIONS,
    USED,
    Duals,
    begin,
    change,
    cost_of,
    duals_layout,
    enter,
    leave,
    next_visit,
    open_duals,
    recount,
    row_of,
    seat,
)
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, spread, total
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import dot
from stream_rank.engine.support import (
    Support,
    evaluate,
    kernel_value,
    open_support,
    take_slot,
    write_vector,
)

__all__ = ["costs", "fill", "layout", "renew", "run", "run_pairs", "sweep"]


def layout(budget: int, n_rows: int, scaled: bool) -> Layout:
    """The sections for `budget` events and `n_rows` groups."""
    slots = padded(budget, np.float64)
    return {
        **duals_layout(budget, n_rows, scaled),
        "betas": Section("float64", (slots,)),
        "sums": Section("float64", (n_rows, slots)),
        "totals": Section("float64", (n_rows,)),
    }


class State(NamedTuple):
    """The dual variables, less their groups' means; the groups' sums of kernel values; the Gram matrix; the events."""

    duals: Duals
    betas: Any
    sums: Any
    totals: Any
    gram: Any
    support: Support
    slots: Any


@inlined
def open_state(block, support_block, gram):
    """The state inside its memories."""
    return State(
        open_duals(block),
        pointer(block, place(block, SECTIONS), np.float64),
        pointer(block, place(block, SECTIONS + 1), np.float64),
        pointer(block, place(block, SECTIONS + 2), np.float64),
        pointer(gram, 0, np.float64),
        open_support(support_block),
        gram.shape[1],
    )


@inlined
def _sum(state, row):
    return shift(state.sums, row * state.slots)


@inlined
def _gram(state, slot):
    return shift(state.gram, slot * state.slots)


@inlined
def _add_row(state, row, slot, many, used):
    """Add an event's kernel values to a group's sums, or take them away."""
    sums, values = _sum(state, row), _gram(state, slot)
    for j in range(used):
        put(sums, j, get(sums, j) + many * get(values, j))


@inlined
def _add(state, slot, many, used):
    member = get(state.duals.members, slot)
    _add_row(state, row_of(member), slot, many, used)
    if member < PAIR:
        _add_row(state, 0, slot, many, used)


@inlined
def _total(state, row):
    """The sum of a group's sums over its own events."""
    duals, sums, result = state.duals, _sum(state, row), 0.0
    for j in range(get(duals.sizes, USED)):
        if row_of(get(duals.members, j)) == row:
            result += get(sums, j)
    put(state.totals, row, result)


@inlined
def _write(state, slot, values, square):
    """Put an event's kernel values, which are in the support set's row, into the Gram matrix, and form its entries of the sums."""
    duals, support = state.duals, state.support
    used, mine = get(duals.sizes, USED), _gram(state, slot)
    put(support.row, slot, kernel_value(support, square, square, square))
    for row in range(get(duals.sizes, ROWS)):
        put(_sum(state, row), slot, 0.0)
    for j in range(used):
        value = get(support.row, j)
        put(mine, j, value)
        put(_gram(state, j), slot, value)
        member = get(duals.members, j)
        sums = _sum(state, row_of(member))
        if j != slot:
            put(sums, slot, get(sums, slot) + value)
            if member < PAIR:
                put(state.sums, slot, get(state.sums, slot) + value)
    write_vector(support, slot, values, square)


@inlined
def _centre_duals(state):
    """Betas from alphas."""
    duals = state.duals
    for j in range(get(duals.sizes, USED)):
        row = row_of(get(duals.members, j))
        mean = get(duals.alpha_sums, row) / get(duals.counts, row)
        put(state.betas, j, get(duals.alphas, j) - mean)


@inlined
def _value(state, slot):
    """`w.x~` of an event kept."""
    row = row_of(get(state.duals.members, slot))
    values, sums = _gram(state, slot), _sum(state, row)
    share, result = spread(1.0 / get(state.duals.counts, row)), spread(0.0)
    for j in range(0, (get(state.duals.sizes, USED) + 7) & -8, 8):
        distance = load(values, j, 0.0) - share * load(sums, j, 0.0)
        result = result + load(state.betas, j, 0.0) * distance
    return total(result)


@inlined
def _step(state, slot, new):
    """Step along the dual variable of an event."""
    duals = state.duals
    member, used = get(duals.members, slot), get(duals.sizes, USED)
    row = row_of(member)
    count = np.float64(get(duals.counts, row))
    square = get(_gram(state, slot), slot) - 2.0 * get(_sum(state, row), slot) / count
    square = max(0.0, square + get(state.totals, row) / (count * count))
    moved = change(duals, slot, _value(state, slot), square, new)
    share = moved / count
    for j in range(used):
        together = np.float64(get(duals.members, j) == member)
        put(state.betas, j, get(state.betas, j) - share * together)
    put(state.betas, slot, get(state.betas, slot) + moved)


@inlined
def _constant(state):
    """Let the mean prediction of the rated events be their mean label."""
    duals = state.duals
    mean = dot(state.betas, state.sums, state.slots)
    put(duals.parameters, BIAS, (get(duals.label_sums, 0) - mean) / max(1, get(duals.counts, 0)))


@inlined
def _learn(state, values, square, label, group):
    """Keep an event, step along its dual variable, and then along some earlier ones."""
    duals = state.duals
    slot, taken = seat(duals)
    take_slot(state.support)
    if taken:
        row = row_of(get(duals.members, slot))
        _add(state, slot, -1.0, get(duals.sizes, USED))
        leave(duals, slot)
        _total(state, row)
    row = row_of(group)
    if group < 0:
        begin(duals, row)
        sums = _sum(state, row)
        for j in range(state.slots):
            put(sums, j, 0.0)
    enter(duals, slot, label, group)
    _write(state, slot, values, square)
    _add(state, slot, 1.0, get(duals.sizes, USED))
    if taken and get(duals.sizes, OLDEST) == 0:
        recount(duals)
    _total(state, row)
    _centre_duals(state)
    _step(state, slot, True)
    if get(duals.sizes, USED) > 1:
        for _ in range(get(duals.sizes, REVISITS)):
            _step(state, next_visit(duals, slot), False)
    _constant(state)


@inlined
def _score(state, values, square):
    """The score of an event, whose kernel values are left in the support set's row."""
    count = evaluate(state.support, values, square, state.support.row)
    score = dot(state.betas, state.support.row, count)
    return score + get(state.duals.parameters, BIAS)


@compiled
def run(block, support_block, gram, rows, squares, labels, groups, scores, learning):
    """Predict the scores of rows with their squares, each before it is learned as one of its group if its entry of `learning` says so."""
    state = open_state(block, support_block, gram)
    for i in range(scores.size):
        values = shift(pointer(rows, 0, np.float64), i * state.support.features)
        scores[i] = _score(state, values, squares[i])
        if learning[i]:
            _learn(state, values, squares[i], labels[i], groups[i])


@compiled
def run_pairs(
    block,
    support_block,
    gram,
    rows,
    squares,
    other_rows,
    other_squares,
    magnitudes,
    groups,
    ahead,
):
    """Learn that rows are preferred to others, each pair a group of its own; where `ahead` is empty nobody asks."""
    state = open_state(block, support_block, gram)
    features = state.support.features
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, np.float64), i * features)
        other = shift(pointer(other_rows, 0, np.float64), i * features)
        behind = _score(state, other, other_squares[i]) if ahead.size > 0 else 0.0
        for which in range(2):
            values, label = (preferred, magnitudes[i]) if which == 0 else (other, 0.0)
            square = squares[i] if which == 0 else other_squares[i]
            score = _score(state, values, square)
            if which == 0 and ahead.size > 0:
                ahead[i] = score - behind
            group = groups[i] + PAIR
            _learn(state, values, square, label, -group if which == 0 else group)


@compiled
def fill(block, support_block, gram):
    """Form the Gram matrix from the events kept."""
    state = open_state(block, support_block, gram)
    support = state.support
    for i in range(get(state.duals.sizes, USED)):
        vector = shift(support.vectors, i * support.features)
        evaluate(support, vector, get(support.squares, i), _gram(state, i))


@compiled
def renew(block, support_block, gram):
    """Form the kernel values and their sums anew, after features were forgotten."""
    state = open_state(block, support_block, gram)
    duals, support = state.duals, state.support
    used = get(duals.sizes, USED)
    for i in range(used):
        vector = shift(support.vectors, i * support.features)
        evaluate(support, vector, get(support.squares, i), _gram(state, i))
    for row in range(get(duals.sizes, ROWS)):
        for j in range(used):
            put(_sum(state, row), j, 0.0)
    for slot in range(used):
        _add(state, slot, 1.0, used)
    for row in range(1, get(duals.sizes, ROWS)):
        _total(state, row)
    _constant(state)


@compiled
def sweep(block, support_block, gram):
    """Step along the dual variables of all events kept, once each."""
    state = open_state(block, support_block, gram)
    _centre_duals(state)
    for slot in range(get(state.duals.sizes, USED)):
        _step(state, slot, False)
    _constant(state)


@compiled
def costs(block, support_block, gram):
    """What is minimised, and what it cannot be below: the dual at the variables as they are."""
    state = open_state(block, support_block, gram)
    cost, bound = 0.0, 0.0
    for slot in range(get(state.duals.sizes, USED)):
        value = _value(state, slot)
        part, dual = cost_of(state.duals, slot, value)
        cost += part
        bound += dual
    return cost, bound
