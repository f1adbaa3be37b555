"""What Python calls to teach and to ask a belief about weights and thresholds.

An event is predicted by its score and the thresholds alone. It is learned in three steps: the variances of the
score less the two thresholds around its rank are found, `settle` says where both come to rest, and the belief becomes more certain of
their mean, weighted by curvature, and of their distance. The first needs all of the covariance, the second only what edges have of it.
"""

import numpy as np

from stream_rank.engine.events import Dense, Sparse, bounded, inner
from stream_rank.engine.factors import introduce, marginalise
from stream_rank.engine.few import few_entries
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import spread, store
from stream_rank.engine.ordinal.edges import (
    absorb_edges,
    covariance,
    mix,
    move_edges,
    no_slopes,
    pass_gap,
    write_products,
    write_slopes,
)
from stream_rank.engine.ordinal.evidence import n_beliefs, weigh
from stream_rank.engine.ordinal.likelihood import logistic, settle
from stream_rank.engine.ordinal.precision import certain, meet, move_weights, spread_of
from stream_rank.engine.ordinal.state import (
    DECISION,
    EVENTS,
    FEATURES,
    FEW,
    FORGETTING,
    MODE,
    TIE,
    TIE_EDGE,
    open_any,
    open_belief,
)
from stream_rank.engine.pairs import write_difference
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled

__all__ = [
    *(
        "begin_features",
        "forget_feature",
        "learn_pair",
        "learn_row",
        "opinions",
        "opinions_sparse",
        "predict_row",
    ),
    *("run", "run_pairs", "run_pairs_sparse", "run_sparse", "take_few"),
]

_LEAST_CURVATURE = 1e-150
"""One over less would be no number. What says nothing must teach nothing: its noise has to be beyond every variance."""
_PI_EIGHTHS = 0.39269908169872414


@inlined
def _score(belief, event):
    return inner(belief.weights, event)


@inlined
def _median(belief, score):
    """The rank that both higher and lower ones are at most half as probable as the rest."""
    rank = 1
    for j in range(belief.n_ranks - 1):
        if get(belief.thresholds, j) <= score:
            rank = j + 2
    return rank


@inlined
def _write_shares(belief, event, score, shares):
    """The probability of every rank, what is uncertain about weights and thresholds included.

    A logistic function of a Gaussian has the mean, nearly, of that function of its mean over `sqrt(1 + pi / 8 * variance)`
    (D. MacKay, 1992).
    """
    before = 0.0
    if belief.n_ranks > 1:
        variance = spread_of(belief, event)
        write_slopes(belief, 0, belief.slope_above)
        write_products(belief, belief.slope_above, belief.above)
        for j in range(belief.n_ranks - 1):
            if j > 0:
                pass_gap(belief, j - 1, belief.above)
            whole = variance + covariance(belief, belief.above, belief.above)
            far = (get(belief.thresholds, j) - score) / np.sqrt(1.0 + _PI_EIGHTHS * whole)
            up_to = max(before, logistic(far))
            put(shares, j, up_to - before)
            before = up_to
    put(shares, belief.n_ranks - 1, 1.0 - before)


@inlined
def _answer(belief, event, score):
    """The predicted rank."""
    if get(belief.sizes, DECISION) != MODE:
        return _median(belief, score)
    _write_shares(belief, event, score, belief.shares)
    best = 0
    for rank in range(1, belief.n_ranks):
        if get(belief.shares, rank) > get(belief.shares, best):
            best = rank
    return best + 1


@inlined
def _widen(belief, noise, step):
    """Become more certain of the distance of two thresholds, by products in `apart`, and move by `step` times its `P u`."""
    gain = belief.covariance.gain
    for i in range(0, belief.width, 8):
        store(gain, i, spread(0.0))
    absorb_edges(belief, gain, belief.width, belief.apart, noise)
    add_scaled(belief.weights, step, gain, belief.width)


@inlined
def _add_gain(belief, step):
    for j in range(belief.edges):
        put(belief.moved, j, get(belief.moved, j) + step * get(belief.edge_gain, j))


