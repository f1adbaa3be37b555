"""Ratings, requests, labels and preferences read out of JSON, as entries of a sparse matrix.

What is read here is the plain form that producers write: known features, one line an event, no escapes, nothing
twice. Whatever else comes is left to somebody slower, who knows all of JSON and the words for what is wrong; so
what is read here must be what the slow way would read, and need not be all that it would.

A feature's name is compared with the one that came behind the last one before, then looked up by hash.

Cost: about a nanosecond a byte.
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import get, pointer, put
from stream_rank.engine.reading.decimals import is_digit, read_digits, read_number, word_at
from stream_rank.engine.reading.timestamps import FIRST, LAST, NO_TIME, moment_at

__all__ = [
    *("LABEL", "PADDING", "PREFERENCE", "RATING", "REQUEST"),
    *("Names", "Reading", "hash_of", "scan"),
]

RATING, REQUEST, LABEL, PREFERENCE = 0, 1, 2, 3
"""Kinds of events, as `codec.schema.Kind` has them."""

PADDING = 8
"""Bytes that must lie behind a text and behind the names, since both are read by words."""

_QUOTE, _BACKSLASH, _COMMA, _COLON, _MINUS, _POINT = 34, 92, 44, 58, 45, 46
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_LIST, _CLOSE_LIST = 123, 125, 91, 93
_X, _Y, _I, _D, _T, _S, _N, _E = 120, 121, 105, 100, 116, 115, 110, 101


def _word(text: bytes) -> np.uint64:
    """The first bytes of a text as a number."""
    return np.uint64(int.from_bytes(text, "little"))


_FOUR_BYTES, _SIX_BYTES = np.uint64((1 << 32) - 1), np.uint64((1 << 48) - 1)
_GROUP, _OTHER = _word(b'group"'), _word(b'other"')
_PREFERRED, _MAGNITUDE = _word(b"preferre"), _word(b"magnitud")
_NULL, _TRUE, _TIE = _word(b"null"), _word(b"true"), _word(b'tie"')
_PRIME, _BASIS = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)

_LONGEST_WHOLE = 18
"""Digits of a whole number that is surely one of 64 bits."""


class Names(NamedTuple):
    """The features known: names, each closed by a quote, where they begin and end, and which have which hash.

    `listed` has the slots of the features that are named by their place in a list, or -1; `stamps` the line in
    which a feature was seen last.
    """

    text: Any
    bounds: Any
    table: Any
    listed: Any
    stamps: Any


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


class _Names(NamedTuple):
    """The same as pointers, and how much of each there is."""

    text: Any
    bounds: Any
    table: Any
    listed: Any
    stamps: Any
    count: Any
    size: Any
    n_listed: Any


class _Reading(NamedTuple):
    """The same as pointers, and for how many entries there is room."""

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


def hash_of(name: bytes) -> int:
    """The hash of a name, as in the table: Fowler, Noll and Vo's, 64 bits."""
    value = int(_BASIS)
    for byte in name:
        value = (value ^ byte) * int(_PRIME) & (2**64 - 1)
    return value


@inlined
def _skip(text, at, end):
    """The first place from `at` on that is not white."""
    while at < end:
        byte = get(text, at)
        if byte != 32 and byte != 10 and byte != 13 and byte != 9:
            break
        at += 1
    return at


@inlined
def _same(text, at, names, first, length):
    """Whether the name that begins at `first` stands at `at`."""
    done = 0
    while done + 8 <= length:
        if word_at(text, at + done) != word_at(names, first + done):
            return False
        done += 8
    if done < length:
        unlike = word_at(text, at + done) ^ word_at(names, first + done)
        return unlike << np.uint64(64 - 8 * (length - done)) == 0
    return True


@inlined
def _find(text, at, end, names, guess):
    """The slot of the name at `at`, and where its closing quote is; slot -1 if it is not a plain known name."""
    known, bounds = names.text, names.bounds
    if guess < names.count:
        first = get(bounds, guess)
        length = get(bounds, guess + 1) - first
        if length > 0 and at + length <= end and _same(text, at, known, first, length):
            return guess, at + length - 1
    value, close = _BASIS, at
    while close < end and get(text, close) != _QUOTE:
        value = (value ^ np.uint64(get(text, close))) * _PRIME
        close += 1
    if close >= end:
        return -1, close
    mask = np.uint64(names.size - 1)
    place = value & mask
    while True:
        slot = get(names.table, np.int64(place))
        if slot < 0:
            return -1, close
        first = get(bounds, slot)
        length = get(bounds, slot + 1) - first
        if length == close + 1 - at and _same(text, at, known, first, length):
            return slot, close
        place = (place + np.uint64(1)) & mask


