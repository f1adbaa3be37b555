"""On-line MPRank's dual variables: one for each of the events kept, by group.

`alpha(i)` belongs to the constraint that ties event `i` to the middle of its group. With C the trade-off and m
events kept, the dual's slope along it is

    2 * (y~(i) - w.x~(i)) - m / C * alpha(i),

where `~` is the distance from the group's mean. A step of `1 / (2 |x~(i)|**2 + m / C)` reaches the dual's maximum
along `alpha(i)`: such steps, event after event, converge for every kernel (Gauss and Seidel's method), and
a step of twice that would go round for ever. So that is the step by default, and the longest.

Where C is not given, m / (2 C) is a multiple of the square of the mean `|x~(i)|` of the last events, so that the rule is the
same whatever the scale of the features, and an event has its share in it whether they are few and large or many and rare.

A group comes as its row, or as minus its row if what the row held before is to be forgotten. Row 0 is of
all rated events. `PAIR` is added to the rows of groups made of a preference, which are not rated.

Reference: C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, section 2.5.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Layout, Section, place
from stream_rank.engine.pointers import get, pointer, put

__all__ = [
    *("BIAS", "BUDGET", "CURSOR", "EVENTS", "OLDEST", "PAIR", "RATE", "REVISITS", "ROWS"),
    *("SECTIONS", "SLOTS", "TRADE_OFF", "USED", "Duals", "begin", "change", "cost_of", "recount"),
    *("duals_layout", "enter", "leave", "next_visit", "off_middle", "open_duals", "row_of", "seat"),
]

# Sections of the memory; those of the space follow.
SIZES, PARAMETERS, ALPHAS, LABELS, MEMBERS, COUNTS, LABEL_SUMS, ALPHA_SUMS = range(8)
SECTIONS = 8

# Entries of SIZES and of PARAMETERS.
SLOTS, EVENTS, BUDGET, USED, OLDEST, CURSOR, REVISITS, ROWS = range(8)
TRADE_OFF, RATE, BIAS, LENGTH, MEASURED = range(5)

PAIR = 1 << 40
"""Far more than there are rows."""

_LARGEST = 1e40
"""No dual variable is larger, which for features and labels up to 1e25 and C up to 1e12 it hardly would be: scores stay
finite, and so do their squares."""

_EASE = 10.0
"""By default the ridge m / (2 C) is so many times the square of the events' mean length: a step goes one part in 11 of the
way. *Measured*: at 3 a tenth more pairs of a dense ordinal set are out of order, at 30 of one-hot streams."""

_LEAST = 1e-100
"""The least ridge, as long as no event has any length."""


def duals_layout(budget: int, n_rows: int, scaled: bool) -> Layout:
    """The sections for `budget` events and `n_rows` groups, the row of all among them; `scaled` if no trade-off is given."""
    return {
        "sizes": Section(
            "int64",
            (8,),
            own=(SLOTS, BUDGET, REVISITS, ROWS),
            below={USED: budget + 1, OLDEST: budget, CURSOR: budget},
        ),
        "parameters": Section(
            "float64", (5 if scaled else 3,), infinite=True
        ),  # as the rate of no rate is
        "alphas": Section("float64", (budget,)),
        "labels": Section("float64", (budget,)),
        "members": Section("int64", (budget,)),
        "counts": Section("int64", (n_rows,)),
        "label_sums": Section("float64", (n_rows,)),
        "alpha_sums": Section("float64", (n_rows,)),
    }


class Duals(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    parameters: Any
    alphas: Any
    labels: Any
    members: Any
    counts: Any
    label_sums: Any
    alpha_sums: Any


@inlined
def open_duals(block):
    """The dual variables inside a memory block."""
    return Duals(
        pointer(block, place(block, SIZES), np.int64),
        pointer(block, place(block, PARAMETERS), np.float64),
        pointer(block, place(block, ALPHAS), np.float64),
        pointer(block, place(block, LABELS), np.float64),
        pointer(block, place(block, MEMBERS), np.int64),
        pointer(block, place(block, COUNTS), np.int64),
        pointer(block, place(block, LABEL_SUMS), np.float64),
        pointer(block, place(block, ALPHA_SUMS), np.float64),
    )


@inlined
def row_of(member):
    """The row of a group, however it came."""
    return abs(member) & (PAIR - 1)


@inlined
def seat(duals):
    """The slot for the next event, and whether an event must leave it first."""
    slot = get(duals.sizes, USED)
    if slot < get(duals.sizes, BUDGET):
        return slot, False
    return get(duals.sizes, OLDEST), True


@inlined
def _count(duals, slot, many):
    """Count the event in a slot once more, or once less, in its group and among all that are rated."""
    member, alpha = get(duals.members, slot), get(duals.alphas, slot)
    row, label = row_of(member), many * get(duals.labels, slot)
    put(duals.counts, row, get(duals.counts, row) + many)
    put(duals.label_sums, row, get(duals.label_sums, row) + label)
    put(duals.alpha_sums, row, get(duals.alpha_sums, row) + many * alpha)
    if member < PAIR:
        put(duals.counts, 0, get(duals.counts, 0) + many)
        put(duals.label_sums, 0, get(duals.label_sums, 0) + label)


@inlined
def begin(duals, row):
    """Empty a group."""
    put(duals.counts, row, 0)
    put(duals.label_sums, row, 0.0)
    put(duals.alpha_sums, row, 0.0)


@inlined
def recount(duals):
    """Form the sums of all groups anew: what was added and taken away has left its rounding in them."""
    for row in range(get(duals.sizes, ROWS)):
        begin(duals, row)
    for slot in range(get(duals.sizes, USED)):
        _count(duals, slot, 1)


@inlined
def leave(duals, slot):
    """Take an event out of its group; its slot is of no group until another enters."""
    _count(duals, slot, -1)
    put(duals.members, slot, 0)
    put(duals.sizes, OLDEST, (slot + 1) % get(duals.sizes, BUDGET))


@inlined
def enter(duals, slot, label, group):
    """Put an event into a slot and its group."""
    put(duals.alphas, slot, 0.0)
    put(duals.labels, slot, label)
    put(duals.members, slot, abs(group))
    _count(duals, slot, 1)
    put(duals.sizes, USED, max(get(duals.sizes, USED), slot + 1))
    put(duals.sizes, EVENTS, get(duals.sizes, EVENTS) + 1)


@inlined
def off_middle(duals, slot):
    """An event's label, from the middle of its group."""
    row = row_of(get(duals.members, slot))
    return get(duals.labels, slot) - get(duals.label_sums, row) / get(duals.counts, row)


