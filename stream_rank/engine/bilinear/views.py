"""An event as its user and its item are believed to be: its score, and how sure that is.

The score is `offsets of user and event + mood + (1 + agreement) * offsets of the item + traits . traits`. What was never
learned says nothing. An event without a user who was ever learned is one of a user of whom the prior of all users is believed, once there are
users at all: offset and traits of 0, with the variance of others. So it is with items.

Cost: O(entries * traits).
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.bilinear.population import prior
from stream_rank.engine.bilinear.state import (
    AGREEMENT,
    DRIFT,
    EVENTS,
    ITEM,
    ITEM_OFFSET,
    ITEM_SIDE,
    ITEM_TRAIT,
    MOOD,
    MOOD_SPREAD,
    OFFSET,
    SCALE,
    SQUARES,
    USER,
    USER_AGREEMENT,
    USER_OFFSET,
    USER_SCALE,
    USER_SIDE,
    USER_TRAIT,
    line,
    mean_of,
    variance_of,
)
from stream_rank.engine.bilinear.traits import add_spreads, add_traits, clear, spread_of_product
from stream_rank.engine.jit import inlined
from stream_rank.engine.pointers import as_element, get
from stream_rank.engine.sums import dot

__all__ = [
    *(
        "MOOD_KEPT",
        "PI_EIGHTHS",
        "Seen",
        "add_item",
        "as_kept",
        "drifted",
        "is_name",
        "kind_of",
        "of_item",
        "of_user",
    ),
    *(
        "passed_mood",
        "prior_of",
        "prior_of_item",
        "score_of",
        "see",
        "traits_before",
        "variance_of_score",
    ),
]

MOOD_KEPT = 0.85
"""What an event of the user leaves of a mood: it lasts for some six events."""
PI_EIGHTHS = 0.39269908169872414
"""A logistic function of a Gaussian has the mean, nearly, of that function of its mean over `sqrt(1 + pi / 8 * variance)` (MacKay, 1992)."""
_RAREST = 1e4
"""What comes later than that is taken for as rare."""
_SHORTEST = 1e-30
"""Features of a smaller mean squared length are taken for as long: a variance must be finite."""


class Seen(NamedTuple):
    """What is believed of an event, without what its view has of traits."""

    user: Any
    """The user's slot, or -1."""
    rest: Any
    """Offsets of user and event, and the mood."""
    rest_variance: Any
    item: Any
    """Offsets of the item."""
    item_variance: Any
    agreement: Any
    agreement_variance: Any
    scale: Any
    scale_variance: Any
    settled: Any
    """Whether learning the event would see it as asking does: nothing in it is new, and at most one user."""


@inlined
def of_user(role):
    """Whether a role says something of the user."""
    return role in (USER, USER_SIDE)


@inlined
def of_item(role):
    """Whether a role says something of the item."""
    return role in (ITEM, ITEM_SIDE)


@inlined
def kind_of(role):
    """Whose squares a feature's are counted with: those of the event, the user or the item."""
    return 1 if of_user(role) else 2 if of_item(role) else 0


@inlined
def is_name(role):
    """Whether a role is that of a user's or an item's name."""
    return role in (USER, ITEM)


@inlined
def prior_of(belief, role):
    """The prior variance of an offset, of a feature that comes with this event, whose squares are counted.

    Of what is no name it is one over the mean squared length of all that is said of events (or users, or items), and over the root
    of the number of events: what comes late is rare, as in `engine.ordinal.precision`.
    """
    if role == USER:
        return prior(belief, USER_OFFSET)
    if role == ITEM:
        return prior(belief, ITEM_OFFSET)
    events = np.float64(get(belief.sizes, EVENTS) + 1)
    mean = max(get(belief.parameters, SQUARES + kind_of(role)) / events, _SHORTEST)
    return 1.0 / mean / np.sqrt(min(events, _RAREST))


@inlined
def traits_before(belief, role):
    """The prior variance of a trait."""
    found = prior(belief, USER_TRAIT if of_user(role) else ITEM_TRAIT)
    return found if is_name(role) else found * prior_of(belief, role)


@inlined
def drifted(belief, numbers):
    """The variance of a user's offset after what may have changed since the last event: no more than that of others."""
    now, most = variance_of(numbers, OFFSET), prior(belief, USER_OFFSET)
    grown = min(now + get(belief.parameters, DRIFT) * most, most)
    return max(now, grown)