@inlined
def _token(text, at, end):
    """Where a plain string or a short whole number ends that begins at `at`; -1 if there is none."""
    if get(text, at) == _QUOTE:
        at += 1
        while at < end and get(text, at) != _QUOTE:
            byte = get(text, at)
            if byte == _BACKSLASH or byte < 32 or byte > 126:
                return -1
            at += 1
        return at + 1 if at < end else -1
    if get(text, at) == _MINUS:
        at += 1
    first = at
    while at < end and is_digit(get(text, at)):
        at += 1
    if at == first or at - first > _LONGEST_WHOLE or (get(text, first) == 48 and at - first > 1):
        return -1
    if at < end and (get(text, at) == _POINT or get(text, at) == 101 or get(text, at) == 69):
        return -1
    return at


@inlined
def _features(text, at, end, names, stamp, powers, reading, entry):
    """The features from `at` on, as entries from `entry` on; where they end, and the next entry; -1 if not plain."""
    if at >= end:
        return -1, entry
    named = get(text, at) == _OPEN_OBJECT
    if not named and get(text, at) != _OPEN_LIST:
        return -1, entry
    closing = _CLOSE_OBJECT if named else _CLOSE_LIST
    guess = 0
    while True:
        at = _skip(text, at + 1, end)
        slot = -1
        if named:
            if at >= end or get(text, at) != _QUOTE:
                return -1, entry
            slot, at = _find(text, at + 1, end, names, guess)
            if slot < 0:
                return -1, entry
            at = _skip(text, at + 1, end)
            if at >= end or get(text, at) != _COLON:
                return -1, entry
            at = _skip(text, at + 1, end)
        elif guess < names.n_listed:
            slot = get(names.listed, guess)
        if slot < 0 or get(names.stamps, slot) == stamp or entry >= reading.room:
            return -1, entry
        put(names.stamps, slot, stamp)
        value, at = read_number(text, at, end, powers)
        if at < 0:
            return -1, entry
        put(reading.slots, entry, slot)
        put(
            reading.values, entry, value + 0.0
        )  # -0.0 becomes 0.0, as JSON's -0 is a whole number to some
        entry += 1
        guess = slot + 1 if named else guess + 1
        at = _skip(text, at, end)
        if at >= end:
            return -1, entry
        if get(text, at) == closing:
            return at + 1, entry
        if get(text, at) != _COMMA:
            return -1, entry


