"""Rankings and choices as preferences: which of their items are compared with which."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError

__all__ = ["MOST_PAIRS", "Order", "PairsOf", "check_pairs", "pairs_of"]

Array = npt.NDArray[np.int64]

PairsOf = Literal["all", "adjacent"]
"""Which pairs of a ranking are learned: all of them, or those of neighbouring places."""

MOST_PAIRS = 5_000
"""The most preferences that one event may be: all pairs of a hundred items."""


class Order(NamedTuple):
    """The items of a ranking or a choice, the best first, as ranges of entries."""

    first: Array
    last: Array
    met: Array
    """How many features were known after each item."""
    better: npt.NDArray[np.int16]
    worse: npt.NDArray[np.int16]
    """The items of each pair."""
    tied: npt.NDArray[np.bool_]
    """Whether they have the same place."""


def pairs_of(
    places: Iterable[int], choice: bool, which: PairsOf
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.bool_]]:
    """The better and the worse item of each pair, and whether they are equal.

    Pairs come in the order of their later item, so that items are met in their own order. Neighbours are items at places
    next to each other, and of equal items those next to each other.

    >>> better, worse, tied = pairs_of([0, 1, 1], choice=False, which="all")
    >>> [*zip(better.tolist(), worse.tolist(), tied.tolist())]
    [(0, 1, False), (0, 2, False), (1, 2, True)]
    """
    place = np.fromiter(places, np.int64)
    count = len(place)
    if choice:
        worse = np.arange(1, count)
        better = np.zeros(count - 1, np.int64)
    elif which == "all":
        worse = np.repeat(np.arange(count), np.arange(count))
        better = np.arange(len(worse)) - worse * (worse - 1) // 2
    else:
        pairs = list(_neighbours(place.tolist()))
        better, worse = np.array(pairs, np.int64).reshape(-1, 2).T
    tied = place[worse] == place[better]
    return better.astype(np.int16), worse.astype(np.int16), tied


def _neighbours(place: list[int]) -> Iterator[tuple[int, int]]:
    """The better and the worse item of neighbouring places, and of equal items next to each other."""
    before = begin = 0  # where the last place begins, and this one
    for item in range(1, len(place)):
        if place[item] != place[begin]:
            before, begin = begin, item
        if place[begin] != place[before]:
            yield from ((better, item) for better in range(before, begin))
        if item > begin:
            yield item - 1, item


def check_pairs(places: tuple[int, ...], choice: bool, which: PairsOf) -> None:
    """Raise an `EventError` if there are more pairs than one event may be. Cost: O(items)."""
    sizes = np.bincount(places)
    if choice:
        count, field, hint = len(places) - 1, "among", "give fewer"
    else:
        field = "ranking"
        if which == "all":
            count, hint = len(places) * (len(places) - 1) // 2, "`ranking_pairs` may be adjacent"
        else:
            ties = int((sizes - 1).sum())
            count, hint = int((sizes[1:] * sizes[:-1]).sum()) + ties, "give fewer items"
    if count > MOST_PAIRS:
        raise EventError(
            f"{field}: {len(places)} items are {count:,} preferences, and an event may be {MOST_PAIRS:,}; {hint}"
        )
