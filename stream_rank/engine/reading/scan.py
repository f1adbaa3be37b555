"""Events read out of JSON, as entries of a sparse matrix, by a tree that says what stands under which key.

What is read here is the plain form that producers write: known features, no escapes, nothing twice. Whatever else comes is
left to somebody slower, who knows all of JSON and the words for what is wrong, and then grows the tree; so what is read
here must be what the slow way would read, and need not be all that it would.

A key is compared with the one that came behind the last one before, then looked up by hash. Texts are looked up some events
later: where there are many, their rows of the table are far away, and come meanwhile.

Cost: about a nanosecond a byte.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import compiled
from stream_rank.engine.pointers import pointer
from stream_rank.engine.reading.events import read_event
from stream_rank.engine.reading.items import Room, Walked
from stream_rank.engine.reading.key_table import ROW
from stream_rank.engine.reading.waiting import ENOUGH, ROOM, WORDS, leave, settle

__all__ = ["DEEPEST", "PADDING", "Reading", "scan"]

PADDING = 16
"""Bytes that must lie behind a text and behind the names, since both are read by words, two at once."""

DEEPEST = 16
"""As many objects may be open: no tree is deeper."""


class Reading(NamedTuple):
    """What was read of every line: whether it was, its kind, label or magnitude, time, where id and group stand, and which
    entries are its own, and the other item's of a preference."""

    read: Any
    kinds: Any
    labels: Any
    times: Any
    idents: Any
    groups: Any
    entries: Any
    others: Any
    slots: Any
    values: Any


@compiled
def scan(text, starts, ends, tree, stamp, powers, way, unit, longest_text, reading):
    """Read the lines of a text; how many entries they have.

    What stands in a line is told apart by stamps from `stamp` on, one a line, which no line had before.
    """
    trust, waiting = np.zeros(1, np.int64), np.empty(WORDS * ROOM, np.int64)
    bytes_, table = pointer(text, 0, np.uint8), pointer(powers, 0, np.uint64)
    known = Walked(
        pointer(tree.nodes, 0, np.int64),
        pointer(tree.names, 0, np.uint8),
        pointer(tree.table, 0, np.int64),
        len(tree.table) // ROW - 1,
        pointer(tree.stored, 0, np.uint8),
        pointer(tree.secrets, 0, np.uint64),
        pointer(tree.listed, 0, np.int64),
        len(tree.listed),
        pointer(tree.stamps, 0, np.int64),
        longest_text,
        pointer(trust, 0, np.int64),
        pointer(waiting, 0, np.int64),
    )
    longest = 0
    for line in range(len(starts)):
        longest = max(longest, ends[line] - starts[line])
    other_slots, other_values = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1)
    stack = np.empty(DEEPEST, np.int64)
    result = Room(
        pointer(reading.read, 0, np.uint8),
        pointer(reading.kinds, 0, np.int8),
        pointer(reading.labels, 0, np.float64),
        pointer(reading.times, 0, np.int64),
        pointer(reading.idents, 0, np.int64),
        pointer(reading.groups, 0, np.int64),
        pointer(reading.entries, 0, np.int64),
        pointer(reading.others, 0, np.int64),
        pointer(reading.slots, 0, np.int64),
        pointer(reading.values, 0, np.float64),
        len(reading.slots),
        pointer(other_slots, 0, np.int64),
        pointer(other_values, 0, np.float64),
        len(other_slots),
    )
    open_ = pointer(stack, 0, np.int64)
    entry, count = 0, 0
    for line in range(len(starts)):
        behind, count = read_event(
            *(bytes_, starts[line], ends[line], known, stamp + line, table, way, unit),
            *(result, line, entry, open_, count),
        )
        if behind >= 0:
            entry = behind
        else:
            leave(result, line)
        if count >= ENOUGH:
            settle(bytes_, count, known, result)
            count = 0
    settle(bytes_, count, known, result)
    # the pointers do not keep them
    other_slots[0], other_values[0], stack[0], trust[0], waiting[0] = 0, 0.0, 0, 0, 0
    return entry
