"""Points that come and go, and for any point, the weight of those on each side of it in both coordinates.

Pairs of events are counted by it: an event with label y and prediction f is in order with those of lower
label and lower prediction, and so on. What is asked for comes as weights and as weights times labels.

Points lie in a buffer and in runs of at most 32, 64, 128, ... points, at most one of each size. A full buffer is
merged with all runs up to the first size that has none. A point is as many events as its count says, each of one weight;
it is taken away by adding it with a negative count, and where both meet in a merge, both go. A run is a wavelet matrix: its points by y, and, bit by bit of their place
in the order of f, stably parted into zeros and ones, with running sums in every order.

Cost: O(log n)**2 to ask, and to add or take away on average; O(n log n) numbers. Less than about
(log n / log log n)**2 no structure that counts dominated points as they change can do (Patrascu).

References: J. L. Bentley and J. B. Saxe. Decomposable searching problems. J. Algorithms 1, 1980.
G. Navarro. Wavelet trees for all. J. Discrete Algorithms 25, 2014.
M. Patrascu. Lower bounds for 2-dimensional range counting. STOC 2007.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.memory import Layout, Section, place
from stream_rank.engine.pointers import get, pointer, put, shift

__all__ = ["ANSWERS", "FIRST", "TOP", "add", "around", "begin", "content", "layout"]

FIRST = 5
"""The first size of a run is 2**5: as many points are looked at as fast as they would be searched."""

ANSWERS = 12
"""Of those below in y, then of those above: weight, and weight times y less the origin, of the ones below in f, not above in f, and all."""

# Sections of the memory.
SIZES, LENGTHS, BUFFER, ORIGIN, YS, FS, WEIGHTS, COUNTS, SORTED, ZEROS, WEIGHT_SUMS, VALUE_SUMS = (
    range(12)
)

# Entries of SIZES.
TOP, WAITING = range(2)

_BUFFER = 1 << FIRST


def _points(top: int) -> int:
    """How many points runs of sizes below 2**top hold."""
    return (1 << top) - _BUFFER


def _sums(top: int) -> int:
    """How many sums they hold: k + 1 orders of 2**k points, and a zero before each."""
    return (top - 1 << top) - 128 + top * (top + 1) // 2 - 15


def layout(top: int) -> Layout:
    """The sections for runs of at most `2**(top - 1)` points."""
    return {
        "sizes": Section("int64", (2,)),
        "lengths": Section("int64", (64,)),
        "buffer": Section("float64", (4, _BUFFER)),
        "origin": Section("float64", (1,)),
        "ys": Section("float64", (_points(top),)),
        "fs": Section("float64", (_points(top),)),
        "weights": Section("float64", (_points(top),)),
        "counts": Section("int64", (_points(top),)),
        "sorted": Section("float64", (_points(top),)),
        "zeros": Section("int64", (_sums(top),)),
        "weight_sums": Section("float64", (_sums(top),)),
        "value_sums": Section("float64", (_sums(top),)),
    }


class State(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    lengths: Any
    buffer: Any
    origin: Any
    ys: Any
    fs: Any
    weights: Any
    counts: Any
    sorted: Any
    zeros: Any
    weight_sums: Any
    value_sums: Any


@inlined
def open_state(block):
    """The state inside a memory block."""
    return State(
        pointer(block, place(block, SIZES), np.int64),
        pointer(block, place(block, LENGTHS), np.int64),
        pointer(block, place(block, BUFFER), np.float64),
        pointer(block, place(block, ORIGIN), np.float64),
        pointer(block, place(block, YS), np.float64),
        pointer(block, place(block, FS), np.float64),
        pointer(block, place(block, WEIGHTS), np.float64),
        pointer(block, place(block, COUNTS), np.int64),
        pointer(block, place(block, SORTED), np.float64),
        pointer(block, place(block, ZEROS), np.int64),
        pointer(block, place(block, WEIGHT_SUMS), np.float64),
        pointer(block, place(block, VALUE_SUMS), np.float64),
    )


@inlined
def _run_start(level):
    return (1 << level) - 32


@inlined
def _sums_start(level):
    return ((level - 1) << level) - 128 + (level * (level + 1)) // 2 - 15


@inlined
def _first_not_below(values, count, limit, beyond):
    """How many of ascending values are below the limit, or not beyond it if `beyond`."""
    first, end = 0, count
    while first < end:
        middle = (first + end) >> 1
        value = get(values, middle)
        if value < limit or (beyond and value == limit):
            first = middle + 1
        else:
            end = middle
    return first


# Runs ---------------------------------------------------------------------------------------


@inlined
def _build(state, level, ys, fs, weights, counts, by_f):
    """Make a run of points in the order of y then f; `by_f` lists them in the order of f."""
    start, rows, count = _run_start(level), _sums_start(level), len(ys)
    length = (1 << level) + 1
    ranks = np.empty(count, np.int64)
    order, other = np.empty(count, np.int64), np.empty(count, np.int64)
    put(state.lengths, level, count)
    for i in range(count):
        put(state.ys, start + i, ys[i])
        put(state.fs, start + i, fs[i])
        put(state.weights, start + i, weights[i])
        put(state.counts, start + i, counts[i])
        put(state.sorted, start + i, fs[by_f[i]])
        ranks[by_f[i]] = i
        order[i] = i
    for row in range(level + 1):
        zeros = shift(state.zeros, rows + row * length)
        weight_sums = shift(state.weight_sums, rows + row * length)
        value_sums = shift(state.value_sums, rows + row * length)
        bit = level - 1 - row
        put(zeros, 0, 0)
        put(weight_sums, 0, 0.0)
        put(value_sums, 0, 0.0)
        for i in range(count):
            at = order[i]
            zero = 1 if bit < 0 else 1 - ((ranks[at] >> bit) & 1)
            put(zeros, i + 1, get(zeros, i) + zero)
            weight = weights[at] * counts[at]
            put(weight_sums, i + 1, get(weight_sums, i) + weight)
            value = weight * (ys[at] - get(state.origin, 0))
            put(value_sums, i + 1, get(value_sums, i) + value)
        n_zeros = get(zeros, count)
        if bit >= 0:
            for i in range(count):
                to = get(zeros, i)
                if (ranks[order[i]] >> bit) & 1:
                    to = n_zeros + i - to
                other[to] = order[i]
            order, other = other, order


@inlined
def _prefix_below(state, level, first, rank):
    """Weight, and weight times y, of those of the first points by y that are among the first `rank` by f."""
    count, rows = get(state.lengths, level), _sums_start(level)
    length = (1 << level) + 1
    if rank >= count:
        return get(state.weight_sums, rows + first), get(state.value_sums, rows + first)
    low, high, weight, value = 0, first, 0.0, 0.0
    for row in range(level):
        at, following = rows + row * length, rows + (row + 1) * length
        low_zeros, high_zeros = get(state.zeros, at + low), get(state.zeros, at + high)
        if (rank >> (level - 1 - row)) & 1:
            some, none = following + high_zeros, following + low_zeros
            weight += get(state.weight_sums, some) - get(state.weight_sums, none)
            value += get(state.value_sums, some) - get(state.value_sums, none)
            n_zeros = get(state.zeros, at + count)
            low, high = n_zeros + low - low_zeros, n_zeros + high - high_zeros
        else:
            low, high = low_zeros, high_zeros
    return weight, value


@inlined
def _around_run(state, level, y, f, answers):
    count, start = get(state.lengths, level), _run_start(level)
    lower = _first_not_below(shift(state.ys, start), count, y, False)
    upper = _first_not_below(shift(state.ys, start), count, y, True)
    below = _first_not_below(shift(state.sorted, start), count, f, False)
    beyond = _first_not_below(shift(state.sorted, start), count, f, True)
    for side in range(3):
        rank = below if side == 0 else beyond if side == 1 else count
        weight, value = _prefix_below(state, level, lower, rank)
        answers[2 * side] += weight
        answers[2 * side + 1] += value
        weight, value = _prefix_below(state, level, upper, rank)
        all_weight, all_value = _prefix_below(state, level, count, rank)
        answers[6 + 2 * side] += all_weight - weight
        answers[7 + 2 * side] += all_value - value


# Points -------------------------------------------------------------------------------------


@inlined
def _collect(state, end):
    """The points of the buffer and of the runs of sizes below `end`."""
    waiting = get(state.sizes, WAITING)
    total = waiting
    for level in range(FIRST, end):
        total += get(state.lengths, level)
    ys, fs, weights = np.empty(total), np.empty(total), np.empty(total)
    counts = np.empty(total, np.int64)
    for i in range(waiting):
        ys[i], fs[i] = get(state.buffer, i), get(state.buffer, _BUFFER + i)
        weights[i] = get(state.buffer, 2 * _BUFFER + i)
        counts[i] = np.int64(get(state.buffer, 3 * _BUFFER + i))
    to = waiting
    for level in range(FIRST, end):
        start = _run_start(level)
        for i in range(start, start + get(state.lengths, level)):
            ys[to], fs[to] = get(state.ys, i), get(state.fs, i)
            weights[to], counts[to] = get(state.weights, i), get(state.counts, i)
            to += 1
    return ys, fs, weights, counts


@inlined
def _merge(points):
    """Points in the order of y then f, equal ones as one, and none if as many went as came; and their order of f.

    Points are equal only if their events weigh the same: of others the one that goes must not take the weight of
    the one that stays.
    """
    ys, fs, weights, counts = points
    total = len(ys)
    by_f = np.argsort(weights, kind="mergesort")
    by_f = by_f[np.argsort(fs[by_f], kind="mergesort")]
    by_both = by_f[np.argsort(ys[by_f], kind="mergesort")]
    where = np.full(total, -1, np.int64)
    new_ys, new_fs, new_weights = np.empty(total), np.empty(total), np.empty(total)
    new_counts = np.empty(total, np.int64)
    kept = at = 0
    while at < total:
        first, count = by_both[at], 0
        while (
            at < total
            and ys[by_both[at]] == ys[first]
            and fs[by_both[at]] == fs[first]
            and weights[by_both[at]] == weights[first]
        ):
            count += counts[by_both[at]]
            at += 1
        if count != 0:
            where[first] = kept
            new_ys[kept], new_fs[kept] = ys[first], fs[first]
            new_weights[kept], new_counts[kept] = weights[first], count
            kept += 1
    new_by_f, found = np.empty(kept, np.int64), 0
    for i in range(total):
        if where[by_f[i]] >= 0:
            new_by_f[found] = where[by_f[i]]
            found += 1
    return new_ys[:kept], new_fs[:kept], new_weights[:kept], new_counts[:kept], new_by_f


@inlined
def _flush(state):
    """Merge the buffer with the runs below the first size without one; False if there is no room for that."""
    level = FIRST
    while get(state.lengths, level) > 0:
        level += 1
    if level >= get(state.sizes, TOP):
        return False
    ys, fs, weights, counts, by_f = _merge(_collect(state, level))
    put(state.sizes, WAITING, 0)
    for run in range(FIRST, level):
        put(state.lengths, run, 0)
    if len(ys) > 0:
        fitting = FIRST
        while (1 << fitting) < len(ys):
            fitting += 1
        _build(state, fitting, ys, fs, weights, counts, by_f)
    return True


@compiled
def content(block):
    """All points: y, f, the weight of one, and how many."""
    state = open_state(block)
    ys, fs, weights, counts, _ = _merge(_collect(state, get(state.sizes, TOP)))
    return ys, fs, weights, counts


@compiled
def add(block, y, f, weight, count):
    """Add `count` equal points, each of a weight, or take them away if it is negative; False, and nothing done, if there is no room."""
    state = open_state(block)
    if get(state.sizes, WAITING) == _BUFFER and not _flush(state):
        return False
    at = get(state.sizes, WAITING)
    put(state.buffer, at, y)
    put(state.buffer, _BUFFER + at, f)
    put(state.buffer, 2 * _BUFFER + at, weight)
    put(state.buffer, 3 * _BUFFER + at, np.float64(count))
    put(state.sizes, WAITING, at + 1)
    return True


@compiled
def begin(block, origin):
    """Forget all points; weights are summed times the distance from an origin from now on."""
    state = open_state(block)
    put(state.sizes, WAITING, 0)
    put(state.origin, 0, origin)
    for level in range(FIRST, get(state.sizes, TOP)):
        put(state.lengths, level, 0)


@compiled
def around(block, y, f, answers):
    """Write the sums over the points on each side of one, see `ANSWERS`."""
    state = open_state(block)
    answers[:] = 0.0
    for i in range(get(state.sizes, WAITING)):
        other = get(state.buffer, i)
        weight = get(state.buffer, 2 * _BUFFER + i) * get(state.buffer, 3 * _BUFFER + i)
        prediction = get(state.buffer, _BUFFER + i)
        if other != y:
            base = 0 if other < y else 6
            for side in range(3):
                if side == 2 or prediction < f or (side == 1 and prediction == f):
                    answers[base + 2 * side] += weight
                    answers[base + 2 * side + 1] += weight * (other - get(state.origin, 0))
    for level in range(FIRST, get(state.sizes, TOP)):
        if get(state.lengths, level) > 0:
            _around_run(state, level, y, f, answers)
