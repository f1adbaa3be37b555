"""Distances between two rankings of the same items.

A ranking is the list of its items, the best first. Discounts are by places in the true ranking, counted from 1.

Reference: the loss functions of a lecture on preference learning; R. Fagin, R. Kumar and D. Sivakumar. Comparing top k
lists. SIAM J. Discrete Mathematics 17, 2003.
"""

import math
from collections.abc import Callable, Hashable, Sequence

__all__ = ["discounted_error", "kendall_distance", "position_error", "spearman_footrule"]

Ranking = Sequence[Hashable]


def _places(true: Ranking, predicted: Ranking) -> list[int]:
    """The true places, from 0, of the predicted items in their order."""
    place_of = {item: place for place, item in enumerate(true)}
    if len(place_of) < len(true):
        raise ValueError("a ranking lists every item once; the true one lists an item twice")
    if len(predicted) != len(true) or {*predicted} != place_of.keys():
        strange = next((item for item in predicted if item not in place_of), None)
        which = "" if strange is None else f", such as {strange!r}"
        raise ValueError(
            f"both rankings must list the same items once; of {len(true)} and {len(predicted)}, not all are in both{which}"
        )
    return [place_of[item] for item in predicted]


def _inversions(places: list[int]) -> tuple[int, list[int]]:
    """How many pairs are out of order, and the numbers in order."""
    if len(places) < 2:
        return 0, places
    middle = len(places) // 2
    first, left = _inversions(places[:middle])
    second, right = _inversions(places[middle:])
    count, merged, at = first + second, [], 0
    for number in right:
        while at < len(left) and left[at] < number:
            merged.append(left[at])
            at += 1
        count += len(left) - at
        merged.append(number)
    return count, merged + left[at:]


def kendall_distance(true: Ranking, predicted: Ranking) -> int:
    """How many pairs of items are in the other order: 0 to n (n - 1) / 2. O(n log n).

    >>> kendall_distance("ABCDE", "BECAD")
    5
    """
    return _inversions(_places(true, predicted))[0]


def spearman_footrule(true: Ranking, predicted: Ranking) -> int:
    """By how many places items are off, summed. O(n).

    >>> spearman_footrule("ABCDE", "BECAD")
    8
    """
    return sum(abs(there - here) for here, there in enumerate(_places(true, predicted)))


def position_error(true: Ranking, predicted: Ranking) -> int:
    """How many wrong items are predicted before the one that is truly first. O(n).

    >>> position_error("ABCDE", "BECAD")
    3
    """
    places = _places(true, predicted)
    if not places:
        raise ValueError("a ranking without items has no first")
    return places.index(0)


def _discount(place: int) -> float:
    return 1 / math.log2(place + 1)


def discounted_error(
    true: Ranking, predicted: Ranking, discount: Callable[[int], float] = _discount
) -> float:
    """By how many places items are off, each times the discount of its true place, summed. O(n).

    The discount of place p is `1 / log2(p + 1)` unless another is given.

    >>> round(discounted_error("ABCDE", "BECAD"), 3)
    5.222
    >>> discounted_error("ABCDE", "BECAD", lambda place: 1.0)
    8.0
    """
    places = _places(true, predicted)
    return float(sum(discount(there + 1) * abs(there - here) for here, there in enumerate(places)))
