"""What a source is."""

from collections.abc import Iterator
from typing import Protocol

from stream_rank.ingest.chunk import Columns, Position, Records

__all__ = ["Source"]


class Source(Protocol):
    """Where events come from. A chunk is good until the next one is asked for."""

    name: str

    def chunks(self, position: Position | None) -> Iterator[Records | Columns | None]:
        """Events from a position on; None whenever nothing has come for a moment."""

    def progress(self, position: Position | None) -> float | None:
        """How much of all there is lies before a position, from 0 to 1; None where nobody knows."""