@inlined
def as_kept(numbers, value):
    """A number as it is once it was kept: in single precision, rounded."""
    return np.float64(as_element(numbers, value))


@inlined
def passed_mood(belief, numbers):
    """A user's mood, mean and variance, after an event has passed."""
    kept, spread = MOOD_KEPT * MOOD_KEPT, get(belief.parameters, MOOD_SPREAD)
    variance = kept * variance_of(numbers, MOOD) + (1.0 - kept) * spread
    return as_kept(numbers, MOOD_KEPT * mean_of(numbers, MOOD)), as_kept(numbers, variance)


@inlined
def add_item(belief, view, slot, value):
    """Add what is believed of an item, or of what is said of it, to a view; its offset, and the variance of that."""
    numbers = line(belief, slot)
    add_traits(belief, numbers, value, view.item, view.item_spread)
    return value * mean_of(numbers, OFFSET), value * value * variance_of(numbers, OFFSET)


@inlined
def prior_of_item(belief, view):
    """Add to a view an item that never came, once there are any; the variance of its offset."""
    if get(belief.population, ITEM_OFFSET) == 0.0:
        return 0.0
    add_spreads(belief, prior(belief, ITEM_TRAIT), view.item_spread)
    return prior(belief, ITEM_OFFSET)


@inlined
def see(belief, view, slots, values, count, advanced):
    """What is believed of an event; `advanced`, if its user's drift and mood are already those of this event."""
    clear(belief, view)
    user, has_item, settled = -1, False, True
    rest = rest_variance = item = item_variance = 0.0
    agreement = scale = 0.0
    agreement_variance = scale_variance = 0.0
    for i in range(count):
        slot, value = get(slots, i), np.float64(get(values, i))
        if value == 0.0:
            continue
        if get(belief.learned, slot) == 0:
            settled = False
            continue
        role, numbers = get(belief.roles, slot), line(belief, slot)
        if of_item(role):
            has_item = has_item or role == ITEM
            offset, offset_variance = add_item(belief, view, slot, value)
            item += offset
            item_variance += offset_variance
            continue
        variance = variance_of(numbers, OFFSET)
        if of_user(role):
            add_traits(belief, numbers, value, view.user, view.user_spread)
        if role == USER and user >= 0:
            settled = False  # the drift of either is of those who are there meanwhile
        elif role == USER:
            user = slot
            mood, mood_variance = mean_of(numbers, MOOD), variance_of(numbers, MOOD)
            if not advanced:
                variance = as_kept(numbers, drifted(belief, numbers))
                mood, mood_variance = passed_mood(belief, numbers)
            rest += mood
            rest_variance += mood_variance
            scale, scale_variance = mean_of(numbers, SCALE), variance_of(numbers, SCALE)
            agreement = mean_of(numbers, AGREEMENT)
            agreement_variance = variance_of(numbers, AGREEMENT)
        rest += value * mean_of(numbers, OFFSET)
        rest_variance += value * value * variance
    if user < 0 and get(belief.population, USER_OFFSET) > 0.0:
        rest_variance += prior(belief, USER_OFFSET) + get(belief.parameters, MOOD_SPREAD)
        scale_variance, agreement_variance = (
            prior(belief, USER_SCALE),
            prior(belief, USER_AGREEMENT),
        )
        add_spreads(belief, prior(belief, USER_TRAIT), view.user_spread)
    if not has_item:
        item_variance += prior_of_item(belief, view)
    return Seen(
        *(user, rest, rest_variance, item, item_variance),
        *(agreement, agreement_variance, scale, scale_variance, settled),
    )


@inlined
def score_of(belief, view, seen):
    """The score of an event."""
    return seen.rest + ((1.0 + seen.agreement) * seen.item + dot(view.user, view.item, belief.wide))


@inlined
def variance_of_score(belief, view, seen):
    """The variance of the score, to the first order in what is uncertain."""
    by_item = 1.0 + seen.agreement
    found = seen.rest_variance + by_item * by_item * seen.item_variance
    found += seen.item * seen.item * seen.agreement_variance
    return found + spread_of_product(belief, view)
