"""A drifting synthetic stream: its ranks are reversed every few minutes."""

from collections.abc import Callable, Iterator

from stream_rank.datasets.oap_blocks import blocks
from stream_rank.ingest.files.json_rows import as_json

__all__ = ["drifting"]

_RANKS = 5
_GARBAGE = (
    b"",
    b"{",
    b'{"x": {"x0": "many"}, "y": 1}',
    b'{"x": {"x0": 1.0}, "y": 9}',
    b'{"x": {}, "y": 1}',
)
"""What others may send, of several kinds."""


def drifting(seed: int, upside_down: Callable[[], bool], garbage_every: int) -> Iterator[bytes]:
    """Ratings as JSON without end; while `upside_down`, the lowest rank is the highest. One in so many is no rating."""
    names, sent = [f"x{i}" for i in range(6)], 0
    for X, y in blocks(seed, "quadratic"):
        for values, rank in zip(X.tolist(), y.tolist(), strict=True):
            sent += 1
            if sent % garbage_every == 0:
                yield _GARBAGE[sent // garbage_every % len(_GARBAGE)]
                continue
            told = _RANKS + 1 - rank if upside_down() else rank
            yield as_json(names, [round(value, 4) for value in values], told)
