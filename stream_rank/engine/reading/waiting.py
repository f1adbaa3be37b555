"""Texts whose slots are looked up later, those of several events at once.

Where there are many texts, the rows of the table in which they stand are far away in memory. So a text is hashed when it is
read, its row is asked for, and it waits, while other events are read and the rows come.
"""

import numpy as np

from stream_rank.engine.jit import called, inlined
from stream_rank.engine.pointers import get, prefetch, put
from stream_rank.engine.reading.key_table import ABSENT, ALONE, MISSING, ROW, find_sought, sought
from stream_rank.engine.reading.timestamps import NO_TIME

__all__ = ["ENOUGH", "MOST_WAITING", "ROOM", "WORDS", "leave", "settle", "wait", "waits"]

MOST_WAITING, ENOUGH = 64, 64
"""As many texts of one event may wait; where as many of several events do, all of them are looked up."""
WORDS, ROOM = 8, MOST_WAITING + ENOUGH
"""What is kept of each text: a line of the processor's cache; and how many there is room for."""
_AT, _META, _HASH, _ONE, _TWO, _ENTRY, _LINE, _OWN = range(WORDS)
"""Where it stands; its owner and its length; what the table knows it by; the entry that it is; the line; and of the first
text of a line, how many features its item has."""


@inlined
def wait(text, at, length, owner, tree, waiting, reading, line, entry):
    """Have a text wait, as the one after so many, for the slot of an entry."""
    hash_, one, two = sought(text, at, length, owner, tree.secrets)
    prefetch(tree.table, ROW * np.int64(hash_ & np.uint64(tree.mask)))
    base = WORDS * waiting
    put(tree.waiting, base + _AT, at)
    put(tree.waiting, base + _META, owner << 16 | length)
    put(tree.waiting, base + _HASH, np.int64(hash_))
    put(tree.waiting, base + _ONE, one)
    put(tree.waiting, base + _TWO, two)
    put(tree.waiting, base + _ENTRY, entry)
    put(tree.waiting, base + _LINE, line)
    put(reading.slots, entry, ABSENT)
    put(reading.values, entry, 1.0)


@inlined
def waits(tree, first, own):
    """Note how many features the item of a line has, whose first text waits after so many."""
    put(tree.waiting, WORDS * first + _OWN, own)


@called
def settle(text, count, tree, reading):
    """Write the slots of the entries that wait, and leave lines to the slow way that are not plain."""
    plain = True
    for each in range(count):
        base = WORDS * each
        meta, place = get(tree.waiting, base + _META), get(tree.waiting, base + _ENTRY)
        found, _ = find_sought(
            *(text, get(tree.waiting, base + _AT), meta & 0xFFFF, meta >> 16),
            *(np.uint64(get(tree.waiting, base + _HASH)), get(tree.waiting, base + _ONE)),
            *(get(tree.waiting, base + _TWO), tree.table, tree.mask, tree.stored),
        )
        put(tree.waiting, base + _META, found)
        put(reading.slots, place, found & (ALONE - 1) if found >= 0 else found)
        plain &= found >= ALONE  # else something else of the event may have led there
    if not plain:
        _check(count, tree, reading)


@inlined
def _check(count, tree, reading):
    """Look at every line of which a text is no feature, is not known, or has a slot to which something else leads."""
    first = 0
    while first < count:
        line = get(tree.waiting, WORDS * first + _LINE)
        begin, end = get(reading.entries, 2 * line), get(reading.entries, 2 * line + 1)
        good, gone, each = True, 0, first
        while each < count and get(tree.waiting, WORDS * each + _LINE) == line:
            found = get(tree.waiting, WORDS * each + _META)
            if found == MISSING:
                gone += 1
            elif found < ALONE:
                alike = 0
                for entry in range(begin, end):
                    alike += get(reading.slots, entry) == found
                good &= found != ABSENT and alike == 1
            each += 1
        if not good or gone == get(tree.waiting, WORDS * first + _OWN):
            leave(reading, line)
        elif gone > 0:
            kept = begin
            for entry in range(begin, end):
                if get(reading.slots, entry) >= 0:
                    put(reading.slots, kept, get(reading.slots, entry))
                    put(reading.values, kept, get(reading.values, entry))
                    kept += 1
            put(reading.entries, 2 * line + 1, kept)
        first = each


@inlined
def leave(reading, line):
    """Leave a line to the slow way."""
    put(reading.read, line, np.uint8(0))
    put(reading.kinds, line, np.int8(0))
    put(reading.labels, line, np.nan)
    put(reading.times, line, NO_TIME)
    put(reading.idents, 2 * line, -1)
    put(reading.groups, 2 * line, -1)
    for place in range(2):
        put(reading.entries, 2 * line + place, 0)
        put(reading.others, 2 * line + place, 0)
