"""PRank, N times over the same events: the engine of PRank and of the OAP family.

A member holds weights `w` and thresholds `c(1) <= ... <= c(k-1)`, with `c(0) = -inf` and
`c(k) = inf` beside them. Its rank of `x` is the smallest `r` with `w.x - c(r) < 0`. On a
round that its coin chose and whose rank was wrong, every threshold on the wrong side
(ties count as wrong) moves one step, and the weights move by `x` times the sum of the steps
(Crammer and Singer, 2001; Harrington, 2003).

An event goes through four phases:

1. *score*: the members whose opinion is needed, each a row of weights;
2. *rule*: the rank of the whole, by the averaged rule or by votes;
3. *judge*: which of the chosen members are wrong;
4. *mend*: the thresholds and weights of those, and the averaged rule with them.

No branch depends on whether one member is right: a mispredicted branch costs more than the whole
round of a narrow member. The averaged rule is kept up to date as members move, so predicting by it
costs O(d).

Cost of an event: O(rate * N * d + N) to learn, O(d + k) to predict by the averaged rule,
O(N * (d + k)) by votes.
"""

import numpy as np

from stream_rank.engine.coins import WORD, toss
from stream_rank.engine.events import add, inner, inner_eight
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import but_not, count, list_bits, load, ramp, spread, store, where
from stream_rank.engine.perceptron.presence import average
from stream_rank.engine.perceptron.state import (
    AVERAGED,
    EVENTS,
    GROUP,
    KEY,
    LASTING,
    PRESENT,
    RATE,
    SUMS,
    UPDATES,
    VOTED,
    WEIGHTED,
)
from stream_rank.engine.pointers import as_element, get, pointer, put, shift

__all__ = [
    "averaged_rank",
    "choose",
    "consider",
    "find_wrong",
    "learn",
    "mend",
    "reached",
    "score",
    "step",
    "take",
    "utility",
]

BIT_PLACES = np.array(
    [
        sum(place << 8 * i for i, place in enumerate(p for p in range(8) if byte >> p & 1))
        for byte in range(256)
    ],
    np.uint64,
)
"""For every byte the places of its bits, a byte each, lowest first."""


