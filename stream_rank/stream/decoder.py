"""From raw events to batches.

A record is read by the first of three that can: the engine's scanner takes plain ratings and requests with known
features, the compiled decoder of `wire` all events, and the schema of record has the last word and all the words.
"""

from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.decimals import powers_of_ten
from stream_rank.engine.entries import beyond
from stream_rank.engine.scan import NO_TIME, Reading, scan
from stream_rank.errors import EventError, InputError
from stream_rank.learners.rows import Rows
from stream_rank.stream import event as schema
from stream_rank.stream import wire
from stream_rank.stream.batch import Batch, Reject
from stream_rank.stream.chunk import Columns, Records
from stream_rank.stream.event import Event, Kind
from stream_rank.stream.known import Known
from stream_rank.stream.limits import MOST_BYTES, Limits

__all__ = ["Decoder"]

Array = npt.NDArray[Any]

_SMALLEST_ENTRY = 2
"""Bytes of the shortest feature, a digit and a comma in a list."""


@cache
def _powers() -> Array:
    return powers_of_ten()  # type: ignore[no-any-return]


class Decoder:
    """Reads chunks one after the other, and knows the features that came so far.

    A batch is good until the next chunk is read.
    """

    def __init__(self, limits: Limits, names: Iterable[Hashable] = ()) -> None:
        self.limits = limits
        self.known = Known(names)
        self._matrix, self._repeated = np.empty((0, 0)), np.empty(0, np.int64)
        self._places = np.empty((0, 2), np.int64)

    # Records --------------------------------------------------------------------------------

    def records(self, chunk: Records) -> Batch:
        """The events of records."""
        n_records, known = len(chunk), self.known
        names, stamp = known.tables(n_records)
        room = int((chunk.ends - chunk.starts).sum()) // _SMALLEST_ENTRY + 1
        reading = Reading(
            read=np.empty(n_records, np.bool_),
            labels=np.empty(n_records),
            times=np.empty(n_records, np.int64),
            idents=np.empty((n_records, 2), np.int64),
            groups=np.empty((n_records, 2), np.int64),
            entries=np.empty((n_records, 2), np.int64),
            slots=np.empty(room, np.int64),
            values=np.empty(room),
        )
        # what is too long is not looked at: to the scanner it is empty
        ends = np.where(chunk.ends - chunk.starts > MOST_BYTES, chunk.starts, chunk.ends)
        n_entries = scan(chunk.text, chunk.starts, ends, names, stamp, _powers(), reading)
        doubtful = self._doubtful(reading)
        kinds = np.where(np.isnan(reading.labels), Kind.REQUEST, Kind.RATING).astype(np.int8)
        assembly = _Assembly(self, n_records, n_entries, reading, kinds)
        for record in np.flatnonzero(doubtful).tolist():
            raw = chunk.raw(record)
            try:
                if len(raw) > MOST_BYTES:
                    raise EventError(f"longer than {MOST_BYTES:,} bytes")
                assembly.put(record, self._read(raw))
            except EventError as error:
                if raw.strip():
                    assembly.reject(record, str(error), raw)
                else:
                    assembly.skip(record)
        if self.limits.grouped:
            assembly.groups.update(_tokens(chunk, reading.groups, ~doubtful))
        named = self.limits.delayed or self.limits.named
        wanted = ~doubtful & ((kinds == Kind.REQUEST) | named)
        assembly.ids.update(_tokens(chunk, reading.idents, wanted))
        return assembly.batch()

    def _doubtful(self, reading: Reading) -> Array:
        """The records that the scanner did not read, or read and found beyond the limits."""
        limits, labels = self.limits, reading.labels
        doubtful: Array = ~reading.read
        first, last = reading.entries[:, 0], reading.entries[:, 1]
        beyond(first, last, reading.values, limits.largest, limits.longest, doubtful)
        if limits.n_ranks is None:
            doubtful |= np.abs(labels) > limits.largest
        else:
            doubtful |= (labels < 1) | (labels > limits.n_ranks)
            doubtful |= (labels != np.floor(labels)) & ~np.isnan(labels)
        return doubtful

    def _read(self, raw: bytes) -> Event:
        """One event, within the limits."""
        event = wire.decode(raw) or schema.parse(raw)
        self.limits.check(event)
        return event

    # Columns --------------------------------------------------------------------------------

    def columns(self, chunk: Columns) -> Batch:
        """The events of columns."""
        n_records, limits = len(chunk), self.limits
        entries, places, values = self._entries(chunk)
        labels = np.full(n_records, np.nan) if chunk.labels is None else chunk.labels
        nothing = np.full((n_records, 2), -1, np.int64)
        reading = Reading(
            read=np.ones(n_records, np.bool_),
            labels=labels,
            times=np.full(n_records, NO_TIME) if chunk.times is None else chunk.times,
            idents=nothing,
            groups=nothing,
            entries=entries,
            slots=places,
            values=values,
        )
        reading.read[list(chunk.wrong)] = False
        doubtful = self._doubtful(reading)
        kinds = np.where(np.isnan(labels), Kind.REQUEST, Kind.RATING).astype(np.int8)
        learned = ~doubtful & ((kinds == Kind.RATING) | (limits.delayed and chunk.ids is not None))
        met_reading, met, strange = self._meet(chunk, reading, learned)
        assembly = _Assembly(self, n_records, len(values), met_reading, kinds, met)
        assembly.strange.update(
            {record: x for record, x in strange.items() if not doubtful[record]}
        )
        for record in np.flatnonzero(doubtful).tolist():
            try:
                reason = chunk.wrong.get(record) or self._complaint(chunk, reading, record)
                assembly.reject(record, reason, chunk.raw(record))
            except EventError as error:
                assembly.reject(record, str(error), chunk.raw(record))
        good = np.flatnonzero(~doubtful).tolist()
        if chunk.groups is not None and limits.grouped:
            assembly.groups.update({i: chunk.groups[i] for i in good})
        if chunk.ids is not None:
            named = limits.delayed or limits.named
            asked = good if named else [i for i in good if kinds[i] == Kind.REQUEST]
            assembly.ids.update({i: chunk.ids[i] for i in asked if chunk.ids[i] is not None})
        return assembly.batch()

    def _entries(self, chunk: Columns) -> tuple[Array, Array, Array]:
        """The features of columns as entries, those that are missing left out: places, columns and values."""
        n_records, width = len(chunk), len(chunk.features)
        if self._matrix.shape != (n_records, width):
            # kept from chunk to chunk: new memory costs more than writing to it
            self._matrix = np.empty((n_records, width))
            self._repeated = np.tile(np.arange(width), n_records)
            ends = np.arange(1, n_records + 1) * width
            self._places = np.stack([ends - width, ends], axis=1)
        for place, column in enumerate(chunk.features.values()):
            np.add(column, 0.0, out=self._matrix[:, place])  # -0.0 becomes 0.0
        values = self._matrix.reshape(-1)
        if not chunk.missing:
            return self._places.copy(), self._repeated, values
        here = np.ones((n_records, width), np.bool_)
        for place, name in enumerate(chunk.features):
            if name in chunk.missing:
                here[:, place] = ~chunk.missing[name]
        lengths = here.sum(axis=1)
        ends = np.cumsum(lengths)
        flat = here.reshape(-1)
        return np.stack([ends - lengths, ends], axis=1), self._repeated[flat], values[flat]

    def _meet(
        self, chunk: Columns, reading: Reading, learned: Array
    ) -> tuple[Reading, Array, dict[int, dict[Any, float]]]:
        """Meet the features of columns in the events that are learned, as if these came one by one.

        The entries by slot; how many features were known after every record; and the requests that have others.
        """
        names, known = list(chunk.features), self.known
        before, first_seen = len(known), {}
        for name in known.new(names):
            seen = learned & ~chunk.missing[name] if name in chunk.missing else learned
            if seen.any():
                first_seen[name] = int(seen.argmax())
        if before + len(first_seen) > self.limits.max_features:
            raise InputError(
                f"{before + len(first_seen)} columns of features are more than --max-features, {self.limits.max_features}"
            )
        firsts = sorted(set(first_seen.values()))
        for record in firsts:
            known.meet(name for name, first in first_seen.items() if first == record)
        steps = np.sort(np.fromiter(first_seen.values(), np.int64, len(first_seen)))
        met = before + np.searchsorted(steps, np.arange(len(chunk)), "right")
        slots = np.array([known.slot_of.get(name, -1) for name in names], np.int64)
        if (slots == np.arange(len(slots))).all():
            return reading, met, {}
        strange = {}
        if (slots < 0).any():
            beside = np.flatnonzero(slots[reading.slots] < 0)
            for record in np.unique(
                np.searchsorted(reading.entries[:, 1], beside, "right")
            ).tolist():
                strange[record] = _features_of(chunk, reading, record)
            reading.entries[list(strange)] = 0  # they are predicted by name
        return reading._replace(slots=slots[reading.slots]), met, strange

    def _complaint(self, chunk: Columns, reading: Reading, record: int) -> str:
        """What is wrong with an event that was read."""
        x = _features_of(chunk, reading, record)
        if not x:
            return "x: an event needs at least one feature"
        label = float(reading.labels[record])
        kind = Kind.REQUEST if np.isnan(label) else Kind.RATING
        self.limits.check(Event(kind, x, {}, label, None, NO_TIME, None))
        raise AssertionError("a doubtful event that nothing is wrong with")


