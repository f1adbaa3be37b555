"""Parts of reading an event: which key stands somewhere, which category, and entries of its items."""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import called, inlined
from stream_rank.engine.pointers import get, put
from stream_rank.engine.reading import key_nodes as k
from stream_rank.engine.reading.decimals import is_digit, read_number, word_at
from stream_rank.engine.reading.key_table import ABSENT, find, same
from stream_rank.engine.reading.texts import (
    FALSE,
    FIVE_BYTES,
    FOUR_BYTES,
    TRUE,
    quote_after,
    skip_white,
    text_end,
)

__all__ = ["Room", "Walked", "child_at", "give", "list_of", "slot_of", "text_at"]

_QUOTE, _COMMA, _MINUS, _POINT, _ZERO, _CLOSE_LIST = 34, 44, 45, 46, 48, 93
_MOST_TRUST, _SELDOM = 32, 15
"""How many guesses may be wrong before keys are looked up at once, and one in how many is guessed then."""
_EXACT_DIGITS = 15
"""Digits of a whole number that a double holds, whichever it is."""


class Walked(NamedTuple):
    """A `KeyTree` as pointers, and how much of it there is."""

    nodes: Any
    names: Any
    table: Any
    mask: Any
    stored: Any
    secrets: Any
    listed: Any
    n_listed: Any
    stamps: Any
    longest_text: Any
    trust: Any
    waiting: Any


class Room(NamedTuple):
    """A `Reading` as pointers, for how many entries there is room, and room for those of the other item while the line is read."""

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
    room: Any
    other_slots: Any
    other_values: Any
    other_room: Any


@inlined
def child_at(text, at, end, tree, node, previous):
    """The child of a node whose key stands at `at`, and where the closing quote is; `ABSENT` if it is not known."""
    where = k.WIDTH * node + k.FIRST if previous < 0 else k.WIDTH * previous + k.NEXT
    trust = get(tree.trust, 0)
    if (
        trust > 0 or at & _SELDOM == 0
    ):  # where every event has other keys, guessing costs more than it saves
        guess = get(tree.nodes, where)
        if guess >= 0:
            row = k.WIDTH * guess
            length = get(tree.nodes, row + k.LENGTH)
            unlike = word_at(text, at) ^ np.uint64(get(tree.nodes, row + k.WORD))
            short = length <= 8
            same_ = unlike << np.uint64(64 - 8 * length) == 0 if short else unlike == 0
            if same_ and not short:
                first = get(tree.nodes, row + k.NAME)
                same_ = at + length <= end and same(text, at, tree.names, first, length)
            if same_ and at + length <= end:
                if trust < _MOST_TRUST:
                    put(tree.trust, 0, trust + 1)
                return guess, at + length - 1
        put(tree.trust, 0, max(trust - 1, 0))
    close, escaped = quote_after(text, at, end)
    if close < 0:
        return ABSENT, -1
    child, _ = find(
        text, at, close - at, 2 * node, tree.table, tree.mask, tree.secrets, tree.stored
    )
    if child >= 0:
        put(tree.nodes, where, child)
    return child, -1 if child < 0 and escaped else close


@called
def category_at(text, at, end, longest, flags):
    """Where the category that stands at `at` begins and closes, at once if it is missing, and where its value ends; -1 if it is not plain."""
    byte = get(text, at)
    begin, close, behind = at, at, at
    if byte == _QUOTE:
        begin = at + 1
        close, _ = quote_after(text, begin, end)
        if close - begin > longest:
            close, count = text_end(text, begin, end)
            if close >= 0 and count > longest:
                return begin, begin, close + 1
        if close < 0:
            return at, at, -1
        behind = close + 1
    elif flags & k.CATEGORY == 0:
        return at, at, -1
    elif byte == _MINUS or is_digit(byte):
        at += byte == _MINUS
        first = at
        while at < end and is_digit(get(text, at)):
            at += 1
        close = behind = at
        if at == first or at - first > 18 or (get(text, first) == _ZERO and at - begin > 1):
            return at, at, -1
        if at < end and get(text, at) == _POINT:  # 17.0 is 17
            behind = at + 2
            whole = behind <= end and get(text, at + 1) == _ZERO and at - first <= _EXACT_DIGITS
            if not whole or (behind < end and is_digit(get(text, behind))):
                return at, at, -1
        if behind < end and get(text, behind) | 32 == 101:
            return at, at, -1
    else:
        word = word_at(text, at)
        if word & FOUR_BYTES == TRUE:
            close = behind = at + 4
        elif word & FIVE_BYTES == FALSE:
            close = behind = at + 5
        if behind == at or behind > end:
            return at, at, -1
    return begin, close, behind


@inlined
def text_at(text, at, end, longest, flags):
    """`category_at`, at once for the texts that nearly all categories are."""
    if get(text, at) == _QUOTE:
        close, _ = quote_after(text, at + 1, end)
        if close > at and close - at <= longest:
            return at + 1, close, close + 1
    return category_at(text, at, end, longest, flags)


@called
def slot_of(text, at, length, node, table, mask, secrets, stored):
    """The slot of a category: `MISSING` if it has none, `ABSENT` if it is not known."""
    slot, _ = find(text, at, length, 2 * node + 1, table, mask, secrets, stored)
    return slot


@inlined
def give(slot, value, items, stamp, tree, reading, entry, more):
    """Add a feature to one item or to both; the next entries of each, the first of which is -1 if it is there already."""
    if slot < 0:
        return -1, more
    if items & k.ITEM_0:
        if get(tree.stamps, 2 * slot) == stamp or entry >= reading.room:
            return -1, more
        put(tree.stamps, 2 * slot, stamp)
        put(reading.slots, entry, slot)
        put(reading.values, entry, value)
        entry += 1
    if items & k.ITEM_1:
        if get(tree.stamps, 2 * slot + 1) == stamp or more >= reading.other_room:
            return -1, more
        put(tree.stamps, 2 * slot + 1, stamp)
        put(reading.other_slots, more, slot)
        put(reading.other_values, more, value)
        more += 1
    return entry, more


@inlined
def list_of(text, at, end, listed, n_listed, powers, slots, values, entry, room):
    """The numbers of a list that begins at `at`, as entries; where it ends, -1 if it is not plain, and the next entry.

    They need no stamps: a place in a list comes once, and no name of an object is one.
    """
    place = 0
    while True:
        at = skip_white(text, at + 1, end)
        if place >= n_listed or at >= end:
            return -1, entry
        value, at = read_number(text, at, end, powers)
        slot = get(listed, place)
        if at < 0 or slot < 0 or entry >= room:
            return -1, entry
        put(slots, entry, slot)
        put(values, entry, value + 0.0)
        entry += 1
        place += 1
        at = skip_white(text, at, end)
        if at >= end:
            return -1, entry
        if get(text, at) == _CLOSE_LIST:
            return at + 1, entry
        if get(text, at) != _COMMA:
            return -1, entry
