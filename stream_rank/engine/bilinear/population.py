"""What is believed of a user or an item before anything is known of it: what all of them are like.

Of every group of parameters, such as the offsets of items, the mean square is kept: the sum of `mean**2 + variance` over all users
or items that were met, which an event changes by what it changes. That is one step of expectation-maximisation for the
group's prior variance, and the next one that comes begins with it. Some numbers of the prior that was there at first
count along, as if they had been met.
"""

from stream_rank.engine.bilinear.state import (
    AGREEMENT,
    GROUPS,
    ITEM_OFFSET,
    ITEM_TRAIT,
    OFFSET,
    SCALE,
    USER,
    USER_AGREEMENT,
    USER_OFFSET,
    USER_SCALE,
    USER_TRAIT,
    line,
    mean_of,
    variance_of,
)
from stream_rank.engine.bilinear.traits import squares
from stream_rank.engine.jit import inlined
from stream_rank.engine.pointers import get, put

__all__ = ["count", "prior"]

_AT_FIRST = 20.0
"""So many numbers of the first prior count along."""


@inlined
def prior(belief, group):
    """The prior variance of a group."""
    count_, total = get(belief.population, group), get(belief.population, GROUPS + group)
    first = get(belief.population, 2 * GROUPS + group)
    return (max(total, 0.0) + _AT_FIRST * first) / (count_ + _AT_FIRST)


@inlined
def _add(belief, group, sign, members, squares):
    place = GROUPS + group
    put(belief.population, group, get(belief.population, group) + members)
    put(belief.population, place, get(belief.population, place) + sign * squares)


@inlined
def _square(numbers, which):
    mean = mean_of(numbers, which)
    return mean * mean + variance_of(numbers, which)


@inlined
def count(belief, slot, role, sign, members):
    """Add what is believed of a user or an item to the sums, or take it away; as so many that are new or gone."""
    numbers = line(belief, slot)
    traits = squares(belief, numbers)
    n_traits = members * belief.n_traits
    if role == USER:
        _add(belief, USER_OFFSET, sign, members, _square(numbers, OFFSET))
        _add(belief, USER_SCALE, sign, members, _square(numbers, SCALE))
        _add(belief, USER_AGREEMENT, sign, members, _square(numbers, AGREEMENT))
        _add(belief, USER_TRAIT, sign, n_traits, traits)
    else:
        _add(belief, ITEM_OFFSET, sign, members, _square(numbers, OFFSET))
        _add(belief, ITEM_TRAIT, sign, n_traits, traits)
