"""The decoder from chunks to batches.

Three readers of JSON are tried in order: the engine's scanner takes plain ratings, requests and preferences with known features, the
compiled decoder of `fast_json` takes all valid events, and the schema (pydantic) decides about the rest and words all
reasons of rejection.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec import fast_json, schema
from stream_rank.codec.batch import Batch
from stream_rank.codec.batch_builder import BatchBuilder
from stream_rank.codec.columns_decoder import ColumnsDecoder
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.engine.reading.decimals import powers_of_ten
from stream_rank.engine.reading.scan import Reading, scan
from stream_rank.errors import EventError, UnreadableError
from stream_rank.ingest.chunk import MOST_BYTES, Chunk, Records

__all__ = ["Decoder"]

Array = npt.NDArray[Any]

_SMALLEST_ENTRY = 2
"""Bytes of the shortest feature, a digit and a comma in a list."""


@cache
def _powers() -> Array:
    return powers_of_ten()  # type: ignore[no-any-return]


class Decoder:
    """Decodes chunks one after the other, and adds new names to the feature index.

    A batch is valid until the next chunk is decoded.
    """

    def __init__(self, limits: Limits, index: FeatureIndex | None = None) -> None:
        self.limits = limits
        self.index = FeatureIndex() if index is None else index
        self._columns = ColumnsDecoder(limits, self.index)

    def decode(self, chunk: Chunk) -> Batch:
        """The events of a chunk."""
        return self._records(chunk) if isinstance(chunk, Records) else self._columns.decode(chunk)

    def _records(self, chunk: Records) -> Batch:
        """The events of records."""
        n_records, index = len(chunk), self.index
        # the scanner sees a record that is too long as empty
        ends = np.where(chunk.ends - chunk.starts > MOST_BYTES, chunk.starts, chunk.ends)
        room = int((ends - chunk.starts).sum()) // _SMALLEST_ENTRY + 1
        reading = Reading(
            read=np.empty(n_records, np.bool_),
            kinds=np.empty(n_records, np.int8),
            labels=np.empty(n_records),
            times=np.empty(n_records, np.int64),
            idents=np.empty((n_records, 2), np.int64),
            groups=np.empty((n_records, 2), np.int64),
            entries=np.empty((n_records, 2), np.int64),
            others=np.empty((n_records, 2), np.int64),
            slots=np.empty(0, np.int64),
            values=np.empty(0),
        )
        builder = BatchBuilder(chunk, self.limits, index, 0, reading)
        first = 0
        while first < n_records and not len(
            index
        ):  # the scanner would know no name in all the chunk
            self._put(builder, chunk, first)
            first += 1
        front, reading = builder.make_room(room)
        rest = Reading._make([*(column[first:] for column in reading[:-2]), *reading[-2:]])
        room_left = rest._replace(slots=reading.slots[front:], values=reading.values[front:])
        names, stamp = index.tables(n_records - first)
        lines = chunk.starts[first:], ends[first:]
        n_entries = scan(chunk.text, *lines, names, stamp, _powers(), room_left)
        if front:
            rest.entries[:] += front
            rest.others[:] += front
        builder.n_entries = front + n_entries
        doubtful = np.ones(n_records, np.bool_)
        doubtful[first:] = self.limits.doubtful(rest)
        for record in np.flatnonzero(doubtful[first:]).tolist():
            self._put(builder, chunk, first + record)
        if self.limits.grouped:
            builder.put_groups(*_tokens(chunk, reading.groups, ~doubtful))
        named = self.limits.delayed or self.limits.named
        wanted = ~doubtful & ((reading.kinds == Kind.REQUEST) | named)
        builder.put_ids(*_tokens(chunk, reading.idents, wanted))
        return builder.batch()

    def _put(self, builder: BatchBuilder, chunk: Records, record: int) -> None:
        """Add a record that the scanner does not read."""
        raw = chunk.raw(record)
        try:
            if len(raw) > MOST_BYTES:
                raise UnreadableError(f"longer than {MOST_BYTES:,} bytes")
            builder.put(record, self._event(raw))
        except EventError as error:
            if raw.strip() or not chunk.blank_is_nothing:
                builder.reject(record, str(error), raw, error.kind)
            else:
                builder.skip(record)

    def _event(self, raw: bytes) -> Event:
        """Decode one event, and check the limits."""
        event = fast_json.decode(raw) or schema.parse(raw)
        self.limits.check(event)
        return event


def _tokens(chunk: Records, places: Array, wanted: Array) -> tuple[Array, list[Any]]:
    """The records that have an id or a group at these places of the text, and what it is."""
    records = np.flatnonzero(wanted & (places[:, 0] >= 0))
    if not len(records):
        return records, []
    begins, ends = places[records].T
    first = int(begins.min())
    text = chunk.text[first : int(ends.max())].tobytes().decode("latin-1")
    tokens = (
        text[begin:end]
        for begin, end in zip((begins - first).tolist(), (ends - first).tolist(), strict=True)
    )
    # the scanner takes nothing but ASCII for a name
    return records, [token[1:-1] if token[0] == '"' else int(token) for token in tokens]
