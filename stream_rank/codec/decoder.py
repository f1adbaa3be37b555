"""The decoder from chunks to batches.

Three readers of JSON are tried in order: the engine's scanner takes plain ratings, requests and preferences with known features, the
compiled decoder of `fast_json` takes all valid events, and the schema (pydantic) decides about the rest and words all
reasons of rejection.
"""

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec import fast_json, schema
from stream_rank.codec.admission import Admission
from stream_rank.codec.batch import Batch
from stream_rank.codec.batch_builder import BatchBuilder
from stream_rank.codec.columns_decoder import ColumnsDecoder
from stream_rank.codec.envelope import Left
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.form import OWN_FORM, EventForm
from stream_rank.codec.id_check import IdCheck
from stream_rank.codec.key_tree import Keys
from stream_rank.codec.layouts import layout_of
from stream_rank.codec.limits import Limits
from stream_rank.codec.opener import Opener, too_long
from stream_rank.codec.orders_decoder import orders_of
from stream_rank.codec.time_check import TimeCheck
from stream_rank.engine.reading.decimals import powers_of_ten
from stream_rank.engine.reading.scan import Reading, scan
from stream_rank.engine.reading.tokens import UNITS
from stream_rank.errors import EventError
from stream_rank.ingest.chunk import MOST_BYTES, Chunk, Records
from stream_rank.learners.base.values import LONGEST_TEXT
from stream_rank.learners.tables.spare import Spare

__all__ = ["Decoder"]

Array = npt.NDArray[Any]

_SMALLEST_ENTRY = 2
"""Bytes of the shortest feature, a digit and a comma in a list."""

_KEYS_PER_FEATURE, _MORE_KEYS = 4, 10_000
"""As many keys and texts may be entered for the scanner; events with others are read as well, and slower."""

_FIRST_BLOCK, _FEW = 64, 8
"""Records that are scanned at once, and then twice as many, as long as more than one in so many is left to the slow way: the
scanner knows what came in the block before."""


@cache
def _powers() -> Array:
    return powers_of_ten()  # type: ignore[no-any-return]