@inlined
def _measure(duals, square):
    """Count an event's distance from its group's middle in the mean of the last `budget`."""
    parameters = duals.parameters
    if get(parameters, TRADE_OFF) == 0.0 and square > 0.0:
        count = min(get(parameters, MEASURED) + 1.0, np.float64(get(duals.sizes, BUDGET)))
        length = get(parameters, LENGTH)
        put(parameters, MEASURED, count)
        put(parameters, LENGTH, length + (np.sqrt(square) - length) / count)


@inlined
def _ridge(duals):
    """m / C, or what stands for it where C is not given."""
    trade_off = get(duals.parameters, TRADE_OFF)
    if trade_off == 0.0:
        length = get(duals.parameters, LENGTH)
        return max(2.0 * _EASE * length * length, _LEAST)
    return get(duals.sizes, USED) / trade_off


@inlined
def change(duals, slot, value, square, new):
    """Step along one dual variable, from `w.x~` and `|x~|**2`, for the first time if `new`; return by how much it changed."""
    if new:
        _measure(duals, square)
    alpha = get(duals.alphas, slot)
    ridge = _ridge(duals)
    rate = min(get(duals.parameters, RATE), 1.0 / (2.0 * square + ridge))
    slope = 2.0 * (off_middle(duals, slot) - value) - ridge * alpha
    new = min(max(alpha + rate * slope, -_LARGEST), _LARGEST)
    row = row_of(get(duals.members, slot))
    put(duals.alphas, slot, new)
    put(duals.alpha_sums, row, get(duals.alpha_sums, row) + (new - alpha))
    return new - alpha


@inlined
def cost_of(duals, slot, value):
    """An event's part of what is minimised, and of the dual, from `w.x~`."""
    ridge = _ridge(duals) / 2.0
    alpha, label = get(duals.alphas, slot), off_middle(duals, slot)
    cost = alpha * value + (label - value) ** 2 / ridge
    return cost, alpha * (2.0 * label - value - ridge * alpha)


@inlined
def next_visit(duals, but):
    """The next of the kept events in turn, other than `but`."""
    used = get(duals.sizes, USED)
    slot = get(duals.sizes, CURSOR) % used
    if slot == but:
        slot = (slot + 1) % used
    put(duals.sizes, CURSOR, (slot + 1) % used)
    return slot
