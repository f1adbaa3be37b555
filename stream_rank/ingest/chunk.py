"""Chunks: the raw events that a source yields, with the position after each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading.scan import PADDING
from stream_rank.ingest.position import Position, RowPosition

__all__ = ["MOST_BYTES", "Chunk", "Columns", "Records", "as_records"]

MOST_BYTES = 1_000_000
"""The longest record that is parsed; the default limit of Kafka's brokers is about the same."""


def _nothing_to_release() -> None:
    """Most chunks share no buffer."""


@dataclass(frozen=True, slots=True)
class Records:
    """Events as JSON: record i is `text[starts[i]:ends[i]]`; padding bytes follow the text."""

    text: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    position_after: Callable[[int], Position]
    """The position after the first n records of the chunk, n at least 1."""
    place_of: Callable[[int], str]
    """Where a record came from, for messages: a file and line, or a partition and offset."""
    blank_is_nothing: bool = True
    """Whether a blank record is skipped, as in files; otherwise it is rejected."""
    origin_of: Callable[[int], Any] | None = None
    """The key, headers and place of a record, for sinks that forward the whole message."""
    release: Callable[[], None] = _nothing_to_release
    """Returns the buffer to the source. The chunk must not be used afterwards."""

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, record: int) -> bytes:
        """The bytes of a record."""
        return self.text[self.starts[record] : self.ends[record]].tobytes()


@dataclass(frozen=True, slots=True)
class Columns:
    """Events as columns of numbers, NaN where a value is missing; `wrong` has the rows that are not events.

    A row is a rating or a request, or, if there are `others`, a preference.
    """

    features: dict[str, npt.NDArray[np.float64]]
    missing: dict[str, npt.NDArray[np.bool_]]
    """Masks of the missing values, for the columns that have any."""
    labels: npt.NDArray[np.float64] | None
    """Labels; of preferences their magnitudes, 0 of ties."""
    times: npt.NDArray[np.int64] | None
    ids: list[Any] | None
    groups: list[Any] | None
    wrong: dict[int, str]
    """Rows that are not events, with the reason."""
    count: int
    raw: Callable[[int], bytes]
    position_after: Callable[[int], Position]
    place_of: Callable[[int], str]
    origin_of: Callable[[int], Any] | None = None
    release: Callable[[], None] = _nothing_to_release
    others: dict[str, npt.NDArray[np.float64]] | None = None
    """Of preferences, the features of the other item; `features` are the preferred one's."""
    others_missing: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)

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
    """Records of separate messages.

    >>> as_records([b"one", b"two"]).raw(1)
    b'two'
    """
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(lengths)
    text = np.frombuffer(b"".join([*values, bytes(PADDING)]), np.uint8)
    return Records(
        *(text, ends - lengths, ends, position_after, place_of, blank_is_nothing, origin_of)
    )
