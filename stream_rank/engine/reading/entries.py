"""Events as entries (slot and value), and from them to the rows that loops take."""

from stream_rank.engine.jit import compiled

__all__ = ["ascending", "beyond", "gather", "spread_rows", "within"]


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
def gather(first, last, slots, values, where, starts, found_slots, found_values):
    """Copy the entries of events that have a place in `where`, one event behind the other; how many there are."""
    count = 0
    for row in range(len(first)):
        starts[row] = count
        for entry in range(first[row], last[row]):
            slot = where[slots[entry]]
            if slot >= 0:
                found_slots[count] = slot
                found_values[count] = values[entry]
                count += 1
    starts[len(first)] = count
    return count


@compiled
def ascending(starts, slots):
    """Whether the slots of every event ascend."""
    for row in range(len(starts) - 1):
        for entry in range(starts[row] + 1, starts[row + 1]):
            if slots[entry] <= slots[entry - 1]:
                return False
    return True


@compiled
def within(first, last, values, bound):
    """Whether no entry of some events is beyond `bound`."""
    good = True
    for row in range(len(first)):
        for entry in range(first[row], last[row]):
            good &= abs(values[entry]) <= bound
    return good
