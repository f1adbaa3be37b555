"""Running means of events, of all and by group, so that an event can be seen from its group's middle.

`sum over a group of (r(i) - mean r)**2` grows, when an event joins `n` others, by `n / (n + 1)` times the square of
its distance from their mean: so an event counts as one residual without a constant, of that weight.
With forgetting, `n` is the sum of the weights, each multiplied by `forgetting` with every event of the stream.

Row 0 is of all events and gives predictions their constant; groups have the rows from 1 on. A group
comes as its row, or as minus its row if what the row held before is to be forgotten.

Cost: O(d) an event.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import load, spread, store, total
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.support import power

__all__ = [
    *("ACTIVE", "EVENTS", "FADING", "FEATURES", "FORGETTING", "NEXT", "STRENGTH", "SLOTS"),
    *("TOTAL", "Centre", "age", "centre", "centre_layout", "open_centre"),
    *("SECTIONS", "score"),
]

# Sections of the memory; a learner's own follow.
SIZES, PARAMETERS, WEIGHTS, ROW, MEANS, COUNTS, LABEL_MEANS, TIMES, CENTRED = range(9)
SECTIONS = 9

# Entries of SIZES and of PARAMETERS; the strength is the regularization, or C where that follows from it.
SLOTS, EVENTS, FEATURES, ACTIVE, NEXT = range(5)
STRENGTH, FORGETTING, FADING, TOTAL = range(4)


def centre_layout(n_slots: int, n_rows: int) -> Layout:
    """The sections for `n_slots` features and `n_rows` groups, the row of all events among them."""
    slots = padded(n_slots, np.float64)
    return {
        "sizes": Section("int64", (5,), own=(SLOTS, FEATURES)),
        "parameters": Section("float64", (4,)),
        "weights": Section("float64", (slots,)),
        "row": Section("float64", (slots,), scratch=True),
        "means": Section("float64", (n_rows, slots)),
        "counts": Section("float64", (n_rows,)),
        "label_means": Section("float64", (n_rows,)),
        "times": Section("int64", (n_rows,)),
        "centred": Section("float64", (slots,), scratch=True),
    }


class Centre(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    parameters: Any
    weights: Any
    row: Any
    means: Any
    counts: Any
    label_means: Any
    times: Any
    centred: Any
    slots: Any


@inlined
def open_centre(block):
    """The centre inside a memory block."""
    sizes = pointer(block, place(block, SIZES), np.int64)
    return Centre(
        sizes,
        pointer(block, place(block, PARAMETERS), np.float64),
        pointer(block, place(block, WEIGHTS), np.float64),
        pointer(block, place(block, ROW), np.float64),
        pointer(block, place(block, MEANS), np.float64),
        pointer(block, place(block, COUNTS), np.float64),
        pointer(block, place(block, LABEL_MEANS), np.float64),
        pointer(block, place(block, TIMES), np.int64),
        pointer(block, place(block, CENTRED), np.float64),
        get(sizes, SLOTS),
    )


@inlined
def score(state, values):
    """The score of an event: the mean label, and the weights times its distance from the mean of all.

    So the mean prediction of all events is their mean label; and an offset of the features costs no digits.
    """
    result = spread(0.0)
    for i in range(0, state.slots, 8):
        distance = load(values, i, 0.0) - load(state.means, i, 0.0)
        result = result + load(state.weights, i, 0.0) * distance
    return get(state.label_means, 0) + total(result)


@inlined
def _join(state, row, values, label):
    """Join the events of a row, and write the distance from their mean before; return the weight, and the label's distance."""
    mean, now = shift(state.means, row * state.slots), get(state.sizes, EVENTS)
    count = get(state.counts, row)
    forgetting = get(state.parameters, FORGETTING)
    if forgetting < 1.0:
        count *= power(forgetting, now - get(state.times, row))
    share = spread(1.0 / (count + 1.0))
    for i in range(0, state.slots, 8):
        old = load(mean, i, 0.0)
        distance = load(values, i, 0.0) - old
        store(state.centred, i, distance)
        store(mean, i, old + share * distance)
    distance = label - get(state.label_means, row)
    put(state.label_means, row, get(state.label_means, row) + distance / (count + 1.0))
    put(state.counts, row, count + 1.0)
    put(state.times, row, now)
    return count / (count + 1.0), distance


@inlined
def age(state):
    """Let what was learned weigh less, as another event comes; return by how much."""
    forgetting = get(state.parameters, FORGETTING)
    put(state.parameters, TOTAL, get(state.parameters, TOTAL) * forgetting + 1.0)
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)
    return forgetting


@inlined
def centre(state, values, label, group):
    """See an event from the middle of its group: `centred`, its weight, and the label's distance."""
    row = abs(group)
    if group < 0:
        put(state.counts, row, 0.0)
        put(state.label_means, row, 0.0)
        mean = shift(state.means, row * state.slots)
        for i in range(0, state.slots, 8):
            store(mean, i, spread(0.0))
    _join(state, 0, values, label)
    return _join(state, row, values, label)
