"""How an event moves what is believed of its user, its item and the thresholds.

A rank says that the score is below one threshold and not below another. To the first order both distances are straight functions of
all parameters, whose belief is Gaussian and independent: `settle` says where both come to rest, every parameter
moves by its variance times its slope times what was told, and becomes more certain by as much as the curvature there says. A
preference says the same of the difference of two scores and the width of ties; names that both items share have the
difference of their slopes.

Both sides' traits move by what was believed of the other's before the event: taken one after the other, the second would be
told twice.
"""

import numpy as np

from stream_rank.engine.bilinear.edges import (
    gap_width,
    move_thresholds,
    stretched,
    write_gap_slopes,
)
from stream_rank.engine.bilinear.forecast import forecast, judge, sharpen
from stream_rank.engine.bilinear.population import count, prior
from stream_rank.engine.bilinear.state import (
    AGREEMENT,
    EVENTS,
    FIRST_TRAIT,
    MIDDLE_VARIANCE,
    MOOD,
    MOOD_SPREAD,
    OFFSET,
    SCALE,
    SQUARES,
    TIE,
    TIE_VARIANCE,
    USER,
    USER_AGREEMENT,
    USER_SCALE,
    line,
    mean_of,
    set_mean,
    set_variance,
    variance_of,
)
from stream_rank.engine.bilinear.traits import move_traits
from stream_rank.engine.bilinear.views import (
    Seen,
    drifted,
    is_name,
    kind_of,
    of_item,
    of_user,
    passed_mood,
    prior_of,
    score_of,
    see,
    traits_before,
)
from stream_rank.engine.exponentials import exponential_soon
from stream_rank.engine.jit import called, inlined
from stream_rank.engine.ordinal.likelihood import likelihood_with
from stream_rank.engine.pointers import as_element, get, put

__all__ = ["learn_pair", "learn_rank"]

_, _, settle = likelihood_with(exponential_soon, takes_last=True)
_SETTLED = 1e-12
"""The step that is left is at most a millionth of the move, and it is taken: moves are right to some eleven digits, and the curvatures, which
variances shrink by, to six or more. Traits are taken as straight here, so more would say nothing."""
_NEW = -1
"""What is learned for the first time came in so many events, until it did."""
_LEAST_LEFT = 1e-6
"""No event leaves less of a variance."""
_MOST_SCALE = 5.0
"""No user's thresholds are stretched or drawn together by more than `exp` of that."""
_MOOD_RATE, _LEAST_MOOD = 0.01, 1e-4
"""How fast the variance of moods follows what events say of it."""


@inlined
def _entry(belief, place, slot, value, other):
    if value == 0.0 and other == 0.0:
        return 0
    put(belief.slots_met, place, slot)
    put(belief.firsts, place, value)
    put(belief.seconds, place, other)
    return 1


@inlined
def _merge(belief, slots, values, count_, others, other_values, n_others):
    """Write two events as one list of slots with the value in either; how many there are."""
    found, j = 0, 0
    for i in range(count_):
        slot, value = get(slots, i), np.float64(get(values, i))
        while j < n_others and get(others, j) < slot:
            found += _entry(belief, found, get(others, j), 0.0, np.float64(get(other_values, j)))
            j += 1
        other = 0.0
        if j < n_others and get(others, j) == slot:
            other = np.float64(get(other_values, j))
            j += 1
        found += _entry(belief, found, slot, value, other)
    while j < n_others:
        found += _entry(belief, found, get(others, j), 0.0, np.float64(get(other_values, j)))
        j += 1
    return found


@inlined
def _begin_user(belief, numbers):
    """Begin what only users have."""
    set_variance(numbers, MOOD, get(belief.parameters, MOOD_SPREAD))
    set_variance(numbers, SCALE, prior(belief, USER_SCALE))
    set_variance(numbers, AGREEMENT, prior(belief, USER_AGREEMENT))


@inlined
def _begin(belief, slot, role):
    """Believe the prior of a feature. An item's traits have means already, by chance: without any, no trait would ever move."""
    numbers = line(belief, slot)
    put(belief.learned, slot, _NEW)
    set_variance(numbers, OFFSET, prior_of(belief, role))
    if of_user(role) or of_item(role):
        variance = traits_before(belief, role)
        for t in range(belief.n_traits):
            put(numbers, FIRST_TRAIT + belief.n_traits + t, as_element(numbers, variance))
    if role == USER:
        _begin_user(belief, numbers)


