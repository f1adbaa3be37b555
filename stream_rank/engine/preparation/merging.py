"""Entries of events with more entries beside them, in the order of their slots."""

from stream_rank.engine.jit import compiled, inlined

__all__ = ["merge"]


@inlined
def _put(found, kept, begin, count, slot, value):
    """Put an entry where it belongs among those from `begin` on, or add it to the one of its slot; how many there are."""
    place = count
    while place > begin and found[place - 1] > slot:
        place -= 1
    if place > begin and found[place - 1] == slot:
        kept[place - 1] += value
        return count
    for moved in range(count, place, -1):
        found[moved], kept[moved] = found[moved - 1], kept[moved - 1]
    found[place], kept[place] = slot, value
    return count + 1


@compiled
def merge(starts, slots, values, where, more_starts, more_slots, more_values, begins, found, kept):
    """Events with their own entries (at the slots that `where` says, -1 for none) and more entries, ascending.

    A slot that stands twice gets the sum, and added entries whose slot is -1 are left out. Both nearly ascend: what does not
    is moved to where it belongs. Returns how many entries there are. Cost: O(entries).
    """
    count = 0
    for event in range(len(starts) - 1):
        begin, entry, end = count, starts[event], starts[event + 1]
        begins[event] = begin
        for more in range(more_starts[event], more_starts[event + 1]):
            slot = more_slots[more]
            if slot < 0:
                continue
            while entry < end and where[slots[entry]] <= slot:
                if where[slots[entry]] >= 0:
                    count = _put(found, kept, begin, count, where[slots[entry]], values[entry])
                entry += 1
            count = _put(found, kept, begin, count, slot, more_values[more])
        while entry < end:
            if where[slots[entry]] >= 0:
                count = _put(found, kept, begin, count, where[slots[entry]], values[entry])
            entry += 1
    begins[len(starts) - 1] = count
    return count
