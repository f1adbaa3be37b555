"""What Python calls to teach and to ask a belief about users, items and thresholds."""

import numpy as np

from stream_rank.engine.bilinear.finding import watch
from stream_rank.engine.bilinear.forecast import forecast, judge, write_shares
from stream_rank.engine.bilinear.learning import learn_pair, learn_rank
from stream_rank.engine.bilinear.population import count
from stream_rank.engine.bilinear.state import (
    FEW,
    FIRST_TRAIT,
    GROUPS,
    ITEM_TRAIT,
    KNOWN,
    line,
    open_belief,
)
from stream_rank.engine.bilinear.views import (
    is_name,
    of_item,
    see,
)
from stream_rank.engine.coins import word
from stream_rank.engine.events import bounded
from stream_rank.engine.few import few_entries
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import as_element, get, pointer, prefetch, put, shift

__all__ = ["forget", "introduce", "opinions", "run", "run_pairs", "take_few", "take_row"]

_AT_FIRST = 0.2
"""The deviation of an item's traits before its first event, as a share of that of the prior."""
_AHEAD = 3
"""So many events before its own, what is believed of an event's features is sent for."""
_UNIT = 3.4641016151377544 / 18446744073709551616.0
"""What makes 64 random bits a number of variance 1, once half of it is taken away."""


@inlined
def _drawn(judged):
    """The score as thresholds are compared with it: that of a user who stretches them is drawn together instead."""
    return judged.score / judged.stretch


@inlined
def _score(belief, slots, values, n_entries):
    seen = see(belief, belief.sides, slots, values, n_entries, False)
    return _drawn(judge(belief, belief.sides, seen))


@inlined
def _rank(belief, score):
    """The median rank: both higher and lower ones are at most half as probable as the rest."""
    rank = 1
    for j in range(belief.n_ranks - 1):
        if get(belief.thresholds, j) <= score:
            rank = j + 2
    return rank


@compiled
def introduce(block, slots, roles, keys, seed):
    """Give features their roles, and the traits of items their means by chance: the same for a name and a seed, whenever it comes."""
    belief = open_belief(block)
    width = _AT_FIRST * np.sqrt(get(belief.population, 2 * GROUPS + ITEM_TRAIT))
    for i in range(slots.size):
        slot = slots[i]
        put(belief.roles, slot, roles[i])
        if of_item(roles[i]):
            numbers = line(belief, slot)
            for t in range(belief.n_traits):
                chance = np.float64(word(np.uint64(seed), keys[i], t)) * _UNIT - 1.7320508075688772
                put(numbers, FIRST_TRAIT + t, as_element(numbers, width * chance))
        put(belief.sizes, KNOWN, max(get(belief.sizes, KNOWN), slot + 1))


@compiled
def forget(block, slots):
    """Know nothing of features any more, and take users and items out of the population."""
    belief = open_belief(block)
    for i in range(slots.size):
        slot = slots[i]
        role = get(belief.roles, slot)
        if get(belief.learned, slot) > 0 and is_name(role):
            count(belief, slot, role, -1.0, -1.0)
        put(belief.learned, slot, 0)
        numbers = line(belief, slot)
        for j in range(belief.width):
            put(numbers, j, as_element(numbers, 0.0))


@inlined
def _fetch(belief, slots, first, end):
    """Have what is believed of features come near before it is needed: users and items are all over the memory."""
    for entry in range(first, end):
        slot = get(slots, entry)
        prefetch(belief.learned, slot)
        prefetch(belief.roles, slot)
        for number in range(0, belief.width, 8):
            prefetch(belief.beliefs, slot * belief.width + number)


