"""The memory of a belief about users, items, features and thresholds: its sections, and how compiled code sees them.

Every feature has a line of numbers: mean and variance of its offset, of a mood, a scale and an agreement, which users alone
have, and then the means and the variances of its traits. Nothing is known of how two of them vary together.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.few import few_section
from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import as_element, get, pointer, put, shift

__all__ = [
    *(
        "AGREEMENT",
        "DRIFT",
        "EVENTS",
        "EVENT_SIDE",
        "FEW",
        "FIRST_TRAIT",
        "GROUPS",
        "ITEM",
        "ITEM_OFFSET",
    ),
    *("ITEM_SIDE", "ITEM_TRAIT", "KNOWN", "MIDDLE", "MIDDLE_VARIANCE", "MOOD", "MOOD_SPREAD"),
    *(
        "OFFSET",
        "RANKS",
        "SCALE",
        "SHARPNESS",
        "SLOTS",
        "SQUARES",
        "TIE",
        "TIE_VARIANCE",
        "TOLD",
        "TRAITS",
        "USER",
    ),
    *("USER_AGREEMENT", "USER_OFFSET", "USER_SCALE", "USER_SIDE", "USER_TRAIT", "WIDTH", "Belief"),
    *(
        "View",
        "layout",
        "line",
        "mean_of",
        "open_belief",
        "set_mean",
        "set_variance",
        "variance_of",
    ),
]

FEW = 11
"""The section of a single event's entries."""
# Entries of the section `sizes`.
SLOTS, EVENTS, KNOWN, RANKS, MIDDLE, TRAITS, WIDTH = range(7)
# Roles: of the event, a user's name, what is said of users, an item's name, what is said of items.
EVENT_SIDE, USER, USER_SIDE, ITEM, ITEM_SIDE = range(5)
# Entries of the section `parameters`; there are three sums of squares, of what is said of events, users and items.
DRIFT, MOOD_SPREAD, MIDDLE_VARIANCE, TIE, TIE_VARIANCE, SHARPNESS, TOLD, SQUARES = range(8)
"""Of probabilities: the logarithm of their sharpness, and how much was told of it."""
_PARAMETERS = SQUARES + 3
# Groups of parameters whose prior variance is that of all users or items.
USER_OFFSET, ITEM_OFFSET, USER_TRAIT, ITEM_TRAIT, USER_SCALE, USER_AGREEMENT = range(6)
GROUPS = 6
# Places in a feature's line; the variance is behind the mean.
OFFSET, MOOD, SCALE, AGREEMENT, FIRST_TRAIT = range(0, 10, 2)
_VIEWS = 4
"""Vectors of an event's view: both sides' traits, and their variances."""


def layout(dtype: str, n_slots: int, n_ranks: int, n_traits: int) -> Layout:
    """The sections for so many features, ranks and traits."""
    slots, edges = padded(n_slots, np.float64), padded(max(2, n_ranks), np.float64)
    wide = padded(n_traits, np.float64)
    return {
        "sizes": Section("int64", (7,), own=(SLOTS, KNOWN, RANKS, TRAITS, WIDTH)),
        "parameters": Section("float64", (_PARAMETERS,), own=(DRIFT,)),
        "population": Section("float64", (3, GROUPS), own=(2,)),
        "thresholds": Section("float64", (edges,)),
        "gap_variances": Section("float64", (edges,)),
        "roles": Section("int64", (slots,)),
        "learned": Section("int64", (slots,)),
        "beliefs": Section(dtype, (slots, FIRST_TRAIT + 2 * n_traits)),
        "row": Section(dtype, (slots,), scratch=True),
        "entries": Section("float64", (4, slots), scratch=True),
        "scratch": Section("float64", (2 * _VIEWS * wide + 4 * edges,), scratch=True),
        "few": few_section(),
    }


class View(NamedTuple):
    """What an event says of its user and its item, and what is believed of them: traits and their variances."""

    user: Any
    item: Any
    user_spread: Any
    item_spread: Any


class Belief(NamedTuple):
    """The sections as pointers, and the sizes that loops need."""

    sizes: Any
    parameters: Any
    population: Any
    thresholds: Any
    gap_variances: Any
    roles: Any
    learned: Any
    beliefs: Any
    row: Any
    slots_met: Any
    row_slots: Any
    firsts: Any
    seconds: Any
    sides: View
    other_sides: View
    by_place: Any
    by_gap: Any
    slots: Any
    width: Any
    n_traits: Any
    wide: Any
    n_ranks: Any


@inlined
def _view(start, wide):
    return View(start, shift(start, wide), shift(start, 2 * wide), shift(start, 3 * wide))


@inlined
def open_belief(block):
    """The belief inside a memory block."""
    sizes = pointer(block, place(block, 0), np.int64)
    slots, n_ranks, n_traits = get(sizes, SLOTS), get(sizes, RANKS), get(sizes, TRAITS)
    wide, edges = (n_traits + 7) & -8, (max(2, n_ranks) + 7) & -8
    entries = place(block, 9)
    firsts = pointer(block, entries, np.float64)
    scratch = pointer(block, place(block, 10), np.float64)
    after = shift(scratch, 2 * _VIEWS * wide)
    return Belief(
        sizes,
        pointer(block, place(block, 1), np.float64),
        pointer(block, place(block, 2), np.float64),
        pointer(block, place(block, 3), np.float64),
        pointer(block, place(block, 4), np.float64),
        pointer(block, place(block, 5), np.int64),
        pointer(block, place(block, 6), np.int64),
        pointer(block, place(block, 7), block.dtype),
        pointer(block, place(block, 8), block.dtype),
        pointer(block, entries + 16 * slots, np.int64),
        pointer(block, entries + 24 * slots, np.int64),
        firsts,
        shift(firsts, slots),
        _view(scratch, wide),
        _view(shift(scratch, _VIEWS * wide), wide),
        after,
        shift(after, edges),
        slots,
        get(sizes, WIDTH),
        n_traits,
        wide,
        n_ranks,
    )


@inlined
def line(belief, slot):
    """The numbers of a feature."""
    return shift(belief.beliefs, slot * belief.width)


@inlined
def mean_of(numbers, which):
    """A mean, in double precision."""
    return np.float64(get(numbers, which))


@inlined
def variance_of(numbers, which):
    """The variance beside it."""
    return np.float64(get(numbers, which + 1))


@inlined
def set_mean(numbers, which, value):
    """Store a mean."""
    put(numbers, which, as_element(numbers, value))


@inlined
def set_variance(numbers, which, value):
    """Store the variance beside it."""
    put(numbers, which + 1, as_element(numbers, value))
