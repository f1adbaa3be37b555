"""The protocol of sources."""

from collections.abc import Iterator
from typing import Any, Protocol

from stream_rank.ingest.chunk import Chunk
from stream_rank.ingest.position import Position

__all__ = ["Source"]


class Source(Protocol):
    """Where events come from.

    A chunk belongs to whoever took it until its `release` is called, however many chunks are asked for meanwhile.
    """

    name: str

    def chunks(self, position: Any) -> Iterator[Chunk | None]:
        """Events from a position of this source on, or from the beginning; None whenever nothing has come for a moment."""

    def position_from(self, stored: Any) -> Position:
        """The position that was stored as JSON; an `InputError` if it is not one of this source."""

    def progress(self, position: Any) -> float | None:
        """The share of the source that lies before a position, from 0 to 1; None where nobody knows."""
