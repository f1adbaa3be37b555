"""Building a batch from the records of a chunk that the readers have parsed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import Batch, Reject
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.codec.schema import Event, Kind
from stream_rank.engine.reading.scan import Reading
from stream_rank.ingest.chunk import Chunk
from stream_rank.learners.tables.rows import Rows

__all__ = ["BatchBuilder"]

Array = npt.NDArray[Any]


class BatchBuilder:
    """Collects the events that the scanner read, those that were decoded one by one, and the rejects."""

    def __init__(
        self,
        chunk: Chunk,
        limits: Limits,
        index: FeatureIndex,
        n_entries: int,
        reading: Reading,
        kinds: Array,
        met: Array | None = None,
    ) -> None:
        n_records = len(chunk)
        self._chunk, self._limits, self._index = chunk, limits, index
        self._reading, self._kinds = reading, kinds
        self._n_entries = n_entries
        self._slots: list[int] = []
        self._values: list[float] = []
        self._other_first = self._other_last = np.zeros(n_records, np.int64)
        self._met = np.full(n_records, len(index), np.int64) if met is None else met
        self._keep = np.ones(n_records, np.bool_)
        self._rejects: list[Reject] = []
        self.ids: dict[int, Any] = {}
        self.groups: dict[int, Any] = {}
        self.unknown_features: dict[int, dict[Any, float]] = {}

    def put(self, record: int, event: Event) -> None:
        """Add an event that was decoded one by one."""
        index = self._index
        learned = event.kind in (Kind.RATING, Kind.PREFERENCE) or (
            self._limits.delayed and event.kind is Kind.REQUEST and event.id is not None
        )
        if learned:
            names = [*event.x, *(name for name in event.other if name not in event.x)]
            new = index.new(names)
            if new:
                self._limits.check_count(len(index), len(new))
                index.meet(new)
        self._met[record:] = len(index)
        reading = self._reading
        reading.entries[record] = self._put_entries(record, event.x)
        if event.kind is Kind.PREFERENCE:
            if self._other_last is self._other_first:
                self._other_last = self._other_first.copy()
            self._other_first[record], self._other_last[record] = self._put_entries(
                record, event.other
            )
        reading.labels[record], reading.times[record] = event.y, event.ts
        self._kinds[record] = event.kind
        if event.id is not None:
            self.ids[record] = event.id
        if event.group is not None:
            self.groups[record] = event.group

    def _put_entries(self, record: int, x: dict[Any, float]) -> tuple[int, int]:
        """Add the known features of an item; returns the range of its entries."""
        slot_of, begin = self._index.slot_of, self._n_entries + len(self._values)
        entries = {slot_of[name]: value for name, value in x.items() if name in slot_of}
        if len(entries) < len(x):
            self.unknown_features[record] = x
        self._slots.extend(entries)
        self._values.extend(entries.values())
        return begin, self._n_entries + len(self._values)

    def reject(self, record: int, reason: str, raw: bytes, kind: str = "schema") -> None:
        """Reject a record."""
        self._keep[record] = False
        self._rejects.append(Reject(record, reason, raw, kind))

    def skip(self, record: int) -> None:
        """Skip a blank record."""
        self._keep[record] = False

    def batch(self) -> Batch:
        """All events of the chunk."""
        reading, n_entries = self._reading, self._n_entries
        slots, values = reading.slots[:n_entries], reading.values[:n_entries]
        if self._values:
            slots = np.concatenate([slots, np.array(self._slots, np.int64)])
            values = np.concatenate([values, np.array(self._values)])
        n_records = len(self._keep)
        first, last = reading.entries[:, 0], reading.entries[:, 1]
        columns = [self._kinds, np.arange(n_records), first, last, self._other_first]
        columns += [self._other_last, self._met, reading.labels, reading.times]
        ids = _column(self.ids, n_records)
        # from the scanner they come only where they are wanted, and chunks must make no difference
        groups = _column(self.groups, n_records) if self._limits.grouped else None
        unknown = self.unknown_features
        if not self._keep.all():
            columns = [column[self._keep] for column in columns]
            ids, groups = (None if some is None else some[self._keep] for some in (ids, groups))
            event_of = np.cumsum(self._keep) - 1
            unknown = {int(event_of[i]): x for i, x in unknown.items() if self._keep[i]}
        kinds, records, first, last, other_first, other_last, met, labels, times = columns
        names = self._index.names
        return Batch(
            chunk=self._chunk,
            kinds=kinds,
            records=records,
            rows=Rows(names, first, last, slots, values, met),
            others=Rows(names, other_first, other_last, slots, values, met),
            labels=labels,
            times=times,
            ids=ids,
            groups=groups,
            unknown_features=unknown,
            rejects=sorted(self._rejects),
            first_record=0,
            end_record=n_records,
            names_met=len(self._index),
        )


def _column(given: dict[int, Any], size: int) -> Array | None:
    """Values by record as a column, None elsewhere; None if there are no values."""
    if not given:
        return None
    column = np.full(size, None, object)
    for record, value in given.items():
        column[record] = value
    return column