class Decoder:
    """Decodes chunks one after the other, and adds new names to the feature index.

    A batch is valid until the next chunk is decoded.
    """

    def __init__(
        self,
        limits: Limits,
        index: FeatureIndex | None = None,
        form: EventForm = OWN_FORM,
        say: Callable[[str], object] | None = None,
    ) -> None:
        """`say` is told what looks odd about the events."""
        self.limits, self.form = limits, form
        admission = Admission(
            limits.max_features, limits.min_count, limits.expire_after, limits.max_new_features
        )
        self.index = FeatureIndex(admission=admission) if index is None else index
        self._layout, self._opener = layout_of(form), Opener(form.envelope)
        self._keys = self._new_keys()
        self._room = Spare(np.int64), Spare(np.float64)
        self._settled = False
        self._columns = ColumnsDecoder(limits, self.index)
        self.ids = None if say is None else IdCheck(say)
        self._times = None if say is None or form.ts_unit != "ms" else TimeCheck(say)

    def decode(self, chunk: Chunk) -> Batch:
        """The events of a chunk, in which no name may give its slot to another."""
        self.index.admission.begin()
        self.index.learned_records = 0
        return self._seen(self._decoded(chunk))

    def decode_round(self, chunk: Chunk) -> tuple[Batch, Chunk | None]:
        """The events of a chunk up to where names may give their slots to others, and the rest of it."""
        admission, count = self.index.admission, len(chunk)
        expiry = admission.expiry
        admission.begin()
        self.index.learned_records = 0
        end = count if expiry.left is None else min(count, expiry.left)
        batch = self._decoded(chunk if end == count else chunk.part(0, end))
        if expiry.began is not None and expiry.began + 1 + expiry.period < end:
            # it begins in this chunk, and the first round ends in it too
            end = expiry.began + 1 + expiry.period
            admission.undo(end)
            batch = batch.until(end)
        return self._seen(batch), (chunk.part(end, count) if end < count else None)

    def exchange(self) -> tuple[dict[Hashable, Hashable], Array] | None:
        """The names that lose their slots to others, with those, and the slots; None where no round ends before the next record."""
        if self.index.admission.expiry.left != 0:
            return None
        if self.ids is not None:
            self.ids.conclude()  # it knows features by their slots
        names, slots = self.index.exchange()
        if names and not self._keys.forget(list(names), slots.tolist()):
            self._keys = self._new_keys()
        return names, slots

    def _seen(self, batch: Batch) -> Batch:
        if self._times is not None:
            self._times.see(batch.times)
        if self.ids is not None:
            self.ids.see(batch)
        return batch

    def _new_keys(self) -> Keys:
        most = _KEYS_PER_FEATURE * self.limits.max_features + _MORE_KEYS
        return Keys(self.index, self._layout, self.form.categories, most)

    def _decoded(self, chunk: Chunk) -> Batch:
        if isinstance(chunk, Records):
            return self._records(chunk)
        if chunk.items is not None:
            return orders_of(
                chunk, chunk.items, self.limits, self.index, EventForm(self.form.categories)
            )
        return self._columns.decode(chunk)

    def _records(self, chunk: Records) -> Batch:
        """The events of records."""
        n_records, index = len(chunk), self.index
        read, wrong = self._opener.opened(chunk)
        # the scanner sees a record that is too long as empty
        ends = np.where(read.ends - read.starts > MOST_BYTES, read.starts, read.ends)
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
        builder = BatchBuilder(chunk, self.limits, index, 0, reading, room=self._room)
        first = 0
        while first < n_records and not len(
            index
        ):  # the scanner would know no name in all the chunk
            self._put(builder, chunk, read, wrong, first)
            first += 1
        doubtful = np.ones(n_records, np.bool_)
        size = n_records if self._settled else _FIRST_BLOCK
        while first < n_records:
            last = min(first + size, n_records)
            self._scan(builder, read, ends, first, last, doubtful)
            slow = np.flatnonzero(doubtful[first:last]).tolist()
            for record in slow:
                self._put(builder, chunk, read, wrong, first + record)
            self._settled = _FEW * len(slow) < last - first
            first, size = last, 2 * size
        if self.limits.grouped:
            builder.put_groups(*_tokens(read, reading.groups, ~doubtful))
        named = self.limits.delayed or self.limits.named
        wanted = ~doubtful & ((reading.kinds == Kind.REQUEST) | named)
        builder.put_ids(*_tokens(read, reading.idents, wanted))
        return builder.batch()

    def _scan(
        self,
        builder: BatchBuilder,
        chunk: Records,
        ends: Array,
        first: int,
        last: int,
        doubtful: Array,
    ) -> None:
        """Read some records by the scanner, and say which ones it leaves, or whose values are too large."""
        starts, ends = chunk.starts[first:last], ends[first:last]
        front, reading = builder.make_room(int((ends - starts).sum()) // _SMALLEST_ENTRY + 1)
        block = Reading._make([*(column[first:last] for column in reading[:-2]), *reading[-2:]])
        room = block._replace(slots=reading.slots[front:], values=reading.values[front:])
        tree, stamp = self._keys.tables(last - first)
        n_entries = scan(
            *(chunk.text, starts, ends, tree, stamp, _powers()),
            *(self._layout.way, UNITS.index(self.form.ts_unit), LONGEST_TEXT, room),
        )
        if front:
            block.entries[:] += front
            block.others[:] += front
        builder.n_entries = front + n_entries
        if self.form.labels is not None:  # what is none of them is left to the slow way, as rank 0
            rated = block.read & ((block.kinds == Kind.RATING) | (block.kinds == Kind.LABEL))
            block.labels[rated] = self.form.labels.ranks_of(block.labels[rated])
        doubtful[first:last] = self.limits.doubtful(block)

    def _put(
        self,
        builder: BatchBuilder,
        chunk: Records,
        read: Records,
        wrong: dict[int, EventError],
        record: int,
    ) -> None:
        """Add a record that the scanner does not read; `read` are those of the chunk as JSON, and `wrong` those that cannot be."""
        raw = chunk.raw(record)
        try:
            if not raw and not chunk.blank_is_nothing:  # a deletion in a compacted topic
                raise Left
            if record in wrong:
                raise wrong[record]
            text = raw if read is chunk else read.raw(record)
            if len(text) > MOST_BYTES:
                raise too_long()
            builder.put(record, self._event(text))
            self._keys.learn(text)
        except Left:
            builder.leave_out(record)
        except EventError as error:
            if raw.strip() or not chunk.blank_is_nothing:
                builder.reject(record, str(error), raw, error.kind)
            else:
                builder.skip(record)

    def _event(self, raw: bytes) -> Event:
        """Decode one event, and check the limits."""
        event = fast_json.decode(raw, self.form) or schema.parse(raw, self.form)
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
