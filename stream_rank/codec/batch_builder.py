"""Building a batch from the records of a chunk that the readers have parsed."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import SKIPPED, Batch, Reject
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.codec.orders import Order, pairs_of
from stream_rank.engine.reading.scan import Reading
from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.ingest.chunk import Chunk
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.spare import Spare

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
        met: Array | None = None,
        room: tuple[Spare, Spare] | None = None,
    ) -> None:
        """Entries are read into `room`, and the batch is valid as long as that is."""
        n_records = len(chunk)
        self._chunk, self._limits, self._index = chunk, limits, index
        self._reading, self._room = reading, room
        self.n_entries = n_entries
        """How many entries the reading has; those that are added here come after them."""
        self._slots: list[int] = []
        self._values: list[float] = []
        self._met = np.full(n_records, len(index), np.int64) if met is None else met
        self._keep = np.ones(n_records, np.bool_)
        self._rejects: list[Reject] = []
        self._ids: Array | None = None
        self._groups: Array | None = None
        self.unknown_features: dict[int, dict[Any, float]] = {}
        self._orders: dict[int, Order] = {}

    def put(self, record: int, event: Event) -> None:
        """Add an event that was decoded one by one."""
        index, reading = self._index, self._reading
        index.admission.record = record
        if event.items:
            self._put_order(record, event)
        else:
            learned = event.kind in (Kind.RATING, Kind.PREFERENCE) or (
                self._limits.delayed and event.kind is Kind.REQUEST and event.id is not None
            )
            if learned:
                self.meet([{**event.x, **event.other}])
            reading.entries[record] = self._put_entries(event.x)
            reading.others[record] = self._put_entries(event.other)
            if event.kind is Kind.REQUEST and any(name not in index.slot_of for name in event.x):
                self.unknown_features[record] = event.x
        self._met[record:] = len(index)
        reading.labels[record], reading.times[record] = event.y, event.ts
        reading.kinds[record] = Kind.PREFERENCE if event.items else event.kind
        if event.id is not None:
            self.put_ids([record], [event.id])
        if event.group is not None:
            self.put_groups([record], [event.group])

    def put_ids(self, records: Array | Sequence[int], ids: Sequence[Any]) -> None:
        """Add the ids of records."""
        if len(ids):
            self._ids = np.full(len(self._keep), None, object) if self._ids is None else self._ids
            _fill(self._ids, records, ids)

    def put_groups(self, records: Array | Sequence[int], groups: Sequence[Any]) -> None:
        """Add the groups of records."""
        if len(groups):
            if self._groups is None:
                self._groups = np.full(len(self._keep), None, object)
            _fill(self._groups, records, groups)

    def put_order(self, record: int, order: Order) -> None:
        """Add a ranking or a choice whose items are entries of the reading."""
        self._orders[record] = order

    def meet(self, items: Sequence[Collection[Any]]) -> list[int]:
        """Give slots to the names of items, item after item; how many are known after each."""
        met = []
        for item in items:
            self._index.meet(item)
            met.append(len(self._index))
        return met

    def _put_order(self, record: int, event: Event) -> None:
        """Add a ranking or a choice. Its first preference brings the names of two items at once."""
        best, second, *rest = event.items
        met = self.meet([{**best, **second}, *rest])
        known = np.array([met[0], *met], np.int64)
        # a name that an item brings often enough is not in those before it
        entries = [self._put_entries(x, n) for x, n in zip(event.items, known, strict=True)]
        bounds = np.array(entries, np.int64)
        pairs = pairs_of(event.places, event.kind is Kind.CHOICE, self._limits.ranking_pairs)
        self._orders[record] = Order(bounds[:, 0], bounds[:, 1], known, *pairs)
        self._reading.entries[record] = self._reading.others[record] = 0

    def _put_entries(self, x: dict[Any, float], known: int | None = None) -> tuple[int, int]:
        """Add the known features of an item, by default of all that are known now; returns the range of its entries."""
        slot_of, begin = self._index.slot_of, self.n_entries + len(self._values)
        most = len(self._index) if known is None else known
        slots = ((slot_of.get(name, most), value) for name, value in x.items())
        entries = {slot: value for slot, value in slots if slot < most}
        self._slots.extend(entries)
        self._values.extend(entries.values())
        return begin, self.n_entries + len(self._values)

    def make_room(self, entries: int) -> tuple[int, Reading]:
        """Make room for entries of the scanner, after all that there are; how many these are, and the reading.

        Cost: O(entries).
        """
        reading, before = self._reading, self.n_entries
        count = before + len(self._values)
        spare = self._room or (Spare(np.int64), Spare(np.float64))
        slots, values = (each.of(count + entries) for each in spare)
        if before:  # which are where they were, or in room that was too small
            slots[:before], values[:before] = reading.slots[:before], reading.values[:before]
        slots[before:count], values[before:count] = self._slots, self._values
        self._slots, self._values, self.n_entries = [], [], count
        self._reading = reading._replace(slots=slots, values=values)
        return count, self._reading

    def reject(self, record: int, reason: str, raw: bytes, kind: str = "schema") -> None:
        """Reject a record."""
        self._keep[record] = False
        self._rejects.append(Reject(record, reason, raw, kind))

    def leave_out(self, record: int) -> None:
        """Count a record that is none of an event as skipped."""
        reading = self._reading
        reading.entries[record] = reading.others[record] = 0
        reading.labels[record], reading.times[record] = np.nan, NO_TIME
        reading.kinds[record] = SKIPPED

    def skip(self, record: int) -> None:
        """Skip a blank record."""
        self._keep[record] = False

    def batch(self) -> Batch:
        """All events of the chunk."""
        reading, n_entries = self._reading, self.n_entries
        slots, values = reading.slots[:n_entries], reading.values[:n_entries]
        if self._values:
            slots = np.concatenate([slots, np.array(self._slots, np.int64)])
            values = np.concatenate([values, np.array(self._values)])
        n_records = len(self._keep)
        first, last = reading.entries[:, 0], reading.entries[:, 1]
        columns = [reading.kinds, np.arange(n_records), first, last, *reading.others.T]
        columns += [self._met, reading.labels, reading.times]
        ids = self._ids
        # from the scanner they come only where they are wanted, and chunks must make no difference
        groups = self._groups if self._limits.grouped else None
        unknown, orders = self.unknown_features, self._orders
        if not self._keep.all():
            columns = [column[self._keep] for column in columns]
            ids, groups = (None if some is None else some[self._keep] for some in (ids, groups))
            event_of = np.cumsum(self._keep) - 1
            unknown = {int(event_of[i]): x for i, x in unknown.items() if self._keep[i]}
            orders = {int(event_of[i]): order for i, order in orders.items()}
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
            orders=orders,
            rejects=sorted(self._rejects),
            first_record=0,
            end_record=n_records,
            names_met=len(self._index),
        )


def _fill(column: Array, records: Array | Sequence[int], values: Sequence[Any]) -> None:
    """Write values as they are: NumPy would make one type of those that it is given as a list."""
    given: Array = np.empty(len(values), object)
    given[:] = values
    column[records] = given
