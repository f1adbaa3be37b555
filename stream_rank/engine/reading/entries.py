"""Events as entries (slot and value), and from them to the rows that loops take."""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import count as count_of
from stream_rank.engine.lanes import load, spread, store
from stream_rank.engine.pointers import get, pointer, put

__all__ = ["apart", "beyond", "gather", "mark", "spread_rows", "within"]

_GROUP = 8
"""Slots are compared so many at a time."""


@compiled
def beyond(first, last, values, largest, longest, marks):
    """Mark the events that are empty, have a number beyond `largest` or not one, or a square beyond `longest`."""
    for row in range(len(first)):
        good, square = first[row] < last[row], 0.0
        for entry in range(first[row], last[row]):
            good &= abs(values[entry]) <= largest
            square += values[entry] * values[entry]
        marks[row] |= not (good and square <= longest)


@compiled
def apart(which, items, others, values, magnitudes, largest, longest, marks):
    """Mark the pairs that may be too far apart: the largest number twice, times `max(1, magnitude)`, is beyond `largest`.

    So are those whose other item is empty or has a square beyond `longest`, and those with too large a magnitude.
    """
    for row in range(len(which)):
        if not which[row]:
            continue
        reach, square = 0.0, 0.0
        for entry in range(items[row, 0], items[row, 1]):
            reach = max(reach, abs(values[entry]))
        for entry in range(others[row, 0], others[row, 1]):
            reach = max(reach, abs(values[entry]))
            square += values[entry] * values[entry]
        good = others[row, 0] < others[row, 1] and square <= longest
        good &= 2.0 * reach * max(1.0, magnitudes[row]) <= largest
        marks[row] |= not (good and magnitudes[row] <= largest)


@compiled
def spread_rows(first, last, slots, values, where, rows):
    """Write events out as rows; a slot goes where `where` says, or nowhere if that is -1."""
    n_slots = rows.shape[1]
    for row in range(len(first)):
        for slot in range(n_slots):
            rows[row, slot] = 0
        for entry in range(first[row], last[row]):
            slot = where[slots[entry]]
            if slot >= 0:
                rows[row, slot] = values[entry]


@compiled
def mark(first, last, slots, number, marks):
    """Write a number at the slots of events. Cost: a nanosecond an entry."""
    for row in range(len(first)):
        for entry in range(first[row], last[row]):
            marks[slots[entry]] = number


@inlined
def _sort(slots, values, begin, end, keys, beside):
    """Sort entries by their slots, of which there is room for copies in `keys` and `beside`, and for a vector behind them.

    Each entry goes as many places up as there are smaller slots. Keys of JSON come in one order and most of their slots do, so
    that only the last entries have to move; and nothing branches on which is smaller, which cannot be foreseen.
    """
    low, first = get(slots, end - 1), end
    for entry in range(end - 2, begin - 1, -1):
        slot = get(slots, entry)
        first = entry if slot > low else first
        low = min(low, slot)
    count = end - first
    for place in range(count):
        put(keys, place, np.float64(get(slots, first + place)))
        put(beside, place, get(values, first + place))
    store(keys, count, spread(np.inf))
    for place in range(count):
        key, rank = get(keys, place), first
        for other in range(0, count, _GROUP):
            rank += count_of(load(keys, other, 0.0) < spread(key))
        put(slots, rank, np.int64(key))
        put(values, rank, get(beside, place))


@compiled
def gather(first, last, slots, values, where, longest, starts, found_slots, found_values):
    """Copy the entries of events that have a place in `where`, one event behind the other, slots ascending within each.

    Without `where` a slot keeps its number. Events of more than `longest` entries stay in their order. Returns how many entries
    there are, and whether all events ascend. Cost: O(entries) where they nearly ascend, as keys of JSON that come in one
    order do, else an eighth of O(entries**2); an event that stands twice in a row is sorted once.
    """
    count, good, straight = 0, True, len(where) == 0
    keys, beside = np.empty(longest + _GROUP), np.empty(longest + _GROUP)
    from_slots, from_values = pointer(slots, 0, np.int64), pointer(values, 0, values.dtype)
    to_slots, to_values = (
        pointer(found_slots, 0, np.int64),
        pointer(found_values, 0, found_values.dtype),
    )
    places, key_at = pointer(where, 0, np.int64), pointer(keys, 0, np.float64)
    beside_at = pointer(beside, 0, np.float64)
    begin = before = 0
    for row in range(len(first)):
        before, begin = begin, count
        starts[row] = begin
        if row > 0 and first[row] == first[row - 1] and last[row] == last[row - 1]:
            for entry in range(before, begin):
                put(to_slots, count, get(to_slots, entry))
                put(to_values, count, get(to_values, entry))
                count += 1
            continue
        ascending, previous = True, -1
        for entry in range(first[row], last[row]):
            slot = get(from_slots, entry)
            if not straight:
                slot = get(places, slot)
                if slot < 0:
                    continue
            put(to_slots, count, slot)
            put(to_values, count, get(from_values, entry))
            ascending &= previous < slot
            previous = slot
            count += 1
        if not ascending:
            if last[row] - first[row] <= longest:
                _sort(to_slots, to_values, begin, count, key_at, beside_at)
            else:
                good = False
    starts[len(first)] = count
    keys[0] = beside[0] = 0.0  # the pointers do not keep them
    return count, good


@compiled
def within(first, last, values, bound):
    """Whether no entry of some events is beyond `bound`."""
    good = True
    for row in range(len(first)):
        for entry in range(first[row], last[row]):
            good &= abs(values[entry]) <= bound
    return good
