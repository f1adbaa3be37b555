"""One event read out of JSON, by a tree of keys."""

import numpy as np

from stream_rank.engine.jit import inlined
from stream_rank.engine.pointers import get, put
from stream_rank.engine.reading import key_nodes as k
from stream_rank.engine.reading.decimals import is_digit, read_number, word_at
from stream_rank.engine.reading.items import child_at, give, list_of, slot_of, text_at
from stream_rank.engine.reading.key_table import ABSENT, ALONE
from stream_rank.engine.reading.texts import (
    FALSE,
    FIVE_BYTES,
    FOUR_BYTES,
    NULL,
    TRUE,
    skip_white,
    text_end,
    value_end,
)
from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.engine.reading.tokens import moment_of_token, token_end
from stream_rank.engine.reading.waiting import MOST_WAITING, wait, waits

__all__ = [
    *("LABEL", "OWN_FORM", "PREFERENCE", "PREFERENCES", "RATING", "RATINGS", "REQUEST"),
    "read_event",
]

RATING, REQUEST, LABEL, PREFERENCE = 0, 1, 2, 3
"""Kinds of events, as `codec.schema.Kind` has them."""
OWN_FORM, RATINGS, PREFERENCES = 0, 1, 2
"""What tells the kind of an event: its keys, or the settings."""

_QUOTE, _COMMA, _COLON, _MINUS, _N, _T, _F = 34, 44, 58, 45, 110, 116, 102
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_LIST, _CLOSE_LIST = 123, 125, 91, 93


@inlined
def _kind(seen, way, label, own, other, named):
    """The kind of an event by what was seen of it, and how many features its items have; -1 if it is none, or not plain."""
    if way == PREFERENCES:
        return PREFERENCE if own > 0 and other > 0 and not label < 0.0 else -1
    if way == RATINGS:
        if own > 0:
            return REQUEST if np.isnan(label) else RATING
        return LABEL if named and not np.isnan(label) else -1
    if seen & (k.X | k.Y | k.PREFERRED | k.OTHER) == k.PREFERRED | k.OTHER:
        return PREFERENCE if own > 0 and other > 0 and not label < 0.0 else -1
    if seen & k.X != 0 and seen & (k.PREFERRED | k.OTHER | k.MAGNITUDE | k.TIE | k.CONTEXT) == 0:
        if own == 0:
            return -1
        return REQUEST if np.isnan(label) else RATING
    if (
        seen & (k.X | k.PREFERRED | k.OTHER | k.MAGNITUDE | k.TIE | k.CONTEXT | k.GROUP) == 0
        and named
    ):
        return -1 if np.isnan(label) else LABEL
    return -1


