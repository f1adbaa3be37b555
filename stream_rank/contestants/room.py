"""How many features the learners of a run may hold together, so that no message makes them take more memory than is allowed."""

from collections.abc import Sequence
from typing import NamedTuple

from stream_rank.contestants.contestant import Contestant
from stream_rank.errors import ConfigError

__all__ = ["Room", "room_for", "shown_bytes"]

_FEWEST = 64
"""A learner that may not hold as many features learns nothing worth having."""
_MOST = 1 << 40


class Room(NamedTuple):
    """What the learners of a run may hold."""

    max_features: int
    """So many features each, those included that stages add."""
    n_bytes: int
    """What they take with `asked` features, or with `max_features` if these are fewer."""
    asked: int

    def __str__(self) -> str:
        if not self.n_bytes:
            return "how much memory the learners take is not known: they are not of stream-rank"
        size = shown_bytes(self.n_bytes)
        if self.max_features >= self.asked:
            return f"learners take up to {size} of memory, at `max_features` {self.asked:,}"
        return (
            f"learners may take `learner_memory_limit` of memory, which is {self.max_features:,} features of theirs: more than "
            f"these are left out of events, though `max_features` is {self.asked:,}"
        )


def room_for(contestants: Sequence[Contestant], max_features: int, limit: int) -> Room:
    """The most features with which all contestants together take at most `limit` bytes, while a snapshot is written too.

    Cost: O(contestants).
    """

    def needed(n_features: int) -> int:
        try:
            return sum(each.memory_at(n_features) for each in contestants)
        except MemoryError:  # not even a few features
            return 1 << 62

    if needed(_FEWEST) > limit:
        raise ConfigError(
            f"the learners take {shown_bytes(needed(_FEWEST))} with {_FEWEST} features already, and `learner_memory_limit` is "
            f"{shown_bytes(limit)}: raise it, or make them smaller by their parameters"
        )
    low, high = _FEWEST, _MOST  # fits, and does not, unless nothing grows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= limit else (low, middle)
    return Room(low, needed(min(low, max_features)), max_features)


def shown_bytes(count: int) -> str:
    """A number of bytes for people.

    >>> shown_bytes(512), shown_bytes(3 << 29)
    ('512 B', '1.5 GiB')
    """
    size, units = float(count), iter(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit = next(units)
    while size >= 1024:
        size, unit = size / 1024, next(units)
    return f"{size:.3g} {unit}"