@compiled
def run(
    block,
    starts,
    slots,
    values,
    ranks,
    predictions,
    learning,
    shares,
    asking,
    sums,
    items,
    pairs,
):
    """Predict the ranks of the rows of a CSR matrix with ascending slots, each before it is learned if its entry of `learning` says so.

    Each rank's probability, as before it was learned, is written to `shares`, unless that is empty. What is believed of a row is seen
    once, for the rank, the probabilities and the lesson. Of those of `asking` that are learned, `finding.watch` counts likes, unless
    there is no room for `items`.
    """
    belief, asked = open_belief(block), shares.size > 0
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    probabilities, watching = pointer(shares, 0, np.float64), items.size > 0
    sums_at, items_at, pairs_at = (
        pointer(sums, 0, np.float64),
        pointer(items, 0, np.int64),
        pointer(pairs, 0, np.int64),
    )
    last = predictions.size - 1
    for i in range(predictions.size):
        ahead = min(i + _AHEAD, last)
        _fetch(belief, where, starts[ahead], starts[ahead + 1])
        first, n_entries = starts[i], starts[i + 1] - starts[i]
        some, numbers = shift(where, first), shift(what, first)
        seen = see(belief, belief.sides, some, numbers, n_entries, False)
        judged = judge(belief, belief.sides, seen)
        predictions[i] = _rank(belief, _drawn(judged))
        if asked or learning[i]:
            forecast(belief, seen, judged)
        if asked:
            write_shares(belief, shift(probabilities, i * shares.shape[1]))
        if watching and learning[i] and asking[i]:
            counts = ranks[i], sums_at, items_at, pairs_at
            watch(belief, seen, some, numbers, n_entries, *counts)
        if learning[i]:
            learn_rank(belief, some, numbers, n_entries, ranks[i], seen, judged)


@compiled
def opinions(block, starts, slots, values, shares, scores):
    """For rows of a CSR matrix: each rank's probability, and the score."""
    belief = open_belief(block)
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, block.dtype)
    for i in range(scores.size):
        some, numbers = shift(where, starts[i]), shift(what, starts[i])
        seen = see(belief, belief.sides, some, numbers, starts[i + 1] - starts[i], False)
        judged = judge(belief, belief.sides, seen)
        forecast(belief, seen, judged)
        write_shares(belief, pointer(shares[i], 0, np.float64))
        scores[i] = _drawn(judged)


@inlined
def _take(belief, slots, values, n_entries, rank, learning):
    if not learning:
        return _rank(belief, _score(belief, slots, values, n_entries))
    seen = see(belief, belief.sides, slots, values, n_entries, False)
    judged = judge(belief, belief.sides, seen)
    forecast(belief, seen, judged)
    learn_rank(belief, slots, values, n_entries, rank, seen, judged)
    return rank


@compiled
def take_few(block, n_entries, rank, bound, learning):
    """The rank of the event in the section `few`, or, learned if `learning`, its own; 0, and nothing learned, beyond `bound`."""
    event = few_entries(block, FEW, n_entries, bound)
    if event.count < 0:
        return 0
    return _take(open_belief(block), event.slots, event.values, event.count, rank, learning)


@compiled
def take_row(block, rank, bound, learning):
    """The same for the event in the section `row`."""
    belief = open_belief(block)
    if not bounded(belief.row, belief.slots, bound):
        return 0
    # the entries have places of their own: `learn_rank` writes theirs over `slots_met`
    n_entries, slots = 0, belief.row_slots
    for slot in range(belief.slots):
        if get(belief.row, slot) != 0.0:
            put(slots, n_entries, slot)
            put(belief.row, n_entries, get(belief.row, slot))
            n_entries += 1
    return _take(belief, slots, belief.row, n_entries, rank, learning)


@compiled
def run_pairs(block, starts, slots, values, others, other_slots, other_values, magnitudes, ahead):
    """Learn that rows are preferred to others; where `ahead` is empty nobody asks by how much they were."""
    belief = open_belief(block)
    for i in range(magnitudes.size):
        one = shift(pointer(slots, 0, np.int64), starts[i])
        value = shift(pointer(values, 0, block.dtype), starts[i])
        two = shift(pointer(other_slots, 0, np.int64), others[i])
        other = shift(pointer(other_values, 0, block.dtype), others[i])
        n_one, n_two = starts[i + 1] - starts[i], others[i + 1] - others[i]
        if ahead.size > 0:
            lead = _score(belief, one, value, n_one)
            ahead[i] = lead - _score(belief, two, other, n_two)
        learn_pair(belief, one, value, n_one, two, other, n_two, magnitudes[i])
