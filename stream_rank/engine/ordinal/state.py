"""The memory of a belief about weights and thresholds: its sections, and how compiled code sees them.

Beside the weights, the belief is about *edges*: the threshold in the middle, the logarithms of the gaps from it to its
neighbours and on, and that of the width of ties between items. Thresholds therefore stay in order. The covariance of all is
`U D U'` with the weights first: of edge j, `border` has the column of `U` in the rows of weights and `corner` that in the rows
of edges. Features beyond the first so many have a variance each, which is all that is kept of them.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.factors import Factors, factors_layout
from stream_rank.engine.few import few_section
from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer

__all__ = [
    *("DECISION", "EVENTS", "FEATURES", "FEW", "FIRST_GAP", "FORGETTING", "MEDIAN", "MIDDLE"),
    *("MIDDLE_EDGE", "MODE", "PRIOR", "RANKS", "SLOTS", "SQUARES", "TIE", "TIE_EDGE", "WIDTH"),
    *("Belief", "layout", "n_edges", "open_belief"),
]

FEW = 29
"""The section of a single event's entries."""
# Entries of the section `sizes`.
SLOTS, EVENTS, FEATURES, RANKS, MIDDLE, DECISION, WIDTH = range(7)
"""Features are those of the full covariance, its width what there is room for; the middle is the place of the threshold that is an edge itself."""
MEDIAN, MODE = range(2)
"""Decisions: which rank is predicted."""
# Entries of the section `parameters`.
PRIOR, FORGETTING, SQUARES, TIE = range(4)
"""Of a weight's prior variance in units of events' lengths, of the squared lengths so far, of the width of ties."""
# Edges, by number.
MIDDLE_EDGE, TIE_EDGE, FIRST_GAP = range(3)


def n_edges(n_ranks: int) -> int:
    """How many edges a belief about so many ranks has."""
    return max(n_ranks, FIRST_GAP)


def layout(n_slots: int, n_ranks: int, n_full: int) -> Layout:
    """The sections for so many features, the first `n_full` of which have a full covariance."""
    slots, edges = padded(n_slots, np.float64), padded(n_edges(n_ranks), np.float64)
    full = min(slots, padded(n_full, np.float64)) if n_full else 0
    scratch = Section("float64", (edges,), scratch=True)
    return {
        "sizes": Section("int64", (7,), own=(SLOTS, FEATURES, RANKS, DECISION, WIDTH)),
        "parameters": Section("float64", (4,), own=(PRIOR, FORGETTING)),
        "thresholds": Section("float64", (edges,)),
        "weights": Section("float64", (slots,)),
        "row": Section("float64", (slots,), scratch=True),
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
        "few": few_section(),
    }


class Belief(NamedTuple):
    """The sections as pointers, and the sizes that loops need."""

    sizes: Any
    parameters: Any
    thresholds: Any
    weights: Any
    row: Any
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
    slots: Any
    width: Any
    edges: Any
    room: Any
    n_ranks: Any


@inlined
def open_belief(block):
    """The belief inside a memory block."""
    sizes = pointer(block, place(block, 0), np.int64)
    n_ranks = get(sizes, RANKS)
    edges = max(n_ranks, FIRST_GAP)
    return Belief(
        sizes,
        pointer(block, place(block, 1), np.float64),
        pointer(block, place(block, 2), np.float64),
        pointer(block, place(block, 3), np.float64),
        pointer(block, place(block, 4), np.float64),
        pointer(block, place(block, 5), np.float64),
        pointer(block, place(block, 6), np.int64),
        pointer(block, place(block, 7), np.float64),
        pointer(block, place(block, 8), np.float64),
        pointer(block, place(block, 9), np.float64),
        pointer(block, place(block, 10), np.float64),
        pointer(block, place(block, 11), np.float64),
        pointer(block, place(block, 12), np.float64),
        pointer(block, place(block, 13), np.float64),
        pointer(block, place(block, 14), np.float64),
        pointer(block, place(block, 15), np.float64),
        pointer(block, place(block, 16), np.float64),
        pointer(block, place(block, 17), np.float64),
        pointer(block, place(block, 18), np.float64),
        pointer(block, place(block, 19), np.float64),
        pointer(block, place(block, 20), np.float64),
        pointer(block, place(block, 21), np.float64),
        pointer(block, place(block, 22), np.int64),
        pointer(block, place(block, 23), np.float64),
        Factors(
            pointer(block, place(block, 24), np.float64),
            pointer(block, place(block, 25), np.float64),
            pointer(block, place(block, 26), np.float64),
            pointer(block, place(block, 27), np.float64),
            pointer(block, place(block, 28), np.float64),
        ),
        get(sizes, SLOTS),
        get(sizes, WIDTH),
        edges,
        (edges + 7) & -8,
        n_ranks,
    )
