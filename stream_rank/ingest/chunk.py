"""What sources hand over: raw events, and where reading goes on after each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading.scan import PADDING
from stream_rank.ingest.position import Position, RowPosition

__all__ = ["MOST_BYTES", "Chunk", "Columns", "Records", "as_records"]

MOST_BYTES = 1_000_000
"""A record that is longer is not looked at; Kafka's brokers take no longer ones either, unless told to."""


def _nothing_to_release() -> None:
    """Most chunks own their memory alone."""


@dataclass(frozen=True, slots=True)
class Records:
    """Events as JSON: record i is `text[starts[i]:ends[i]]`; after the text are bytes that do not count."""

    text: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    position_after: Callable[[int], Position]
    """Where reading goes on when so many records, at least one, are done."""
    place_of: Callable[[int], str]
    """Where a record came from, in words."""
    blank_is_nothing: bool = True
    """Whether a record without a character is none, as in files; else it is a reject."""
    origin_of: Callable[[int], Any] | None = None
    """What came with a record beside its bytes, for those who hand it on whole."""
    release: Callable[[], None] = _nothing_to_release
    """Gives the memory back to the source. The chunk is not looked at afterwards."""

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, record: int) -> bytes:
        """The bytes of a record."""
        return self.text[self.starts[record] : self.ends[record]].tobytes()


@dataclass(frozen=True, slots=True)
class Columns:
    """Events as columns of numbers, NaN where there is none; what is wrong with others is said beside them."""

    features: dict[str, npt.NDArray[np.float64]]
    missing: dict[str, npt.NDArray[np.bool_]]
    """Where a feature was left out, for the columns in which one was."""
    labels: npt.NDArray[np.float64] | None
    times: npt.NDArray[np.int64] | None
    ids: list[Any] | None
    groups: list[Any] | None
    wrong: dict[int, str]
    """Records that are no events, and why."""
    count: int
    raw: Callable[[int], bytes]
    position_after: Callable[[int], Position]
    place_of: Callable[[int], str]
    origin_of: Callable[[int], Any] | None = None
    release: Callable[[], None] = _nothing_to_release

    def __len__(self) -> int:
        return self.count


Chunk = Records | Columns


def as_records(
    values: list[bytes],
    position_after: Callable[[int], Position] = RowPosition,
    place_of: Callable[[int], str] = str,
    blank_is_nothing: bool = True,
    origin_of: Callable[[int], Any] | None = None,
) -> Records:
    """Separate messages as records.

    >>> as_records([b"one", b"two"]).raw(1)
    b'two'
    """
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(lengths)
    text = np.frombuffer(b"".join([*values, bytes(PADDING)]), np.uint8)
    return Records(
        *(text, ends - lengths, ends, position_after, place_of, blank_is_nothing, origin_of)
    )
