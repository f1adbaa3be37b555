"""The protocol of sources."""

from collections.abc import Iterator
from typing import Any, Protocol

from stream_rank.ingest.chunk import Chunk
from stream_rank.ingest.position import Position

__all__ = ["Source"]


class Source(Protocol):
    """A source of events.

    A chunk stays valid until its `release` is called, even when later chunks are read before that.
    """

    name: str

    def chunks(self, position: Any) -> Iterator[Chunk | None]:
        """Chunks from a position on, or from the beginning; yields None when nothing arrived within a poll."""

    def position_from(self, stored: Any) -> Position:
        """The position that `to_json` wrote; raises `InputError` if it is not one of this source."""

    def progress(self, position: Any) -> float | None:
        """The share of the source before a position, from 0 to 1; None if it is not known."""
