"""A table of the keys and texts that a stream has: whose they are, their bytes, and what they stand for.

A row is four words: owner and length in one; what is found; and the bytes, if they are at most sixteen, or else their
place and their whole hash. The hash depends on numbers that nobody outside of the process knows, so that nobody can send
names that all lie behind each other. Rows are tried one after the other from the hash's place on.

Cost: some nanoseconds to find or to enter, beside the bytes that are hashed, eight at a time.
"""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import get, pointer, put
from stream_rank.engine.reading.decimals import product, word_at

__all__ = [
    "ABSENT",
    "ALONE",
    "MISSING",
    "ROW",
    "enter_all",
    "find",
    "find_hashed",
    "hash_of",
    "longest_run",
    "rehash",
    "same",
]

ROW = 4
"""Words of a row."""
ABSENT, MISSING = -1, -2
"""Found is: nothing; a text that is known to be no feature."""

ALONE = 1 << 40
"""Added to a slot to which nothing else leads in an event's first item."""

_SHORT = 16
_OWNERS = 0x9E3779B97F4A7C15


@inlined
def _head(text, at, length):
    """The first eight bytes of `length`, the rest 0."""
    if length >= 8:
        return word_at(text, at)
    if length <= 0:
        return np.uint64(0)
    shift = np.uint64(64 - 8 * length)
    return word_at(text, at) << shift >> shift


@inlined
def same(text, at, other, first, length):
    """Whether `length` bytes at `at` are those at `first` of another text."""
    done = 0
    while done + 8 <= length:
        if word_at(text, at + done) != word_at(other, first + done):
            return False
        done += 8
    if done < length:
        unlike = word_at(text, at + done) ^ word_at(other, first + done)
        return unlike << np.uint64(64 - 8 * (length - done)) == 0
    return True


@inlined
def hash_of(text, at, length, owner, secrets):
    """The hash of some bytes of an owner: words times words, both halves of the product folded."""
    value = get(secrets, 0) + np.uint64(owner) * np.uint64(_OWNERS)
    while length > 8:
        high, low = product(word_at(text, at) ^ get(secrets, 1), value ^ get(secrets, 2))
        value = high ^ low
        at += 8
        length -= 8
    last = _head(text, at, length) ^ get(secrets, 1)
    high, low = product(last, value ^ get(secrets, 2) ^ np.uint64(length))
    return high ^ low


@inlined
def find(text, at, length, owner, table, mask, secrets, stored):
    """What stands for `length` bytes at `at` of an owner, or `ABSENT`; and the row where it is, or would be."""
    hash_ = hash_of(text, at, length, owner, secrets)
    return find_hashed(text, at, length, owner, hash_, table, mask, stored)


@inlined
def find_hashed(text, at, length, owner, hash_, table, mask, stored):
    """The same, of bytes whose hash is known."""
    meta = owner << 16 | length
    short = length <= _SHORT
    one, two = np.uint64(0), hash_
    if short:
        one, two = _head(text, at, length), _head(text, at + 8, length - 8)
    row = np.int64(hash_ & np.uint64(mask))
    while True:
        base = ROW * row
        known = get(table, base)
        if known == ABSENT:
            return ABSENT, row
        if known == meta and np.uint64(get(table, base + 3)) == two:
            if short:
                if np.uint64(get(table, base + 2)) == one:
                    return get(table, base + 1), row
            elif same(text, at, stored, get(table, base + 2), length):
                return get(table, base + 1), row
        row = (row + 1) & mask


@compiled
def enter_all(text, bounds, owners, found, table, secrets, stored, n_stored):
    """Enter bytes (those between neighbouring `bounds`) with what stands for them, where they are new.

    What has changed is changed. Returns the number of new rows, and how many bytes are stored then; there must be room for
    both.
    """
    bytes_, kept = pointer(text, 0, np.uint8), pointer(stored, 0, np.uint8)
    rows, keys = pointer(table, 0, np.int64), pointer(secrets, 0, np.uint64)
    mask, new = len(table) // ROW - 1, 0
    for each in range(len(owners)):
        at, length = bounds[each], bounds[each + 1] - bounds[each]
        known, row = find(bytes_, at, length, owners[each], rows, mask, keys, kept)
        base = ROW * row
        if known == ABSENT:
            new += 1
            put(rows, base, owners[each] << 16 | length)
            if length <= _SHORT:
                put(rows, base + 2, np.int64(_head(bytes_, at, length)))
                put(rows, base + 3, np.int64(_head(bytes_, at + 8, length - 8)))
            else:
                for place in range(length):
                    put(kept, n_stored + place, get(bytes_, at + place))
                put(rows, base + 2, n_stored)
                put(rows, base + 3, np.int64(hash_of(bytes_, at, length, owners[each], keys)))
                n_stored += length
        put(rows, base + 1, found[each])
    return new, n_stored


@compiled
def rehash(before, table, secrets):
    """Write all rows of a table into a larger one, which is empty."""
    old, rows = pointer(before, 0, np.int64), pointer(table, 0, np.int64)
    keys = pointer(secrets, 0, np.uint64)
    short = np.zeros(_SHORT // 8 + 1, np.int64)  # a word more, since texts are read by words
    words, bytes_ = pointer(short, 0, np.int64), pointer(short, 0, np.uint8)
    mask = len(table) // ROW - 1
    for each in range(len(before) // ROW):
        base = ROW * each
        meta = get(old, base)
        if meta == ABSENT:
            continue
        length, owner = meta & 0xFFFF, meta >> 16
        hash_ = np.uint64(get(old, base + 3))
        if length <= _SHORT:
            put(words, 0, get(old, base + 2))
            put(words, 1, get(old, base + 3))
            hash_ = hash_of(bytes_, 0, length, owner, keys)
        row = np.int64(hash_ & np.uint64(mask))
        while get(rows, ROW * row) != ABSENT:
            row = (row + 1) & mask
        for word in range(ROW):
            put(rows, ROW * row + word, get(old, base + word))
    return len(short)  # kept alive until here


@compiled
def longest_run(table):
    """The most rows that lie behind each other: no search looks at more of them."""
    longest = run = 0
    size = len(table) // ROW
    for each in range(2 * size):  # a run may go over the end
        run = run + 1 if table[ROW * (each % size)] != ABSENT else 0
        longest = max(longest, min(run, size))
    return longest
