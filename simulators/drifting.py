"""A drifting synthetic stream of ratings and preferences: both are reversed every few minutes."""

import json
from collections.abc import Callable, Iterator, Sequence

from stream_rank.datasets.oap_blocks import blocks
from stream_rank.ingest.files.json_rows import as_json

__all__ = ["drifting"]

_RANKS = 5
_GARBAGE = (
    b"",
    b"{",
    b'{"x": {"x0": [1]}, "y": 1}',  # a text would be a category, and learned
    b'{"x": {"x0": 1.0}, "y": 9}',
    b'{"x": {}, "y": 1}',
)
"""What others may send, of several kinds; none of them is learned."""


def drifting(
    seed: int, upside_down: Callable[[], bool], garbage_every: int, preferences: float = 0.0
) -> Iterator[bytes]:
    """Events as JSON without end; while `upside_down`, the lowest rank is the highest. One in so many is none.

    The share `preferences` of the events are such: the item is compared with the one before, by the ranks of both.
    """
    names, sent, due = [f"x{i}" for i in range(6)], 0, 0.0
    before: tuple[list[float], int] | None = None
    for X, y in blocks(seed, "quadratic"):
        for values, rank in zip(X.tolist(), y.tolist(), strict=True):
            sent += 1
            if sent % garbage_every == 0:
                yield _GARBAGE[sent // garbage_every % len(_GARBAGE)]
                continue
            rounded = [round(value, 4) for value in values]
            told = _RANKS + 1 - rank if upside_down() else rank
            due += preferences
            if due < 1.0:
                yield as_json(names, rounded, told)
            elif before is not None:  # the first item has nothing to be compared with
                due -= 1.0
                yield _preference(names, (rounded, told), before)
            before = rounded, told


def _preference(names: Sequence[str], *items: tuple[list[float], int]) -> bytes:
    """What two items with ranks say about each other."""
    (worse, low), (better, high) = sorted(items, key=lambda item: item[1])
    preferred, other = (dict(zip(names, values, strict=True)) for values in (better, worse))
    by = {"tie": True} if high == low else {"magnitude": high - low}
    return json.dumps({"preferred": preferred, "other": other, **by}).encode()
