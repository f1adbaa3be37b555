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
    "SHORT",
    "enter_all",
    "find",
    "find_sought",
    "longest_run",
    "rehash",
    "same",
    "sought",
]

ROW = 4
"""Words of a row."""
ABSENT, MISSING = -1, -2
"""Found is: nothing; a text that is known to be no feature."""

ALONE = 1 << 40
"""Added to a slot to which nothing else leads in an event's first item."""

SHORT = 16
_OWNERS = 0x9E3779B97F4A7C15


@inlined
def words_of(text, at, length):
    """The first sixteen bytes of `length` as two words, of which the rest is 0; as many are read from `at` on, whatever they are."""
    # by half of the bits twice: a word cannot be moved by all of its 64 bits at once
    half = np.uint64(4 * (8 - min(length, 8)))
    more = np.uint64(4 * (8 - min(max(length - 8, 0), 8)))
    one, two = word_at(text, at), word_at(text, at + 8)
    return one << half << half >> half >> half, two << more << more >> more >> more


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
def _hash_of_words(one, two, length, owner, secrets):
    """The hash of at most sixteen bytes."""
    value = get(secrets, 0) + np.uint64(owner) * np.uint64(_OWNERS)
    high, low = product(one ^ get(secrets, 1), value ^ get(secrets, 2))
    last = (high ^ low) ^ get(secrets, 2) ^ np.uint64(length)
    high, low = product(two ^ get(secrets, 1), last)
    return high ^ low


@inlined
def _hash_of_many(text, at, length, owner, secrets):
    """The hash of more bytes: words times words, both halves of the product folded."""
    value = get(secrets, 0) + np.uint64(owner) * np.uint64(_OWNERS)
    while length > 8:
        high, low = product(word_at(text, at) ^ get(secrets, 1), value ^ get(secrets, 2))
        value = high ^ low
        at += 8
        length -= 8
    last, _ = words_of(text, at, length)
    high, low = product(last ^ get(secrets, 1), value ^ get(secrets, 2) ^ np.uint64(length))
    return high ^ low


@inlined
def sought(text, at, length, owner, secrets):
    """The hash of some bytes of an owner, and two words to know them by: themselves if they are few, else what is of no use and the hash."""
    one, two = words_of(text, at, length)
    if length <= SHORT:
        hash_ = _hash_of_words(one, two, length, owner, secrets)
    else:
        hash_ = two = _hash_of_many(text, at, length, owner, secrets)
    return hash_, np.int64(one), np.int64(two)


@inlined
def find(text, at, length, owner, table, mask, secrets, stored):
    """What stands for `length` bytes at `at` of an owner, or `ABSENT`; and the row where it is, or would be."""
    hash_, one, two = sought(text, at, length, owner, secrets)
    return find_sought(text, at, length, owner, hash_, one, two, table, mask, stored)


@inlined
def find_sought(text, at, length, owner, hash_, one, two, table, mask, stored):
    """The same, of bytes for which `sought` was asked before."""
    meta, short = owner << 16 | length, length <= SHORT
    row = np.int64(hash_ & np.uint64(mask))
    while True:
        base = ROW * row
        known = get(table, base)
        unlike = (known ^ meta) | (get(table, base + 3) ^ two)
        if short:
            unlike |= get(table, base + 2) ^ one
        if unlike == 0 and (short or same(text, at, stored, get(table, base + 2), length)):
            return get(table, base + 1), row
        if known == ABSENT:
            return ABSENT, row
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
            _, one, two = sought(bytes_, at, length, owners[each], keys)
            if length > SHORT:
                for place in range(length):
                    put(kept, n_stored + place, get(bytes_, at + place))
                one = n_stored
                n_stored += length
            put(rows, base + 2, one)
            put(rows, base + 3, two)
        put(rows, base + 1, found[each])
    return new, n_stored


@compiled
def rehash(before, table, secrets):
    """Write all rows of a table into a larger one, which is empty."""
    old, rows = pointer(before, 0, np.int64), pointer(table, 0, np.int64)
    keys = pointer(secrets, 0, np.uint64)
    mask = len(table) // ROW - 1
    for each in range(len(before) // ROW):
        base = ROW * each
        meta = get(old, base)
        if meta == ABSENT:
            continue
        length, owner = meta & 0xFFFF, meta >> 16
        one, two = np.uint64(get(old, base + 2)), np.uint64(get(old, base + 3))
        hash_ = _hash_of_words(one, two, length, owner, keys) if length <= SHORT else two
        row = np.int64(hash_ & np.uint64(mask))
        while get(rows, ROW * row) != ABSENT:
            row = (row + 1) & mask
        for word in range(ROW):
            put(rows, ROW * row + word, get(old, base + word))


@compiled
def longest_run(table):
    """The most rows that lie behind each other: no search looks at more of them."""
    longest = run = 0
    size = len(table) // ROW
    for each in range(2 * size):  # a run may go over the end
        run = run + 1 if table[ROW * (each % size)] != ABSENT else 0
        longest = max(longest, min(run, size))
    return longest