@inlined
def _event(text, at, end, names, stamp, powers, reading, line, entry):
    """Read one event; the entry behind its last, or -1 if it is not plain."""
    seen = 0
    at = _skip(text, at, end)
    if at >= end or get(text, at) != _OPEN_OBJECT:
        return -1
    while True:
        at = _skip(text, at + 1, end)
        if at + 2 >= end or get(text, at) != _QUOTE:
            return -1
        at += 1
        key = 0
        letter, next_ = get(text, at), get(text, at + 1)
        if next_ == _QUOTE:
            key = 1 if letter == _X else 2 if letter == _Y else 0
            at += 1
        elif at + 2 < end and get(text, at + 2) == _QUOTE:
            key = 4 if letter == _I and next_ == _D else 8 if letter == _T and next_ == _S else 0
            at += 2
        else:
            word = word_at(text, at)
            if at + 5 < end and word & _SIX_BYTES == _GROUP:
                key = 16
                at += 5
            elif at + 5 < end and word & _SIX_BYTES == _OTHER:
                key = 64
                at += 5
            elif at + 9 < end and word == _PREFERRED and get(text, at + 8) == _D:
                key = 32
                at += 9
            elif at + 9 < end and word == _MAGNITUDE and get(text, at + 8) == _E:
                key = 128
                at += 9
            elif at + 3 < end and word & _FOUR_BYTES == _TIE:
                key = 256
                at += 3
            if get(text, at) != _QUOTE:
                return -1
        if key == 0 or seen & key != 0:
            return -1
        seen |= key
        at = _skip(text, at + 1, end)
        if at >= end or get(text, at) != _COLON:
            return -1
        at = _skip(text, at + 1, end)
        if at >= end:
            return -1
        if key == 1 or key == 32 or key == 64:
            begin = entry
            own = stamp + (key == 64)  # the items of a preference may have the same features
            at, entry = _features(text, at, end, names, own, powers, reading, entry)
            if at < 0:
                return -1
            place = reading.others if key == 64 else reading.entries
            put(place, 2 * line, begin)
            put(place, 2 * line + 1, entry)
        elif word_at(text, at) & _FOUR_BYTES == _NULL:
            at += 4
        elif key == 2 or key == 128:
            label, at = read_number(text, at, end, powers)
            if at < 0:
                return -1
            put(reading.labels, line, label + 0.0)
        elif key == 256:  # what else may stand here is for others to say
            if word_at(text, at) & _FOUR_BYTES != _TRUE or seen & 128 != 0:
                return -1
            at += 4
            put(reading.labels, line, 0.0)
        else:
            begin = at
            at = _token(text, at, end)
            if at < 0:
                return -1
            if key == 4:
                put(reading.idents, 2 * line, begin)
                put(reading.idents, 2 * line + 1, at)
            elif key == 16:
                put(reading.groups, 2 * line, begin)
                put(reading.groups, 2 * line + 1, at)
            else:
                if get(text, begin) == _QUOTE:
                    moment = moment_at(text, begin + 1, at - 1)
                else:
                    negative = get(text, begin) == _MINUS
                    digits, _ = read_digits(text, begin + negative, at, np.uint64(0))
                    moment = -np.int64(digits) if negative else np.int64(digits)
                if not (moment >= FIRST and moment <= LAST):
                    return -1
                put(reading.times, line, moment)
        at = _skip(text, at, end)
        if at >= end:
            return -1
        if get(text, at) == _CLOSE_OBJECT:
            break
        if get(text, at) != _COMMA:
            return -1
    if _skip(text, at + 1, end) != end:
        return -1
    label = get(reading.labels, line)
    compared = seen & (1 | 2 | 32 | 64) == 32 | 64 and seen & 384 != 384
    if compared and not label < 0.0:
        put(reading.kinds, line, PREFERENCE)
        if np.isnan(label):
            put(reading.labels, line, 1.0)
    elif seen & 1 == 1 and seen & (32 | 64 | 128 | 256) == 0:
        put(reading.kinds, line, REQUEST if np.isnan(label) else RATING)
    elif seen & (2 | 4) == 2 | 4 and seen & ~(2 | 4 | 8) == 0 and not np.isnan(label):
        if get(reading.idents, 2 * line) < 0:  # it is null
            return -1
        put(reading.kinds, line, LABEL)
    else:
        return -1
    return entry


@compiled
def scan(text, starts, ends, names, stamp, powers, reading):
    """Read the lines of a text; how many entries they have.

    Items are told apart by stamps from `stamp` on, two a line, which no line had before.
    """
    bytes_, table = pointer(text, 0, np.uint8), pointer(powers, 0, np.uint64)
    known = _Names(
        pointer(names.text, 0, np.uint8),
        pointer(names.bounds, 0, np.int64),
        pointer(names.table, 0, np.int64),
        pointer(names.listed, 0, np.int64),
        pointer(names.stamps, 0, np.int64),
        len(names.bounds) - 1,
        len(names.table),
        len(names.listed),
    )
    result = _Reading(
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
    )
    entry = 0
    for line in range(len(starts)):
        reading.labels[line] = np.nan
        reading.times[line] = NO_TIME
        reading.idents[line, 0] = reading.groups[line, 0] = -1
        reading.kinds[line] = RATING
        reading.entries[line, 0] = reading.entries[line, 1] = 0
        reading.others[line, 0] = reading.others[line, 1] = 0
        behind = _event(
            bytes_, starts[line], ends[line], known, stamp + 2 * line, table, result, line, entry
        )
        reading.read[line] = behind >= 0
        if behind >= 0:
            entry = behind
        else:
            reading.entries[line, 0] = reading.entries[line, 1] = 0
            reading.others[line, 0] = reading.others[line, 1] = 0
    return entry