@inlined
def _meet(belief, n_entries):
    """Begin what is new, and let what is believed of users drift; nothing of these counts in the population's sums from here on."""
    for i in range(n_entries):
        one, two = get(belief.firsts, i), get(belief.seconds, i)
        place = SQUARES + kind_of(get(belief.roles, get(belief.slots_met, i)))
        put(belief.parameters, place, get(belief.parameters, place) + one * one + two * two)
    for i in range(n_entries):
        slot = get(belief.slots_met, i)
        if get(belief.learned, slot) == 0:
            _begin(belief, slot, get(belief.roles, slot))
    for i in range(n_entries):
        slot = get(belief.slots_met, i)
        role, numbers = get(belief.roles, slot), line(belief, slot)
        if is_name(role) and get(belief.learned, slot) > 0:
            grown = drifted(belief, numbers)
            count(belief, slot, role, -1.0, 0.0)
            if role == USER:
                set_variance(numbers, OFFSET, grown)
                mood, variance = passed_mood(belief, numbers)
                set_mean(numbers, MOOD, mood)
                set_variance(numbers, MOOD, variance)


@inlined
def _moved(numbers, which, slope, along, told):
    """Move a mean, and shrink the variance beside it."""
    variance = variance_of(numbers, which)
    set_mean(numbers, which, mean_of(numbers, which) + variance * slope * along)
    set_variance(numbers, which, variance * max(1.0 - variance * slope * slope * told, _LEAST_LEFT))


@inlined
def _move(belief, n_entries, seen, other, along, told):
    """Move all that is believed of the entries along the score (or the difference of two), by `along`; `told` is the curvature."""
    for i in range(n_entries):
        slot, value, second = (
            get(belief.slots_met, i),
            get(belief.firsts, i),
            get(belief.seconds, i),
        )
        role, numbers = get(belief.roles, slot), line(belief, slot)
        if of_item(role):
            slope = value * (1.0 + seen.agreement) - second * (1.0 + other.agreement)
            _moved(numbers, OFFSET, slope, along, told)
            user, other_user = belief.sides.user, belief.other_sides.user
            move_traits(belief, numbers, value, user, second, other_user, along, told)
        else:
            _moved(numbers, OFFSET, value - second, along, told)
            if of_user(role):
                item, other_item = belief.sides.item, belief.other_sides.item
                move_traits(belief, numbers, value, item, second, other_item, along, told)
        if slot == seen.user or slot == other.user:
            one, two = np.float64(slot == seen.user), np.float64(slot == other.user)
            before = mean_of(numbers, MOOD) ** 2 + variance_of(numbers, MOOD)
            _moved(numbers, MOOD, one - two, along, told)
            after = mean_of(numbers, MOOD) ** 2 + variance_of(numbers, MOOD)
            spread = get(belief.parameters, MOOD_SPREAD) + _MOOD_RATE * (after - before)
            put(belief.parameters, MOOD_SPREAD, max(spread, _LEAST_MOOD))
            _moved(numbers, AGREEMENT, one * seen.item - two * other.item, along, told)


@inlined
def _variance_of_difference(belief, n_entries, seen, other):
    """The variance of the difference of two scores, whose users, items and features may be the same."""
    found = 0.0
    for i in range(n_entries):
        slot, value, second = (
            get(belief.slots_met, i),
            get(belief.firsts, i),
            get(belief.seconds, i),
        )
        role, numbers = get(belief.roles, slot), line(belief, slot)
        slope = value - second
        towards, away = belief.sides.item, belief.other_sides.item
        if of_item(role):
            slope = value * (1.0 + seen.agreement) - second * (1.0 + other.agreement)
            towards, away = belief.sides.user, belief.other_sides.user
        found += slope * slope * variance_of(numbers, OFFSET)
        if of_item(role) or of_user(role):
            for t in range(belief.n_traits):
                slope = value * get(towards, t) - second * get(away, t)
                found += slope * slope * np.float64(get(numbers, FIRST_TRAIT + belief.n_traits + t))
        if slot == seen.user or slot == other.user:
            one, two = np.float64(slot == seen.user), np.float64(slot == other.user)
            slope = one * seen.item - two * other.item
            found += (one - two) * (one - two) * variance_of(numbers, MOOD)
            found += slope * slope * variance_of(numbers, AGREEMENT)
    return found


@inlined
def _count(belief, n_entries):
    """Count what is believed of the entries' names again, and the event."""
    for i in range(n_entries):
        slot = get(belief.slots_met, i)
        role, learned = get(belief.roles, slot), get(belief.learned, slot)
        if is_name(role):
            count(belief, slot, role, 1.0, 1.0 if learned == _NEW else 0.0)
        put(belief.learned, slot, max(learned, 0) + 1)
    put(belief.sizes, EVENTS, get(belief.sizes, EVENTS) + 1)


@inlined
def _told(above, below, between, var, cov, var_gap):
    """How much more certain place and gap become: the inverse of what the curvatures say and of the covariance, together."""
    one, both, two = above + below, above, above + between
    a, b = 1.0 + one * var + both * cov, one * cov + both * var_gap
    c, d = both * var + two * cov, 1.0 + both * cov + two * var_gap
    size = a * d - b * c
    return (d * one - b * both) / size, (d * both - b * two) / size, (a * two - c * both) / size


