"""The memory of a belief about weights and thresholds: its sections, and how compiled code sees them.

Beside the weights, the belief is about *edges*: the threshold in the middle, the logarithms of the gaps from it to its
neighbours and on, and that of the width of ties between items. Thresholds therefore stay in order. The covariance of all is
`U D U'` with the weights first: of edge j, `border` has the column of `U` in the rows of weights and `corner` that in the rows
of edges. Features beyond the first so many have a variance each, which is all that is kept of them.

There may be two beliefs, the leader and a rival with another prior (`evidence.py`): the rival has the same sections behind the leader's.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.factors import Factors, factors_layout
from stream_rank.engine.few import few_section
from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer

__all__ = [
    *("DECISION", "EVENTS", "EVIDENCE", "FEATURES", "FEW", "FIRST_GAP", "FORGETTING", "MEDIAN"),
    *("MIDDLE", "MIDDLE_EDGE", "MODE", "ODDS", "PRIOR", "RANKS", "RIDING", "RIVAL", "ROW"),
    *("SLOTS", "SQUARES", "TIE", "TIE_EDGE", "WIDTH"),
    *("Belief", "layout", "n_edges", "open_any", "open_belief", "rival_s"),
]

ROW, FEW, EVIDENCE, RIVAL = 28, 29, 30, 31
"""The sections of a single event, of its entries, and of what is known of two beliefs; the first of the rival's."""
# Entries of the section `sizes`.
SLOTS, EVENTS, FEATURES, RANKS, MIDDLE, DECISION, WIDTH = range(7)
"""Features are those of the full covariance, its width what there is room for; the middle is the place of the threshold that is an edge itself."""
MEDIAN, MODE = range(2)
"""Decisions: which rank is predicted."""
# Entries of the section `parameters`.
PRIOR, FORGETTING, SQUARES, TIE = range(4)
"""Of a weight's prior variance in units of events' lengths, of the squared lengths so far, of the width of ties."""
# Entries of the section `evidence`.
ODDS, RIDING = range(2)
"""The logarithm of how much likelier the rival found what came than the leader, which is not above 0; 1 while there is a rival that learns."""
# Edges, by number.
MIDDLE_EDGE, TIE_EDGE, FIRST_GAP = range(3)


def n_edges(n_ranks: int) -> int:
    """How many edges a belief about so many ranks has."""
    return max(n_ranks, FIRST_GAP)


def rival_s(name: str) -> str:
    """The name of a section of the rival, by that of the leader's."""
    return f"rival_{name}"


def layout(n_slots: int, n_ranks: int, n_full: int, rival: bool = False) -> Layout:
    """The sections for so many features, the first `n_full` of which have a full covariance."""
    slots = padded(n_slots, np.float64)
    leader = _belief(slots, n_ranks, n_full, rival)
    return {
        **leader,
        "row": Section("float64", (slots,), scratch=True),
        "few": few_section(),
        "evidence": Section("float64", (2,), scratch=not rival),
        **({rival_s(name): section for name, section in leader.items()} if rival else {}),
    }


def _belief(slots: int, n_ranks: int, n_full: int, rival: bool) -> Layout:
    edges = padded(n_edges(n_ranks), np.float64)
    full = min(slots, padded(n_full, np.float64)) if n_full else 0
    scratch = Section("float64", (edges,), scratch=True)
    return {
        "sizes": Section("int64", (7,), own=(SLOTS, FEATURES, RANKS, DECISION, WIDTH)),
        "parameters": Section("float64", (4,), own=(FORGETTING,) if rival else (PRIOR, FORGETTING)),
        "thresholds": Section("float64", (edges,)),
        "weights": Section("float64", (slots,)),
        "priors": Section("float64", (slots,)),
        "gaps": Section("int64", (edges,)),
        "corner": Section("float64", (edges, edges)),
        "edge_diagonal": Section("float64", (edges,)),
        "edge_priors": Section("float64", (edges,)),
        "border": Section("float64", (edges, full)),
        "slope_above": scratch,
        "slope_below": scratch,
        "above": scratch,
        "below": scratch,
        "mixed": scratch,
        "apart": scratch,
        "crossed": scratch,
        "edge_gain": scratch,
        "moved": scratch,
        "shares": Section("float64", (padded(n_ranks, np.float64),), scratch=True),
        "head": Section("float64", (full,), scratch=True),
        "clocks": Section("int64", (slots,)),
        "variances": Section("float64", (slots,)),
        **factors_layout(full),
    }


class Belief(NamedTuple):
    """The sections as pointers, and the sizes that loops need."""

    sizes: Any
    parameters: Any
    thresholds: Any
    weights: Any
    priors: Any
    gaps: Any
    corner: Any
    edge_diagonal: Any
    edge_priors: Any
    border: Any
    slope_above: Any
    slope_below: Any
    above: Any
    below: Any
    mixed: Any
    apart: Any
    crossed: Any
    edge_gain: Any
    moved: Any
    shares: Any
    head: Any
    clocks: Any
    variances: Any
    covariance: Factors
    row: Any
    slots: Any
    width: Any
    edges: Any
    room: Any
    n_ranks: Any


@inlined
def open_belief(block):
    """The belief inside a memory block, or the leader of two."""
    return open_any(block, 0)


@inlined
def open_any(block, number):
    """The leader, number 0, or the rival, number 1."""
    first = number * RIVAL
    sizes = pointer(block, place(block, first), np.int64)
    n_ranks = get(sizes, RANKS)
    edges = max(n_ranks, FIRST_GAP)
    return Belief(
        sizes,
        pointer(block, place(block, first + 1), np.float64),
        pointer(block, place(block, first + 2), np.float64),
        pointer(block, place(block, first + 3), np.float64),
        pointer(block, place(block, first + 4), np.float64),
        pointer(block, place(block, first + 5), np.int64),
        pointer(block, place(block, first + 6), np.float64),
        pointer(block, place(block, first + 7), np.float64),
        pointer(block, place(block, first + 8), np.float64),
        pointer(block, place(block, first + 9), np.float64),
        pointer(block, place(block, first + 10), np.float64),
        pointer(block, place(block, first + 11), np.float64),
        pointer(block, place(block, first + 12), np.float64),
        pointer(block, place(block, first + 13), np.float64),
        pointer(block, place(block, first + 14), np.float64),
        pointer(block, place(block, first + 15), np.float64),
        pointer(block, place(block, first + 16), np.float64),
        pointer(block, place(block, first + 17), np.float64),
        pointer(block, place(block, first + 18), np.float64),
        pointer(block, place(block, first + 19), np.float64),
        pointer(block, place(block, first + 20), np.float64),
        pointer(block, place(block, first + 21), np.int64),
        pointer(block, place(block, first + 22), np.float64),
        Factors(
            pointer(block, place(block, first + 23), np.float64),
            pointer(block, place(block, first + 24), np.float64),
            pointer(block, place(block, first + 25), np.float64),
            pointer(block, place(block, first + 26), np.float64),
            pointer(block, place(block, first + 27), np.float64),
        ),
        pointer(block, place(block, ROW), np.float64),
        get(sizes, SLOTS),
        get(sizes, WIDTH),
        edges,
        (edges + 7) & -8,
        n_ranks,
    )
