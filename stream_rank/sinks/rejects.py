"""Where rejects go, and how many are too many."""

import json
from dataclasses import dataclass
from typing import Protocol

from stream_rank.codec.batch import Reject
from stream_rank.ingest.chunk import Columns, Records
from stream_rank.sinks.journal import Journal

__all__ = ["RejectFile", "RejectLimit", "Rejects"]

_FIRST_RECORDS = 100
"""Before so many records a ratio says little."""


class Rejects(Protocol):
    """Takes what could not be learned from."""

    def put(self, reject: Reject, chunk: Records | Columns) -> None:
        """Keep a reject of a chunk."""


class RejectFile:
    """A line of JSON for every reject: reason, place and what came, as text if it is any."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def put(self, reject: Reject, chunk: Records | Columns) -> None:
        """Write a reject."""
        place = chunk.place_of(reject.record)
        line: dict[str, str] = {"reason": reject.reason, "place": place}
        try:
            line["raw"] = reject.raw.decode()
        except UnicodeDecodeError:
            line["raw_hex"] = reject.raw.hex()
        self.journal.write(json.dumps(line).encode())


@dataclass(frozen=True)
class RejectLimit:
    """The largest share of records that may be rejects, and the most in a row."""

    ratio: float = 1.0
    in_a_row: int | None = None

    def exceeded(self, rejects: int, records: int, ended: bool = False) -> bool:
        """Whether there are too many."""
        enough = records >= _FIRST_RECORDS or (ended and records > 0)
        return enough and rejects > self.ratio * records

    def too_many_in_a_row(self, streak: int) -> bool:
        """Whether so many in a row are too many."""
        return self.in_a_row is not None and streak >= self.in_a_row