def _features_of(chunk: Columns, reading: Reading, record: int) -> dict[Any, float]:
    """An event of columns, by name."""
    names = list(chunk.features)
    first, last = reading.entries[record].tolist()
    found = [names[place] for place in reading.slots[first:last].tolist()]
    return dict(zip(found, reading.values[first:last].tolist(), strict=True))


class _Assembly:
    """What was read at once, what was read one by one, and what could not be read, on the way to a batch."""

    def __init__(
        self,
        decoder: Decoder,
        n_records: int,
        n_entries: int,
        reading: Reading,
        kinds: Array,
        met: Array | None = None,
    ) -> None:
        self._limits, self._known = decoder.limits, decoder.known
        self._reading, self._kinds = reading, kinds
        self._n_entries = n_entries
        self._slots: list[int] = []
        self._values: list[float] = []
        self._met = np.full(n_records, len(self._known), np.int64) if met is None else met
        self._keep = np.ones(n_records, np.bool_)
        self._rejects: list[Reject] = []
        self._blank = 0
        self.ids: dict[int, Any] = {}
        self.groups: dict[int, Any] = {}
        self.strange: dict[int, dict[Any, float]] = {}
        self._pairs: dict[int, tuple[dict[Any, float], dict[Any, float]]] = {}

    def put(self, record: int, event: Event) -> None:
        """Take an event that was read by itself."""
        known = self._known
        learned = event.kind in (Kind.RATING, Kind.PREFERENCE) or (
            self._limits.delayed and event.kind is Kind.REQUEST and event.id is not None
        )
        if learned:
            names = [*event.x, *(name for name in event.other if name not in event.x)]
            new = known.new(names)
            if new:
                self._limits.check_count(len(known), len(new))
                known.meet(new)
        self._met[record:] = len(known)
        reading, begin = self._reading, self._n_entries + len(self._values)
        if event.kind is Kind.PREFERENCE:
            self._pairs[record] = (event.x, event.other)
        else:
            slot_of = known.slot_of
            entries = {slot_of[name]: v for name, v in event.x.items() if name in slot_of}
            if len(entries) < len(event.x):
                self.strange[record] = event.x
            self._slots.extend(entries)
            self._values.extend(entries.values())
        end = self._n_entries + len(self._values)
        reading.entries[record] = begin, end
        reading.labels[record], reading.times[record] = event.y, event.ts
        self._kinds[record] = event.kind
        if event.id is not None:
            self.ids[record] = event.id
        if event.group is not None:
            self.groups[record] = event.group

    def reject(self, record: int, reason: str, raw: bytes) -> None:
        """Leave out a record that could not be read."""
        self._keep[record] = False
        self._rejects.append(Reject(record, reason, raw))

    def skip(self, record: int) -> None:
        """Leave out a record that is blank."""
        self._keep[record] = False
        self._blank += 1

    def batch(self) -> Batch:
        """All events of the chunk."""
        reading, n_entries = self._reading, self._n_entries
        slots, values = reading.slots[:n_entries], reading.values[:n_entries]
        if self._values:
            slots = np.concatenate([slots, np.array(self._slots, np.int64)])
            values = np.concatenate([values, np.array(self._values)])
        n_records = len(self._keep)
        records = np.arange(n_records)
        first, last = reading.entries[:, 0], reading.entries[:, 1]
        columns = [self._kinds, records, first, last, self._met, reading.labels, reading.times]
        ids, groups, pairs, strange = self.ids, self.groups, self._pairs, self.strange
        if not self._keep.all():
            columns = [column[self._keep] for column in columns]
            event_of = np.cumsum(self._keep) - 1
            ids = {int(event_of[i]): v for i, v in ids.items() if self._keep[i]}
            groups = {int(event_of[i]): v for i, v in groups.items() if self._keep[i]}
            pairs = {int(event_of[i]): v for i, v in pairs.items() if self._keep[i]}
            strange = {int(event_of[i]): v for i, v in strange.items() if self._keep[i]}
        kinds, records, first, last, met, labels, times = columns
        named = [groups.get(i) for i in range(len(kinds))] if groups else None
        rows = Rows(self._known.names, first, last, slots, values, met)
        rejects = sorted(self._rejects)
        return Batch(
            *(kinds, records, rows, labels, times, ids, named, pairs, strange, rejects),
            n_records - self._blank,
        )


def _tokens(chunk: Records, places: Array, wanted: Array) -> dict[int, Any]:
    """The ids or groups that stand at some places, by record."""
    found: dict[int, Any] = {}
    for record in np.flatnonzero(wanted & (places[:, 0] >= 0)).tolist():
        begin, end = places[record].tolist()
        text = chunk.text[begin:end].tobytes()
        found[record] = text[1:-1].decode() if text[:1] == b'"' else int(text)
    return found