@inlined
def _nobody(seen):
    """What is believed of an item that is not there."""
    return Seen(-1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, True)


@inlined
def _observe(belief, n_entries, seen, judged, rank):
    sharpen(belief, rank)  # it has read what is written over below
    has_above, has_below = rank < belief.n_ranks, rank > 1
    both = has_above and has_below
    stretch = judged.stretch
    edge = rank - 2 if has_below else rank - 1
    threshold = stretch * get(belief.thresholds, edge)
    middle_variance = get(belief.parameters, MIDDLE_VARIANCE)
    var = judged.variance + write_gap_slopes(belief, edge, stretch)
    var += stretch * stretch * middle_variance + threshold * threshold * seen.scale_variance
    gap = cov = var_gap = 0.0
    if both:
        gap = stretch * gap_width(belief, edge)
        put(belief.by_gap, edge, gap)
        cov = threshold * gap * seen.scale_variance
        var_gap = gap * gap * (seen.scale_variance + get(belief.gap_variances, edge))
        cov += get(belief.by_place, edge) * gap * get(belief.gap_variances, edge)
    place = threshold - judged.score
    along, wider, above, below, between = settle(
        has_above, has_below, place, gap, var, cov, var_gap, _SETTLED
    )
    if not both:
        wider = 0.0
    told = _told(above, below, between, var, cov, var_gap)
    if not both:
        told = (told[0], 0.0, 0.0)
    _move(belief, n_entries, seen, _nobody(seen), -along, told[0])
    if seen.user >= 0:
        numbers = line(belief, seen.user)
        one, two = threshold, gap
        move = seen.scale_variance * (one * along + two * wider)
        sure = one * one * told[0] + 2.0 * one * two * told[1] + two * two * told[2]
        set_mean(numbers, SCALE, min(max(seen.scale + move, -_MOST_SCALE), _MOST_SCALE))
        left = max(1.0 - seen.scale_variance * sure, _LEAST_LEFT)
        set_variance(numbers, SCALE, seen.scale_variance * left)
    left = max(1.0 - middle_variance * stretch * stretch * told[0], _LEAST_LEFT)
    put(belief.parameters, MIDDLE_VARIANCE, middle_variance * left)
    move_thresholds(belief, middle_variance * stretch * along, along, wider, told)


@called
def learn_rank(belief, slots, values, count_, rank, seen, judged):
    """Learn the rank of an event, of which was `seen` what is believed, whose score was `judged`, and which has its `forecast`."""
    n_entries = _merge(belief, slots, values, count_, slots, values, 0)
    _meet(belief, n_entries)
    if belief.n_ranks > 1:
        if not seen.settled:
            seen = see(belief, belief.sides, slots, values, count_, True)
            judged = judge(belief, belief.sides, seen)
            forecast(belief, seen, judged)
        _observe(belief, n_entries, seen, judged, rank)
    _count(belief, n_entries)


@called
def learn_pair(belief, slots, values, count_, others, other_values, n_others, magnitude):
    """Learn that one item is preferred to another: their scores differ by more than ties do; or, with magnitude 0, by less."""
    n_entries = _merge(belief, slots, values, count_, others, other_values, n_others)
    _meet(belief, n_entries)
    seen = see(belief, belief.sides, slots, values, count_, True)
    other = see(belief, belief.other_sides, others, other_values, n_others, True)
    ahead = score_of(belief, belief.sides, seen) - score_of(belief, belief.other_sides, other)
    tie, width, tie_variance = (
        magnitude == 0.0,
        get(belief.parameters, TIE),
        get(belief.parameters, TIE_VARIANCE),
    )
    by_place, by_gap = (-width, 2.0 * width) if tie else (width, 0.0)
    var = (
        _variance_of_difference(belief, n_entries, seen, other) + by_place * by_place * tie_variance
    )
    cov, var_gap = by_place * by_gap * tie_variance, by_gap * by_gap * tie_variance
    along, wider, above, below, between = settle(
        tie, True, by_place - ahead, by_gap, var, cov, var_gap, _SETTLED
    )
    if not tie:
        wider = 0.0
    told = _told(above, below, between, var, cov, var_gap)
    _move(belief, n_entries, seen, other, -along, told[0])
    sure = by_place * by_place * told[0]
    if tie:
        sure += 2.0 * by_place * by_gap * told[1] + by_gap * by_gap * told[2]
    # slopes are those of the width's logarithm
    move = tie_variance * (by_place * along + by_gap * wider)
    put(belief.parameters, TIE, stretched(width, move))
    put(belief.parameters, TIE_VARIANCE, tie_variance * max(1.0 - tie_variance * sure, _LEAST_LEFT))
    _count(belief, n_entries)
