"""Chunks: the raw events that a source yields, with the position after each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading.scan import PADDING
from stream_rank.ingest.message import Headers
from stream_rank.ingest.position import Position, RowPosition

__all__ = [
    "MOST_BYTES",
    "MOST_SHARED",
    "Categories",
    "Chunk",
    "Columns",
    "Items",
    "Records",
    "as_records",
]

MOST_BYTES = 1_000_000
"""The longest record that is parsed; the default limit of Kafka's brokers is about the same."""
MOST_SHARED = 100_000
"""As many numbers may a context be, written out beside all items: an event of some kilobytes could ask for gigabytes."""


def _nothing_to_release() -> None:
    """Most chunks share no buffer."""


@dataclass(frozen=True, slots=True)
class Records:
    """Events as JSON, or what `json_of` makes it of: record i is `text[starts[i]:ends[i]]`; padding bytes follow the text."""

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
    headers_of: Callable[[int], Headers] | None = None
    """The headers of a record, where its source has any; they are looked at where an envelope is in them."""
    json_of: Callable[[int], bytes] | None = None
    """A record as JSON, where its bytes are something else; raises an `EventError` if it cannot be."""

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, begin: int, end: int) -> "Records":
        """Some of the records, as a chunk of their own."""
        some = slice(begin, end)
        moved, headers_of, json_of = _moved(self, begin), self.headers_of, self.json_of
        return replace(
            self,
            starts=self.starts[some],
            ends=self.ends[some],
            headers_of=None if headers_of is None else lambda record: headers_of(begin + record),
            json_of=None if json_of is None else lambda record: json_of(begin + record),
            **moved,
        )

    def raw(self, record: int) -> bytes:
        """The bytes of a record."""
        return self.text[self.starts[record] : self.ends[record]].tobytes()


class Items(NamedTuple):
    """The items of rankings and choices as columns: the items of a row stand together, as the numbers of an item do."""

    plain: npt.NDArray[np.bool_]
    """Whether the columns say all of a row; otherwise `content` does."""
    choices: npt.NDArray[np.bool_]
    """Whether a row is a choice, whose chosen item is its first; otherwise it is a ranking, the best item first."""
    bounds: npt.NDArray[np.int64]
    """Items `bounds[i]` to `bounds[i + 1]` are those of row i."""
    places: npt.NDArray[np.int64]
    """The place of each item in its ranking, from 0; of a choice, 0 of the chosen item and 1 of the others."""
    ends: npt.NDArray[np.int64]
    """Numbers `ends[i]` to `ends[i + 1]` are those of item i, in the order of their features."""
    names: list[Any]
    features: npt.NDArray[np.int64]
    """The feature of each number, as a place in `names`."""
    values: npt.NDArray[np.float64]
    content: Callable[[int], dict[str, Any]]
    """What a row is as a JSON object, without id, time and group. A value that is text is JSON itself."""

    def part(self, begin: int, end: int) -> "Items":
        """Those of some rows."""
        first, last = int(self.bounds[begin]), int(self.bounds[end])
        numbers = slice(int(self.ends[first]), int(self.ends[last]))
        return Items(
            self.plain[begin:end],
            self.choices[begin:end],
            self.bounds[begin : end + 1] - first,
            self.places[first:last],
            self.ends[first : last + 1] - numbers.start,
            self.names,
            self.features[numbers],
            self.values[numbers],
            lambda row: self.content(begin + row),
        )


class Categories(NamedTuple):
    """The names that a column has: each is the feature `column=text`, which is 1."""

    column: str
    texts: list[str]
    """Each once."""
    rows: npt.NDArray[np.int64]
    """The row of each name, in ascending order; rows may have several, or none."""
    codes: npt.NDArray[np.int64]
    """Each name as a place in `texts`."""

    def part(self, begin: int, end: int) -> "Categories":
        """Those of some rows."""
        some = slice(*np.searchsorted(self.rows, [begin, end]).tolist())
        return Categories(self.column, self.texts, self.rows[some] - begin, self.codes[some])

    @property
    def names(self) -> list[str]:
        """The features, by code."""
        return [f"{self.column}={text}" for text in self.texts]

    def at(self, row: int) -> dict[str, Any]:
        """What a row has, as JSON has it."""
        first, last = np.searchsorted(self.rows, [row, row + 1]).tolist()
        found = [self.texts[code] for code in self.codes[first:last].tolist()]
        return {self.column: found[0] if len(found) == 1 else found} if found else {}


@dataclass(frozen=True, slots=True)
class Columns:
    """Events as columns of numbers, NaN where a value is missing, and of names; `wrong` has the rows that are not events.

    A row is a rating or a request; or, if there are `others`, a preference; or, if there are `items`, a ranking or a choice.
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
    items: Items | None = None
    """Of rankings and choices, everything but id, time and group."""
    categories: Sequence[Categories] = ()
    """Names among the features; of preferences, among those of the preferred item."""
    others_categories: Sequence[Categories] = ()

    def __len__(self) -> int:
        return self.count

    def part(self, begin: int, end: int) -> "Columns":
        """Some of the rows, as a chunk of their own. Cost: O(columns, and names in them)."""
        some = slice(begin, end)
        return replace(
            self,
            features=_rows_of(self.features, some),
            missing=_rows_of(self.missing, some),
            labels=None if self.labels is None else self.labels[some],
            times=None if self.times is None else self.times[some],
            ids=None if self.ids is None else self.ids[some],
            groups=None if self.groups is None else self.groups[some],
            wrong={row - begin: why for row, why in self.wrong.items() if begin <= row < end},
            count=end - begin,
            raw=lambda row: self.raw(begin + row),
            others=None if self.others is None else _rows_of(self.others, some),
            others_missing=_rows_of(self.others_missing, some),
            items=None if self.items is None else self.items.part(begin, end),
            categories=[each.part(begin, end) for each in self.categories],
            others_categories=[each.part(begin, end) for each in self.others_categories],
            **_moved(self, begin),
        )


Chunk = Records | Columns


def _moved(chunk: Chunk, begin: int) -> dict[str, Any]:
    """What a chunk says of its records, for those from one on; only the whole chunk is released."""
    position_after, place_of, origin_of = chunk.position_after, chunk.place_of, chunk.origin_of
    return {
        "position_after": lambda count: position_after(begin + count),
        "place_of": lambda record: place_of(begin + record),
        "origin_of": None if origin_of is None else lambda record: origin_of(begin + record),
        "release": _nothing_to_release,
    }


def _rows_of(columns: dict[str, Any], some: slice) -> dict[str, Any]:
    return {name: column[some] for name, column in columns.items()}


def as_records(
    values: list[bytes],
    position_after: Callable[[int], Position] = RowPosition,
    place_of: Callable[[int], str] = str,
    blank_is_nothing: bool = True,
    origin_of: Callable[[int], Any] | None = None,
    headers_of: Callable[[int], Headers] | None = None,
    json_of: Callable[[int], bytes] | None = None,
) -> Records:
    """Records of separate messages.

    >>> as_records([b"one", b"two"]).raw(1)
    b'two'
    """
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(lengths)
    text = np.frombuffer(b"".join([*values, bytes(PADDING)]), np.uint8)
    return Records(
        *(text, ends - lengths, ends, position_after, place_of, blank_is_nothing, origin_of),
        headers_of=headers_of,
        json_of=json_of,
    )
