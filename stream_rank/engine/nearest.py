"""The events nearest to one, among the last so many, and how their ranks are shared out.

What was learned is kept by feature: a column of all events' values each, so that the distances to all are summed feature by feature, in
whole vectors and one order. A distance takes part by its square.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.events import bounded
from stream_rank.engine.few import few_entries, few_section
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, spread, store
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pointers import get, pointer, put, shift

__all__ = [
    *("DIMENSIONS", "EVENTS", "NEIGHBORS", "RANKS", "SLOTS", "WINDOW", "layout", "learn_pair"),
    *("learn_row", "opinions", "opinions_sparse", "predict_row", "run", "run_sparse", "take_few"),
]

_FEW = 11
"""The section of a single event's entries."""
# Entries of the section `sizes`.
SLOTS, EVENTS, RANKS, DIMENSIONS, WINDOW, NEIGHBORS = range(6)
_SOFTENED = 1e-3
"""What is added to squared distances, as a part of the mean squared length: at no distance there is no end of weight."""
_LEAST = 1e-30
_DOUBT = 0.5
"""Neighbours that nobody saw, who are shared out equally."""


def layout(n_slots: int, n_ranks: int, n_features: int, window: int, n_neighbors: int) -> Layout:
    """The sections for so many features, of which the first `n_features` count."""
    slots, room = padded(n_slots, np.float64), padded(window, np.float64)
    dimensions = min(slots, padded(n_features, np.float64))
    near = padded(n_neighbors, np.float64)
    return {
        "sizes": Section("int64", (6,), own=(SLOTS, RANKS, DIMENSIONS, WINDOW, NEIGHBORS)),
        "parameters": Section("float64", (1,)),
        "weights": Section("float64", (slots,)),
        "row": Section("float64", (slots,), scratch=True),
        "head": Section("float64", (dimensions,), scratch=True),
        "columns": Section("float64", (dimensions, room)),
        "ranks": Section("int64", (room,)),
        "distances": Section("float64", (room,), scratch=True),
        "near": Section("float64", (near,), scratch=True),
        "places": Section("int64", (near,), scratch=True),
        "shares": Section("float64", (padded(n_ranks, np.float64),), scratch=True),
        "few": few_section(),
        "seen": Section("float64", (dimensions,)),
    }


class Past(NamedTuple):
    """The sections as pointers, and the sizes that loops need."""

    sizes: Any
    parameters: Any
    row: Any
    head: Any
    columns: Any
    ranks: Any
    distances: Any
    near: Any
    places: Any
    shares: Any
    seen: Any
    slots: Any
    dimensions: Any
    window: Any
    room: Any
    n_ranks: Any


@inlined
def _open(block):
    sizes = pointer(block, place(block, 0), np.int64)
    window = get(sizes, WINDOW)
    return Past(
        sizes,
        pointer(block, place(block, 1), np.float64),
        pointer(block, place(block, 3), np.float64),
        pointer(block, place(block, 4), np.float64),
        pointer(block, place(block, 5), np.float64),
        pointer(block, place(block, 6), np.int64),
        pointer(block, place(block, 7), np.float64),
        pointer(block, place(block, 8), np.float64),
        pointer(block, place(block, 9), np.int64),
        pointer(block, place(block, 10), np.float64),
        pointer(block, place(block, 12), np.float64),
        get(sizes, SLOTS),
        get(sizes, DIMENSIONS),
        window,
        (window + 7) & -8,
        get(sizes, RANKS),
    )


@inlined
def _lay_dense(past, values):
    """The features that count, of a row."""
    for i in range(0, past.dimensions, 8):
        store(past.head, i, load(values, i, 0.0))


@inlined
def _lay_sparse(past, slots, values, count):
    """The same of entries."""
    for i in range(0, past.dimensions, 8):
        store(past.head, i, spread(0.0))
    for entry in range(count):
        if get(slots, entry) < past.dimensions:
            put(past.head, get(slots, entry), get(values, entry))


@inlined
def _measure(past, count):
    """The squared distances to so many events, in the features that any of them had: a new one is as far from all."""
    for i in range(0, count, 8):
        store(past.distances, i, spread(0.0))
    for j in range(past.dimensions):
        if get(past.seen, j) != 0.0:
            value, column = spread(get(past.head, j)), shift(past.columns, j * past.room)
            for i in range(0, count, 8):
                apart = load(column, i, 0.0) - value
                store(past.distances, i, load(past.distances, i, 0.0) + apart * apart)


@inlined
def _choose(past, count):
    """List the nearest, ascending, the first in memory among equals; how many they are."""
    most, used = get(past.sizes, NEIGHBORS), 0
    for i in range(count):
        distance = get(past.distances, i)
        if used < most or distance < get(past.near, used - 1):
            at = min(used, most - 1)
            used = min(used + 1, most)
            while at > 0 and get(past.near, at - 1) > distance:
                put(past.near, at, get(past.near, at - 1))
                put(past.places, at, get(past.places, at - 1))
                at -= 1
            put(past.near, at, distance)
            put(past.places, at, i)
    return used


