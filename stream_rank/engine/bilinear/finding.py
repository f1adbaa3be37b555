"""Whether what a user liked next would have been among the first ten: recall and discounted gain, event by event.

Of one in 32 events that are likes, of a user and an item who are both known, the item is hidden among a hundred others that came before and
that the user is not remembered to have rated. They are drawn with replacement from up to 4,096 items, of which every one
that ever came is one with the same probability. Coins depend on the number of the event alone. An item's score is that of `choose`, by
its name alone; popularity's is how often it came. Of equal ones the hidden item is the last.

A like is a label in the upper fifth of the ranks, or the highest.

Cost: two writes an event, and some three microseconds for each that is asked about.

References
----------
J. Vinagre, A. M. Jorge and J. Gama. Evaluation of recommender systems in streaming environments. 2014.
"""

import numpy as np

from stream_rank.engine.bilinear.state import (
    EVENTS,
    FIRST_TRAIT,
    ITEM,
    KNOWN,
    OFFSET,
    USER,
    line,
    mean_of,
)
from stream_rank.engine.coins import word
from stream_rank.engine.jit import called, inlined
from stream_rank.engine.pointers import get, put, shift

__all__ = [
    "AT",
    "FOUND",
    "GAIN",
    "ITEMS",
    "MET",
    "PAIRS",
    "POPULAR",
    "POPULAR_GAIN",
    "QUESTIONS",
    "SUMS",
    "watch",
]

# Entries of the sums: questions; found and gained by the learner; the same by popularity; items that were met.
QUESTIONS, FOUND, GAIN, POPULAR, POPULAR_GAIN, MET = range(6)
SUMS = 6
AT = 10
ITEMS, PAIRS = 1 << 12, 1 << 16
"""Items that are drawn from, and ratings that are remembered."""
_BESIDE, _MOST_DRAWS = 100, 400
_EVERY = np.uint64(31)
_COIN, _DRAW, _PLACE, _KEPT = 0x5EED, 0xD4A3, 0xB1AC, 0x4EE9
_GAINS = (
    *(1.0, 0.6309297535714575, 0.5, 0.43067655807339306, 0.38685280723454163),
    *(0.35620718710802218, 0.3333333333333333, 0.31546487678572871, 0.30102999566398120),
    0.28906482631788788,
)
"""1 over the binary logarithm of the place, counted from 2."""


@inlined
def _one_of(belief, role, slots, values, count):
    """The first of an event's names of a role, or -1."""
    for i in range(count):
        if get(belief.roles, get(slots, i)) == role and get(values, i) != 0.0:
            return get(slots, i)
    return -1


@inlined
def _below(key, event, number, bound):
    """A number below a bound, by its place alone."""
    return np.int64(
        ((word(np.uint64(key), event, number) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)
    )


@inlined
def _pair(user, item):
    return (user << 32) + item + 1


@inlined
def _remembered(pair):
    return np.int64(word(np.uint64(_PLACE), pair, 0) & np.uint64(PAIRS - 1))


@inlined
def _liking(belief, seen, item):
    """What of a score is the item's."""
    numbers = line(belief, item)
    found, means = (1.0 + seen.agreement) * mean_of(numbers, OFFSET), shift(numbers, FIRST_TRAIT)
    for t in range(belief.n_traits):
        found += get(belief.sides.user, t) * np.float64(get(means, t))
    return found


@inlined
def _gain(place):
    found = 0.0
    for each in range(AT):
        found = _GAINS[each] if each == place else found
    return found


@called
def _ask(belief, seen, user, item, sums, items, pairs):
    event, known = get(belief.sizes, EVENTS), min(np.int64(get(sums, MET)), ITEMS)
    mine, often = _liking(belief, seen, item), get(belief.learned, item)
    beside = ahead = more = 0
    for number in range(_MOST_DRAWS):
        other = get(items, _below(_DRAW, event, number, known))
        if not 0 <= other < get(belief.sizes, KNOWN):  # of another's snapshot
            continue
        if other == item or get(belief.roles, other) != ITEM or get(belief.learned, other) == 0:
            continue
        pair = _pair(user, other)
        if get(pairs, _remembered(pair)) == pair:
            continue
        beside += 1
        ahead += _liking(belief, seen, other) >= mine
        more += get(belief.learned, other) >= often
        if beside == _BESIDE:
            break
    if beside < _BESIDE:
        return
    put(sums, QUESTIONS, get(sums, QUESTIONS) + 1.0)
    put(sums, FOUND, get(sums, FOUND) + np.float64(ahead < AT))
    put(sums, GAIN, get(sums, GAIN) + _gain(ahead))
    put(sums, POPULAR, get(sums, POPULAR) + np.float64(more < AT))
    put(sums, POPULAR_GAIN, get(sums, POPULAR_GAIN) + _gain(more))


@inlined
def _liked(belief, rank):
    """Whether a rank is a like, and the event's coin says that it is asked about."""
    high = rank == belief.n_ranks or 5 * rank > 4 * belief.n_ranks
    coin = word(np.uint64(_COIN), get(belief.sizes, EVENTS), 0)
    return high and (coin & _EVERY) == np.uint64(0)


@inlined
def watch(belief, seen, slots, values, count, rank, sums, items, pairs):
    """Ask about an event if its coin says so, before it is learned, and remember who rated what."""
    user, item = (
        _one_of(belief, USER, slots, values, count),
        _one_of(belief, ITEM, slots, values, count),
    )
    if user < 0 or item < 0:
        return
    if (
        get(belief.learned, item) == 0
    ):  # an item that is new: each of those that came stays with the same probability
        met = np.int64(get(sums, MET))
        place = met if met < ITEMS else _below(_KEPT, met, 0, met + 1)
        if place < ITEMS:
            put(items, place, item)
        put(sums, MET, np.float64(met + 1))
    elif get(belief.learned, user) > 0 and _liked(belief, rank):
        _ask(belief, seen, user, item, sums, items, pairs)
    pair = _pair(user, item)
    put(pairs, _remembered(pair), pair)
