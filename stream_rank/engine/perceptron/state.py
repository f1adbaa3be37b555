"""The memory of a family of PRank members: what its sections are, and how compiled code sees them."""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.coins import WORD
from stream_rank.engine.few import few_section
from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer

__all__ = [
    "AVERAGED",
    "EVENTS",
    "FEW",
    "GROUP",
    "KEY",
    "LASTING",
    "MEMBERS",
    "PRESENT",
    "RANKS",
    "RATE",
    "RULE",
    "SLOTS",
    "SUMS",
    "UPDATES",
    "VOTED",
    "WEIGHTED",
    "State",
    "layout",
    "open_state",
]

# Sections of the memory, by number; `layout` lists them in this order.
SIZES, THRESHOLDS, MEAN_THRESHOLDS, MEAN, WEIGHTS, CORRECT = range(6)
COINS, CHOSEN, EVERYBODY, SCORES, WRONG, STEPS, ROW = range(6, 13)
LATE, CLOCKS, LAG, FEW = range(13, 17)

# Entries of the section SIZES.
MEMBERS, SLOTS, RANKS, EVENTS, UPDATES, KEY, RATE, RULE = range(8)

# How the members' opinions become one rank.
AVERAGED, VOTED, WEIGHTED, LASTING, PRESENT = range(5)
"""The mean of the members' weights; their mean vote; the same weighted by correct ranks; the mean over all
rounds of the only member's weights; and the same, but of features that came late over the rounds that they were in."""

GROUP = 8
"""Numbers in a vector of doubles: members scored together, thresholds compared together."""

SUMS = 4
"""Independent partial sums of steps: with one sum, each addition would wait for the store before it."""


def layout(n_members: int, n_slots: int, n_ranks: int, dtype: str, rule: int) -> Layout:
    """The sections for `n_members` members with `n_slots` features (or support vectors)."""
    slots, edges = padded(n_slots, dtype), padded(n_ranks + 1, "float64")
    listed = padded(n_members, "float64") + GROUP
    present = rule == PRESENT  # nothing is kept for what other rules do not need
    clocks = Section("float64", (slots if present else 0,), scratch=not present)
    return {
        "sizes": Section("int64", (8,), own=(MEMBERS, SLOTS, RANKS, RULE)),
        "thresholds": Section("float64", (n_members, edges), infinite=True),
        "mean_thresholds": Section("float64", (edges,), infinite=True),
        "mean": Section("float64", (slots,)),
        "weights": Section(dtype, (n_members, slots)),
        "correct": Section("int64", (n_members,)),
        "coins": Section("uint64", (-(-n_members // WORD),), scratch=True),
        "chosen": Section("uint32", (listed,), scratch=True),
        "everybody": Section("uint32", (listed,), own=None),
        "scores": Section("float64", (listed,), scratch=True),
        "wrong": Section("uint32", (n_members,), scratch=True),
        "steps": Section("float64", (SUMS, edges), scratch=True),
        "row": Section(dtype, (slots,), scratch=True),
        "late": Section("int64", (int(present),), scratch=not present),
        "clocks": clocks,
        "lag": clocks,
        "few": few_section(),
    }


class State(NamedTuple):
    """The sections as pointers, and the sizes that loops need."""

    sizes: Any
    thresholds: Any
    mean_thresholds: Any
    mean: Any
    weights: Any
    correct: Any
    coins: Any
    chosen: Any
    everybody: Any
    scores: Any
    wrong: Any
    steps: Any
    row: Any
    late: Any
    clocks: Any
    lag: Any
    n_members: Any
    slots: Any
    n_ranks: Any
    edges: Any
    rule: Any


@inlined
def narrowed(state, slots, edges):
    """The same state, its rows' lengths given as constants, which the compiler turns loops over rows into one step for."""
    return State(
        state.sizes,
        state.thresholds,
        state.mean_thresholds,
        state.mean,
        state.weights,
        state.correct,
        state.coins,
        state.chosen,
        state.everybody,
        state.scores,
        state.wrong,
        state.steps,
        state.row,
        state.late,
        state.clocks,
        state.lag,
        state.n_members,
        slots,
        state.n_ranks,
        edges,
        state.rule,
    )


@inlined
def open_state(block):
    """The state inside a memory block."""
    sizes = pointer(block, place(block, SIZES), np.int64)
    n_ranks = get(sizes, RANKS)
    return State(
        sizes,
        pointer(block, place(block, THRESHOLDS), np.float64),
        pointer(block, place(block, MEAN_THRESHOLDS), np.float64),
        pointer(block, place(block, MEAN), np.float64),
        pointer(block, place(block, WEIGHTS), block.dtype),
        pointer(block, place(block, CORRECT), np.int64),
        pointer(block, place(block, COINS), np.uint64),
        pointer(block, place(block, CHOSEN), np.uint32),
        pointer(block, place(block, EVERYBODY), np.uint32),
        pointer(block, place(block, SCORES), np.float64),
        pointer(block, place(block, WRONG), np.uint32),
        pointer(block, place(block, STEPS), np.float64),
        pointer(block, place(block, ROW), block.dtype),
        pointer(block, place(block, LATE), np.int64),
        pointer(block, place(block, CLOCKS), np.float64),
        pointer(block, place(block, LAG), np.float64),
        get(sizes, MEMBERS),
        get(sizes, SLOTS),
        n_ranks,
        (n_ranks + GROUP) & -GROUP,
        get(sizes, RULE),
    )
