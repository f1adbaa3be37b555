"""Events as entries (slot and value), and from them to the rows that loops take."""

from stream_rank.engine.jit import compiled

__all__ = ["apart", "beyond", "gather", "mark", "spread_rows", "within"]


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


@compiled
def gather(first, last, slots, values, where, longest, starts, found_slots, found_values):
    """Copy the entries of events that have a place in `where`, one event behind the other, slots ascending within each.

    Without `where` a slot keeps its number. Events of more than `longest` entries stay in their order. Returns how many entries
    there are, and whether all events ascend. Cost: O(entries) where they nearly ascend, as keys of JSON that come in one
    order do; an event that stands twice in a row is sorted once.
    """
    count, good, straight = 0, True, len(where) == 0
    for row in range(len(first)):
        begin = starts[row] = count
        if row > 0 and first[row] == first[row - 1] and last[row] == last[row - 1]:
            for entry in range(starts[row - 1], begin):
                found_slots[count], found_values[count] = found_slots[entry], found_values[entry]
                count += 1
            continue
        short = last[row] - first[row] <= longest
        for entry in range(first[row], last[row]):
            slot, place = slots[entry], count
            if not straight:
                slot = where[slot]
                if slot < 0:
                    continue
            if place > begin and found_slots[place - 1] > slot:
                good &= short
                while short and place > begin and found_slots[place - 1] > slot:
                    found_slots[place] = found_slots[place - 1]
                    found_values[place] = found_values[place - 1]
                    place -= 1
            found_slots[place], found_values[place] = slot, values[entry]
            count += 1
    starts[len(first)] = count
    return count, good


@compiled
def within(first, last, values, bound):
    """Whether no entry of some events is beyond `bound`."""
    good = True
    for row in range(len(first)):
        for entry in range(first[row], last[row]):
            good &= abs(values[entry]) <= bound
    return good
