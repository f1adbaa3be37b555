"""From what was read of a chunk to a batch."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import Batch, Reject
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.codec.schema import Event, Kind
from stream_rank.engine.reading.scan import Reading
from stream_rank.learners.tables.rows import Rows

__all__ = ["Assembly"]

Array = npt.NDArray[Any]


class Assembly:
    """What was read at once, what was read one by one, and what could not be read, on the way to a batch."""

    def __init__(
        self,
        limits: Limits,
        known: FeatureIndex,
        n_records: int,
        n_entries: int,
        reading: Reading,
        kinds: Array,
        met: Array | None = None,
    ) -> None:
        self._limits, self._known = limits, known
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

    def reject(self, record: int, reason: str, raw: bytes, kind: str = "schema") -> None:
        """Leave out a record that could not be read."""
        self._keep[record] = False
        self._rejects.append(Reject(record, reason, raw, kind))

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