@inlined
def _observe(belief, event, has_above, has_below, place, gap):
    """Learn that the score is below one threshold, and not below another; how these depend on edges is written.

    `place` is how far the lower of them, or the only one, is above the score.
    """
    variance, both = spread_of(belief, event), has_above and has_below
    if has_above:
        write_products(belief, belief.slope_above, belief.above)
    if has_below:
        write_products(belief, belief.slope_below, belief.below)
    first = belief.below if has_below else belief.above
    var, cov, var_gap = variance + covariance(belief, first, first), 0.0, 0.0
    if both:
        for j in range(belief.edges):
            put(belief.apart, j, get(belief.below, j) - get(belief.above, j))
        cov = -covariance(belief, first, belief.apart)  # products are of the score less a threshold
        var_gap = covariance(belief, belief.apart, belief.apart)
    along, wider, above, below, between = settle(
        has_above, has_below, place, gap, var, cov, var_gap
    )
    # What was told, was told of the mean of both thresholds, weighted by curvature, and apart from it of their gap.
    curve = above + below
    share = 1.0 if has_above else 0.0
    if both:
        share = above / curve if curve > 0.0 else 0.5
    mix(belief, share, belief.above if has_above else first, first, belief.mixed)
    for j in range(belief.edges):
        put(belief.moved, j, 0.0)
    apart, shared = 0.0, 0.0
    if both:
        apart = wider - share * along
        shared = covariance(belief, belief.mixed, belief.apart)
    total = certain(belief, event, variance, belief.mixed, 1.0 / max(curve, _LEAST_CURVATURE))
    step = apart * shared / total - along
    move_weights(belief, event, step, total)
    _add_gain(belief, step)
    if both:
        for j in range(belief.edges):
            slope = get(belief.slope_below, j) - get(belief.slope_above, j)
            put(belief.slope_above, j, slope)
            put(belief.crossed, j, 0.0)
        write_products(belief, belief.slope_above, belief.apart)
        between += below * share
        _widen(belief, 1.0 / max(between, _LEAST_CURVATURE), apart)
        _add_gain(belief, apart)
    move_edges(belief)


@inlined
def _learn(belief, event, score, rank):
    """Learn the rank of an event that was met."""
    if belief.n_ranks > 1:
        has_above, has_below, place, gap = rank < belief.n_ranks, rank > 1, 0.0, 0.0
        if has_above:
            write_slopes(belief, rank - 1, belief.slope_above)
            place = get(belief.thresholds, rank - 1) - score
        if has_below:
            write_slopes(belief, rank - 2, belief.slope_below)
            place = get(belief.thresholds, rank - 2) - score
        if has_above and has_below:
            gap = get(belief.thresholds, rank - 1) - get(belief.thresholds, rank - 2)
        _observe(belief, event, has_above, has_below, place, gap)
    put(belief.sizes, EVENTS, get(belief.sizes, EVENTS) + 1)


@inlined
def _teach(block, event, rank):
    """Learn the rank of an event, by each belief that learns."""
    count, said, rival_said, forgetting = n_beliefs(block), 1.0, 1.0, 1.0
    for back in range(count):
        belief = open_any(block, count - 1 - back)  # the leader last
        score, forgetting = _score(belief, event), get(belief.parameters, FORGETTING)
        meet(belief, event)
        if count > 1:
            _write_shares(belief, event, score, belief.shares)
            rival_said, said = said, get(belief.shares, rank - 1)
        _learn(belief, event, score, rank)
    if count > 1:
        weigh(block, said, rival_said, forgetting)


@inlined
def _pair_share(belief, event, score, width, magnitude):
    """How probable it is that the score is beyond the width of ties, or with magnitude 0 within it, as `_write_shares` has it."""
    no_slopes(belief, belief.slope_above)
    put(belief.slope_above, TIE_EDGE, width)
    variance = spread_of(belief, event)
    write_products(belief, belief.slope_above, belief.above)
    whole = variance + covariance(belief, belief.above, belief.above)
    scale = np.sqrt(1.0 + _PI_EIGHTHS * whole)
    if magnitude == 0.0:
        return logistic((width - score) / scale) - logistic((-width - score) / scale)
    return logistic((score - width) / scale)


@inlined
def _learn_pair(belief, event, score, width, magnitude):
    """Learn that the difference of two items, the event, is beyond the width of ties, or with magnitude 0 within it."""
    no_slopes(belief, belief.slope_above)
    no_slopes(belief, belief.slope_below)
    put(belief.slope_above, TIE_EDGE, width)
    if magnitude == 0.0:
        put(belief.slope_below, TIE_EDGE, -width)
        _observe(belief, event, True, True, -width - score, 2.0 * width)
    else:
        put(belief.slope_below, TIE_EDGE, width)
        _observe(belief, event, False, True, width - score, 0.0)
    put(belief.sizes, EVENTS, get(belief.sizes, EVENTS) + 1)


@inlined
def _teach_pair(block, event, magnitude):
    """Learn a pair, by each belief that learns."""
    count, said, rival_said, forgetting = n_beliefs(block), 1.0, 1.0, 1.0
    for back in range(count):
        belief = open_any(block, count - 1 - back)  # the leader last
        score, width = _score(belief, event), get(belief.parameters, TIE)
        forgetting = get(belief.parameters, FORGETTING)
        meet(belief, event)
        if count > 1:
            rival_said, said = said, _pair_share(belief, event, score, width, magnitude)
        _learn_pair(belief, event, score, width, magnitude)
    if count > 1:
        weigh(block, said, rival_said, forgetting)


@inlined
def _take(block, belief, event, label, learning, shares, i):
    """Predict the rank of an event, and then learn it if asked to; what is only asked has its row of `shares`, unless that is empty."""
    score = _score(belief, event)
    rank = _answer(belief, event, score)
    if learning:
        _teach(block, event, label)
    elif shares.size > 0:
        _write_shares(belief, event, score, pointer(shares[i], 0, np.float64))
    return rank