@inlined
def choose(state, number):
    """Toss the coins of event `number`, list the members that learn it, and say how many they are."""
    key, rate = np.uint64(get(state.sizes, KEY)), np.uint64(get(state.sizes, RATE))
    table = pointer(BIT_PLACES, 0, np.uint64)
    n_chosen = 0
    for first in range(0, state.n_members, WORD):
        heads = toss(key, number, first, rate)
        left = min(state.n_members - first, WORD)
        if left < WORD:
            heads &= (np.uint64(1) << np.uint64(left)) - np.uint64(1)
        put(state.coins, first // WORD, heads)
        for bit in range(0, left, 8):
            byte = np.int64((heads >> np.uint64(bit)) & np.uint64(255))
            n_chosen += list_bits(shift(state.chosen, n_chosen), first + bit, table, byte)
    return n_chosen


@inlined
def score(state, event, members, n_members, narrow):
    """Score the members on a list, in its order; on a narrow event in eights, so up to seven entries after the list too."""
    if narrow:
        for i in range(0, n_members, GROUP):
            eight = inner_eight(state.weights, state.slots, shift(members, i), event)
            store(state.scores, i, eight)
    else:
        for i in range(n_members):
            row = shift(state.weights, np.int64(get(members, i)) * state.slots)
            put(state.scores, i, np.float64(inner(row, event)))


@inlined
def reached(thresholds, score_, edges):
    """How many thresholds a score has reached, the one at minus infinity among them: its rank."""
    rank = 0
    for r in range(0, edges, GROUP):
        rank += count(load(thresholds, r, 0.0) <= spread(score_))
    return rank


@inlined
def vote_rank(state, voters):
    """The mean vote of the first `voters` members, who have been scored, rounded to a rank; halves go up.

    Votes are weighted by correct ranks if that is the rule and anybody was ever right.
    """
    votes, merits, merit = 0, 0, 0
    for j in range(voters):
        rank = reached(shift(state.thresholds, j * state.edges), get(state.scores, j), state.edges)
        votes += rank
        merits += rank * get(state.correct, j)
        merit += get(state.correct, j)
    if state.rule == WEIGHTED and merit > 0:
        votes, voters = merits, merit
    return (2 * votes + voters) // (2 * voters)


@inlined
def utility(state, event):
    """The averaged rule's score of an event, times the number of what was averaged."""
    mean = inner(state.mean, event)
    if state.rule >= LASTING:
        rounds = np.float64(get(state.sizes, EVENTS))
        sum_ = rounds * np.float64(inner(state.weights, event)) - mean
        if state.rule == PRESENT and get(state.late, 0) > 0:
            sum_ += rounds * inner(state.lag, event)
        return sum_
    return mean


@inlined
def averaged_rank(state, event):
    """The averaged rule's rank of an event."""
    score_ = utility(state, event)
    if state.rule == AVERAGED:
        return reached(state.mean_thresholds, score_, state.edges)
    rounds, rank = np.float64(get(state.sizes, EVENTS)), 1
    for r in range(1, state.n_ranks):
        edge = rounds * get(state.thresholds, r) - get(state.mean_thresholds, r)
        rank += score_ >= edge
    return rank


@inlined
def judge(state, label, members, n_members, everybody):
    """List the members that are wrong, move their scores up to match, and say how many they are.

    If everybody was scored, only those count whose coin came up; of these the others have one more correct rank.
    """
    lower = shift(state.thresholds, label - 1)
    n_wrong = 0
    for i in range(n_members):
        j, score_ = np.int64(get(members, i)), get(state.scores, i)
        at = j * state.edges
        wrong = (score_ < get(lower, at)) | (get(lower, at + 1) <= score_)
        if everybody:
            coin = ((get(state.coins, j // WORD) >> np.uint64(j % WORD)) & np.uint64(1)) != 0
            if state.rule == WEIGHTED:
                put(state.correct, j, get(state.correct, j) + (coin & (not wrong)))
            wrong &= coin
        put(state.wrong, n_wrong, np.uint32(j))
        put(state.scores, n_wrong, score_)
        n_wrong += wrong
    return n_wrong


@inlined
def step(state, j, score_, label, steps):
    """Step the thresholds of a wrong member that are on the wrong side; minus the sum of the steps."""
    thresholds = shift(state.thresholds, j * state.edges)
    one, zero, minus, scores = spread(1.0), spread(0.0), spread(-1.0), spread(score_)
    move = 0
    for r in range(0, state.edges, GROUP):
        edges = load(thresholds, r, 0.0)
        below = ramp(np.float64(r)) < spread(np.float64(label))
        down, up = below & (scores <= edges), but_not(edges <= scores, below)
        moves = where(down, minus, where(up, one, zero))
        store(thresholds, r, edges + moves)
        store(steps, r, load(steps, r, 0.0) + moves)
        move += count(down) - count(up)
    return np.float64(move)


@inlined
def mend(state, event, label, n_wrong, rounds):
    """Mend the members on the list of wrong ones, and the averaged rule with them."""
    averaging = state.rule == AVERAGED or state.rule >= LASTING
    zero, moved = spread(0.0), 0.0
    for r in range(0, SUMS * state.edges, GROUP):
        store(state.steps, r, zero)
    for i in range(n_wrong):
        j = np.int64(get(state.wrong, i))
        steps = shift(state.steps, (i % SUMS) * state.edges)
        move = step(state, j, get(state.scores, i), label, steps)
        add(shift(state.weights, j * state.slots), as_element(state.weights, move), event)
        moved += move
    if averaging:
        for r in range(0, state.edges, GROUP):
            sum_ = zero
            for i in range(SUMS):
                sum_ = sum_ + load(state.steps, i * state.edges + r, 0.0)
            mean = load(state.mean_thresholds, r, 0.0)
            store(state.mean_thresholds, r, mean + spread(rounds) * sum_)
        average(state, event, moved)
    put(state.sizes, UPDATES, get(state.sizes, UPDATES) + n_wrong)


@inlined
def consider(state, event, learning, narrow):
    """Phases 1 and 2: the rank of an event, and how many members were scored for it."""
    members, n_members = state.chosen, 0
    if learning:
        n_members = choose(state, get(state.sizes, EVENTS))
    if state.rule == VOTED or state.rule == WEIGHTED:
        score(state, event, state.everybody, state.n_members, narrow)
        return vote_rank(state, state.n_members), state.n_members
    score(state, event, members, n_members, narrow)
    return averaged_rank(state, event), n_members


@inlined
def find_wrong(state, label, n_members):
    """Phase 3, after `consider`: list the wrong ones among those that were scored and chosen."""
    if state.rule == VOTED or state.rule == WEIGHTED:
        return judge(state, label, state.everybody, n_members, True)
    return judge(state, label, state.chosen, n_members, False)


@inlined
def learn(state, event, label, n_wrong):
    """Phase 4, and the round is over."""
    number = get(state.sizes, EVENTS)
    mend(state, event, label, n_wrong, np.float64(number) if state.rule >= LASTING else 1.0)
    put(state.sizes, EVENTS, number + 1)


@inlined
def take(state, event, label, learning, narrow):
    """Predict an event's rank, and then learn it if asked to: all four phases."""
    rank, n_members = consider(state, event, learning, narrow)
    if learning:
        learn(state, event, label, find_wrong(state, label, n_members))
    return rank
