"""Ratings as events, in the order of their times, or in one by chance where there are none."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

__all__ = ["Rating", "in_time", "shuffled", "told"]

_SEED = 7
"""Of orders by chance: the same each time."""


class Rating(NamedTuple):
    """Somebody's label of something, at a time in seconds."""

    time: int
    user: str
    item: str
    label: float


def in_time(ratings: Iterable[Rating]) -> list[Rating]:
    """Ratings by their times; those of the same time as they came. They are all kept in memory, some 200 bytes each."""
    return sorted(ratings, key=lambda rating: rating.time)


def shuffled(ratings: Iterable[Rating]) -> list[Rating]:
    """Ratings without times: a file that is sorted by users is no stream."""
    found = list(ratings)
    random.Random(_SEED).shuffle(found)
    return found


def told(
    ratings: Iterable[Rating],
    items: Mapping[str, Mapping[str, object]] | None = None,
    timed: bool = True,
) -> Iterator[str]:
    """Ratings as lines of JSON: who and what are names, and the group is who; `items` is more that is known of what.

    >>> next(told([Rating(0, "7", "12", 4.0)], {"12": {"genre": ["War"]}}))
    '{"x": {"user": "7", "item": "12", "genre": ["War"]}, "y": 4, "group": "7", "ts": 0}'
    """
    known = items or {}
    for each in ratings:
        x = {"user": each.user, "item": each.item, **known.get(each.item, {})}
        label = int(each.label) if each.label == int(each.label) else each.label
        event = {"x": x, "y": label, "group": each.user}
        if timed:
            event["ts"] = 1000 * each.time
        yield json.dumps(event)