@compiled
def begin_features(block, first, end, count):
    """Give features their place in the full covariance; they take part when they have a value.

    All of `count` beliefs have them, also a rival that was given up: how much room there is may not show in what is known.
    """
    for number in range(count):
        belief = open_any(block, number)
        for column in range(first, end):
            introduce(belief.covariance, column, 0.0)
        put(belief.sizes, FEATURES, max(end, get(belief.sizes, FEATURES)))


@compiled
def forget_feature(block, feature):
    """Know nothing of a feature of the full covariance, and all that was known of the others."""
    for number in range(n_beliefs(block)):
        marginalise(open_any(block, number).covariance, feature)


@compiled
def run(block, rows, labels, ranks, learning, shares):
    """Predict the ranks of dense rows, each before it is learned if its entry of `learning` says so.

    Each rank's probability is asked of rows that are not learned, unless `shares` is empty.
    """
    belief = open_belief(block)
    values, slots = pointer(rows, 0, np.float64), belief.slots
    for i in range(ranks.size):
        event = Dense(shift(values, i * slots), slots)
        ranks[i] = _take(block, belief, event, labels[i], learning[i], shares, i)


@inlined
def _entries(starts, slots, values, i):
    """A row of a CSR matrix as an event."""
    where, what = pointer(slots, 0, np.int64), pointer(values, 0, np.float64)
    return Sparse(shift(where, starts[i]), shift(what, starts[i]), starts[i + 1] - starts[i])


@compiled
def run_sparse(block, starts, slots, values, labels, ranks, learning, shares):
    """`run` for the rows of a CSR matrix with ascending slots."""
    belief = open_belief(block)
    for i in range(ranks.size):
        event = _entries(starts, slots, values, i)
        ranks[i] = _take(block, belief, event, labels[i], learning[i], shares, i)


@compiled
def learn_row(block, label, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    belief = open_belief(block)
    if not bounded(belief.row, belief.slots, bound):
        return False
    _teach(block, Dense(belief.row, belief.slots), label)
    return True


@compiled
def predict_row(block, bound):
    """The rank of the event in the section `row`; 0 if a number is beyond `bound`."""
    belief = open_belief(block)
    if not bounded(belief.row, belief.slots, bound):
        return 0
    event = Dense(belief.row, belief.slots)
    return _answer(belief, event, _score(belief, event))


@compiled
def take_few(block, count, rank, bound, learning):
    """The rank of the event in the section `few`, or, learned if `learning`, its own; 0, and nothing learned, beyond `bound`."""
    event = few_entries(block, FEW, count, bound)
    if event.count < 0:
        return 0
    if learning:
        _teach(block, event, rank)
        return rank
    belief = open_belief(block)
    return _answer(belief, event, _score(belief, event))


@compiled
def opinions(block, rows, shares, scores):
    """For dense rows: each rank's probability, and the score."""
    belief = open_belief(block)
    values, slots = pointer(rows, 0, np.float64), belief.slots
    for i in range(scores.size):
        event = Dense(shift(values, i * slots), slots)
        scores[i] = _score(belief, event)
        _write_shares(belief, event, scores[i], pointer(shares[i], 0, np.float64))


@compiled
def opinions_sparse(block, starts, slots, values, shares, scores):
    """`opinions` for the rows of a CSR matrix."""
    belief = open_belief(block)
    for i in range(scores.size):
        event = _entries(starts, slots, values, i)
        scores[i] = _score(belief, event)
        _write_shares(belief, event, scores[i], pointer(shares[i], 0, np.float64))


@compiled
def learn_pair(block, magnitude, bound):
    """Learn the pair whose difference is in the section `row`; False, and nothing learned, beyond `bound`."""
    belief = open_belief(block)
    if not bounded(belief.row, belief.slots, bound):
        return False
    _teach_pair(block, Dense(belief.row, belief.slots), magnitude)
    return True


@compiled
def run_pairs(block, rows, others, magnitudes, ahead):
    """Learn that rows are preferred to others; where `ahead` is empty nobody asks by how much they were."""
    belief = open_belief(block)
    slots, row = belief.slots, belief.row
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, np.float64), i * slots)
        other = shift(pointer(others, 0, np.float64), i * slots)
        if ahead.size > 0:
            lead = _score(belief, Dense(preferred, slots))
            ahead[i] = lead - _score(belief, Dense(other, slots))
        write_difference(row, preferred, other, slots)
        _teach_pair(block, Dense(row, slots), magnitudes[i])


@compiled
def run_pairs_sparse(
    block,
    starts,
    slots,
    values,
    starts_2,
    slots_2,
    values_2,
    starts_3,
    slots_3,
    values_3,
    magnitudes,
    ahead,
):
    """`run_pairs` for the rows of CSR matrices; the third of them holds the differences."""
    belief = open_belief(block)
    for i in range(magnitudes.size):
        if ahead.size > 0:
            lead = _score(belief, _entries(starts, slots, values, i))
            ahead[i] = lead - _score(belief, _entries(starts_2, slots_2, values_2, i))
        _teach_pair(block, _entries(starts_3, slots_3, values_3, i), magnitudes[i])