@inlined
def read_event(text, at, end, tree, stamp, powers, way, unit, reading, line, entry, stack, before):
    """Read one event, where so many texts wait; the entry behind its last, or -1 if it is not plain; and how many texts wait then."""
    begin, more, shared = entry, 0, 0
    seen, tie, depth, waiting = 0, -1, 0, before
    label, time, outer_time = np.nan, NO_TIME, NO_TIME
    ident, ident_end, outer, outer_end, group, group_end = -1, -1, -1, -1, -1, -1
    node, previous, opened = 0, -1, True
    at = skip_white(text, at, end)
    if at >= end or get(text, at) != _OPEN_OBJECT:
        return -1, before
    while True:
        at = skip_white(text, at + 1, end)
        if at >= end:
            return -1, before
        if get(text, at) == _QUOTE:
            at += 1
            child, close = child_at(text, at, end, tree, node, previous)
            flags = 0
            if child < 0:
                if close < 0 or get(tree.nodes, k.WIDTH * node + k.FLAGS) & k.OPEN == 0:
                    return -1, before
                close, _ = text_end(text, at, end)
                if close < 0:
                    return -1, before
            else:
                previous = child
                base = k.WIDTH * child
                flags = get(tree.nodes, base + k.FLAGS)
                if get(tree.nodes, base + k.STAMP) == stamp:
                    return -1, before
                put(tree.nodes, base + k.STAMP, stamp)
                seen |= flags & k.MARKS
            at = close + 1
            if at >= end or get(text, at) != _COLON:
                at = skip_white(text, at, end)
                if at >= end or get(text, at) != _COLON:
                    return -1, before
            at = skip_white(text, at + 1, end)
            if at >= end:
                return -1, before
            byte = get(text, at)
            done = False
            if flags & k.TOKENS != 0 and byte != _N:
                behind = token_end(text, at, end, flags & k.TOKENS == k.TS)
                moment = NO_TIME
                if flags & (k.TS | k.OUTER_TS) != 0:
                    moment, behind = moment_of_token(text, at, behind, end, unit, powers)
                if behind < 0:
                    return -1, before
                if flags & k.ID:
                    ident, ident_end = at, behind
                if flags & k.OUTER_ID:
                    outer, outer_end = at, behind
                if flags & k.GROUP:
                    group, group_end = at, behind
                if flags & k.TS:
                    time = moment
                if flags & k.OUTER_TS:
                    outer_time = moment
                done = flags & k.VALUES == 0
                if done:
                    at = behind
            if done:
                pass
            elif flags & k.NUMBER != 0 and (is_digit(byte) or byte == _MINUS):
                value, at = read_number(text, at, end, powers)
                if at < 0 or entry >= reading.room or more >= reading.other_room:
                    return -1, before
                value += 0.0  # -0.0 becomes 0.0, as JSON's -0 is a whole number to some
                slot = get(tree.nodes, k.WIDTH * child + k.SLOT)
                if flags & (k.ALONE | k.ITEM_0) == k.ALONE | k.ITEM_0:
                    put(reading.slots, entry, slot)
                    put(reading.values, entry, value)
                    entry += 1
                elif flags & k.ALONE:
                    put(reading.other_slots, more, slot)
                    put(reading.other_values, more, value)
                    more += 1
                else:
                    if flags & k.LABELS:
                        label = value
                    if flags & k.ITEMS:
                        entry, more = give(slot, value, flags, stamp, tree, reading, entry, more)
                        if entry < 0:
                            return -1, before
                        shared += flags & k.ITEMS == k.ITEMS
            elif byte == _N:
                if word_at(text, at) & FOUR_BYTES != NULL or flags & k.NOT_NULL != 0:
                    return -1, before
                at += 4
            elif byte == _OPEN_OBJECT and flags & k.DESCEND != 0:
                put(stack, depth, node)
                depth += 1
                node, previous, opened = child, -1, True
                continue
            elif flags & k.VALUES == 0:
                if flags & k.STRICT:
                    return -1, before
                at = value_end(text, at, end)
                if at < 0:
                    return -1, before
            elif flags & k.LISTED != 0:
                if byte != _OPEN_LIST or flags & k.ITEMS == k.ITEMS:
                    return -1, before
                if flags & k.ITEM_0:
                    at, entry = list_of(
                        *(text, at, end, tree.listed, tree.n_listed, powers),
                        *(reading.slots, reading.values, entry, reading.room),
                    )
                else:
                    at, more = list_of(
                        *(text, at, end, tree.listed, tree.n_listed, powers),
                        *(reading.other_slots, reading.other_values, more, reading.other_room),
                    )
                if at < 0:
                    return -1, before
            elif flags & (k.LABELS | k.TIE) != 0:
                if flags & k.VALUES != k.TIE:
                    return -1, before
                if word_at(text, at) & FOUR_BYTES == TRUE:
                    tie = 1
                    at += 4
                elif word_at(text, at) & FIVE_BYTES == FALSE:
                    tie = 0
                    at += 5
                else:
                    return -1, before
            elif flags & k.CATEGORY == 0 and ((byte == _T) | (byte == _F)):
                yes = word_at(text, at) & FOUR_BYTES == TRUE
                if not yes and word_at(text, at) & FIVE_BYTES != FALSE:
                    return -1, before
                at += 4 if yes else 5
                slot = get(tree.nodes, k.WIDTH * child + k.SLOT)
                value = 1.0 if yes else 0.0
                entry, more = give(slot, value, flags, stamp, tree, reading, entry, more)
                if entry < 0:
                    return -1, before
                shared += flags & k.ITEMS == k.ITEMS
            else:
                several = byte == _OPEN_LIST
                if several:
                    at = skip_white(text, at + 1, end)
                    if at >= end:
                        return -1, before
                empty = several and get(text, at) == _CLOSE_LIST
                while not empty:
                    first, close, at = text_at(text, at, end, tree.longest_text, flags)
                    if at < 0:
                        return -1, before
                    length, slot = close - first, -1
                    alone = flags & k.ITEMS == k.ITEM_0 and not several
                    if length > 0 and alone and waiting - before < MOST_WAITING:
                        if entry >= reading.room:
                            return -1, before
                        owner = 2 * child + 1
                        wait(text, first, length, owner, tree, waiting, reading, line, entry)
                        waiting += 1
                        entry += 1
                    elif length > 0:
                        slot = slot_of(
                            *(text, first, length, child),
                            *(tree.table, tree.mask, tree.secrets, tree.stored),
                        )
                        if slot == ABSENT:
                            return -1, before
                    if slot >= 0:
                        slot &= ALONE - 1
                        entry, more = give(slot, 1.0, flags, stamp, tree, reading, entry, more)
                        if entry < 0:
                            return -1, before
                        shared += flags & k.ITEMS == k.ITEMS
                    if not several:
                        break
                    at = skip_white(text, at, end)
                    if at >= end:
                        return -1, before
                    if get(text, at) == _CLOSE_LIST:
                        break
                    if get(text, at) != _COMMA:
                        return -1, before
                    at = skip_white(text, at + 1, end)
                    if at >= end:
                        return -1, before
                at += several
        elif (
            not opened
            or get(text, at) != _CLOSE_OBJECT
            or get(tree.nodes, k.WIDTH * node + k.FLAGS) & k.LISTED != 0
        ):
            return -1, before
        opened = False
        at = skip_white(text, at, end)
        if at >= end:
            return -1, before
        while get(text, at) == _CLOSE_OBJECT and depth > 0:
            depth -= 1
            previous = node
            node = get(stack, depth)
            at = skip_white(text, at + 1, end)
            if at >= end:
                return -1, before
        if get(text, at) == _CLOSE_OBJECT:
            break
        if get(text, at) != _COMMA:
            return -1, before
    if skip_white(text, at + 1, end) != end:
        return -1, before
    if seen & (k.PAYLOAD | k.BARE) == k.PAYLOAD | k.BARE:
        return -1, before
    if (
        get(tree.nodes, k.FLAGS) & k.EVENT == 0 and seen & k.EVENT == 0
    ):  # it should stand deeper, and does not
        return -1, before
    if ident < 0 and outer >= 0:
        ident, ident_end = outer, outer_end
    if time == NO_TIME:
        time = outer_time
    if tie == 1:
        if label > 0.0 or label < 0.0:
            return -1, before
        label = 0.0
    if tie == 0 and label == 0.0:
        return -1, before
    kind = _kind(seen, way, label, entry - begin - shared, more - shared, ident >= 0)
    if kind < 0 or entry + more > reading.room:
        return -1, before
    if kind == PREFERENCE and np.isnan(label):
        label = 1.0
    if kind == LABEL:
        group = -1
    if waiting > before:
        waits(tree, before, entry - begin - shared)
    put(reading.read, line, np.uint8(1))
    put(reading.kinds, line, np.int8(kind))
    put(reading.labels, line, label)
    put(reading.times, line, time)
    put(reading.idents, 2 * line, ident)
    put(reading.idents, 2 * line + 1, ident_end)
    put(reading.groups, 2 * line, group)
    put(reading.groups, 2 * line + 1, group_end)
    put(reading.entries, 2 * line, begin)
    put(reading.entries, 2 * line + 1, entry)
    for place in range(more):
        put(reading.slots, entry + place, get(reading.other_slots, place))
        put(reading.values, entry + place, get(reading.other_values, place))
    put(reading.others, 2 * line, entry)
    put(reading.others, 2 * line + 1, entry + more)
    return entry + more, waiting