@inlined
def _share_out(past):
    """Each rank's probability, for the event in `head`."""
    events = get(past.sizes, EVENTS)
    count = min(events, past.window)
    for rank in range(past.n_ranks):
        put(past.shares, rank, _DOUBT / past.n_ranks)
    if count > 0:
        _measure(past, count)
        used, total = _choose(past, count), 0.0
        softened = max(_SOFTENED * get(past.parameters, 0) / events, _LEAST)
        for i in range(used):
            total += 1.0 / (get(past.near, i) + softened)
        for i in range(used):
            rank = get(past.ranks, get(past.places, i)) - 1
            weight = used / (total * (get(past.near, i) + softened))
            put(past.shares, rank, get(past.shares, rank) + weight)
        for rank in range(past.n_ranks):
            put(past.shares, rank, get(past.shares, rank) / (used + _DOUBT))
    else:
        for rank in range(past.n_ranks):
            put(past.shares, rank, 1.0 / past.n_ranks)


@inlined
def _median(past):
    """The lowest rank that has, with those below, more than half."""
    so_far, last = 0.0, past.n_ranks
    for rank in range(last - 1):
        so_far += get(past.shares, rank)
        if so_far > 0.5:
            return rank + 1
    return last


@inlined
def _score(past):
    """The mean rank."""
    found = 0.0
    for rank in range(past.n_ranks):
        found += (rank + 1) * get(past.shares, rank)
    return found


@inlined
def _remember(past, rank):
    """Keep the event in `head`, in the place of the earliest if there is no other."""
    events, squares = get(past.sizes, EVENTS), get(past.parameters, 0)
    at = events % past.window
    for j in range(past.dimensions):
        value = get(past.head, j)
        squares += value * value
        if value != 0.0:
            put(past.seen, j, 1.0)
        put(past.columns, j * past.room + at, value)
    put(past.parameters, 0, squares)
    put(past.ranks, at, rank)
    put(past.sizes, EVENTS, events + 1)


@inlined
def _take(past, label, learning, shares, i):
    """The rank of the event in `head`, which is then learned if asked to; what is only asked has its row of `shares`, unless that is
    empty."""
    _share_out(past)
    found = _median(past)
    if learning:
        _remember(past, label)
    elif shares.size > 0:
        for rank in range(past.n_ranks):
            shares[i, rank] = get(past.shares, rank)
    return found


@compiled
def run(block, rows, labels, ranks, learning, shares):
    """Predict the ranks of dense rows, each before it is learned if its entry of `learning` says so."""
    past, values = _open(block), pointer(rows, 0, np.float64)
    for i in range(ranks.size):
        _lay_dense(past, shift(values, i * past.slots))
        ranks[i] = _take(past, labels[i], learning[i], shares, i)


@compiled
def run_sparse(block, starts, slots, values, labels, ranks, learning, shares):
    """`run` for the rows of a CSR matrix with ascending slots."""
    past = _open(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, np.float64)
    for i in range(ranks.size):
        begin = starts[i]
        _lay_sparse(past, shift(where, begin), shift(what, begin), starts[i + 1] - begin)
        ranks[i] = _take(past, labels[i], learning[i], shares, i)


@compiled
def learn_row(block, label, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    past = _open(block)
    if not bounded(past.row, past.slots, bound):
        return False
    _lay_dense(past, past.row)
    _remember(past, label)
    return True


@compiled
def predict_row(block, bound):
    """The rank of the event in the section `row`; 0 if a number is beyond `bound`."""
    past = _open(block)
    if not bounded(past.row, past.slots, bound):
        return 0
    _lay_dense(past, past.row)
    _share_out(past)
    return _median(past)


@compiled
def take_few(block, count, rank, bound, learning):
    """The rank of the event in the section `few`, or, learned if `learning`, its own; 0, and nothing learned, beyond `bound`."""
    event, past = few_entries(block, _FEW, count, bound), _open(block)
    if event.count < 0:
        return 0
    _lay_sparse(past, event.slots, event.values, event.count)
    if learning:
        _remember(past, rank)
        return rank
    _share_out(past)
    return _median(past)


@compiled
def learn_pair(block, magnitude, bound):
    """Nothing: a pair has no rank; False if a number is beyond `bound`."""
    past = _open(block)
    return bounded(past.row, past.slots, bound)


@compiled
def opinions(block, rows, shares, scores):
    """For dense rows: each rank's probability, and the mean rank."""
    past, values = _open(block), pointer(rows, 0, np.float64)
    for i in range(scores.size):
        _lay_dense(past, shift(values, i * past.slots))
        _share_out(past)
        scores[i] = _score(past)
        for rank in range(past.n_ranks):
            shares[i, rank] = get(past.shares, rank)


@compiled
def opinions_sparse(block, starts, slots, values, shares, scores):
    """`opinions` for the rows of a CSR matrix."""
    past = _open(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, np.float64)
    for i in range(scores.size):
        begin = starts[i]
        _lay_sparse(past, shift(where, begin), shift(what, begin), starts[i + 1] - begin)
        _share_out(past)
        scores[i] = _score(past)
        for rank in range(past.n_ranks):
            shares[i, rank] = get(past.shares, rank)
