"""The decoder of columns, without a loop over events."""

from collections.abc import Collection
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import Batch
from stream_rank.codec.batch_builder import BatchBuilder
from stream_rank.codec.column_entries import ColumnEntries, Entries
from stream_rank.codec.event import NO_FEATURES, Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.engine.reading.scan import Reading
from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.errors import EventError
from stream_rank.ingest.chunk import Columns

__all__ = ["ColumnsDecoder", "put_names"]

Array = npt.NDArray[Any]


class ColumnsDecoder:
    """Decodes columns; new features get slots in the same order as if the events were lines of JSON.

    A batch is valid until the next chunk is decoded.
    """

    def __init__(self, limits: Limits, index: FeatureIndex) -> None:
        self._limits, self._index = limits, index
        self._entries = ColumnEntries()

    def decode(self, chunk: Columns) -> Batch:
        """The events of columns."""
        n_records, limits = len(chunk), self._limits
        entries = self._entries.of(chunk)
        labels = np.full(n_records, np.nan) if chunk.labels is None else chunk.labels + 0.0
        nothing = np.full((n_records, 2), -1, np.int64)
        reading = Reading(
            read=np.ones(n_records, np.bool_),
            kinds=_kinds(chunk, labels),
            labels=labels,
            times=np.full(n_records, NO_TIME) if chunk.times is None else chunk.times,
            idents=nothing,
            groups=nothing,
            entries=entries.entries,
            others=entries.others,
            slots=entries.features,
            values=entries.values,
        )
        wrong = entries.twice | chunk.wrong
        reading.read[list(wrong)] = False
        doubtful, kinds = limits.doubtful(reading), reading.kinds
        for record in self._labels(chunk, entries.names, reading, doubtful):
            kinds[record], doubtful[record] = Kind.LABEL, False
        reasons = {
            record: wrong.get(record) or self._reason(chunk, entries.names, reading, record)
            for record in np.flatnonzero(doubtful).tolist()
        }
        learned = (kinds == Kind.RATING) | (kinds == Kind.PREFERENCE)
        if limits.delayed and chunk.ids is not None:
            learned |= np.array([name is not None for name in chunk.ids], np.bool_)
        met = self._meet(entries, learned & ~doubtful)
        reading, unknown = self._by_slot(entries.names, reading, reasons, met, learned)
        builder = BatchBuilder(chunk, limits, self._index, len(reading.values), reading, met)
        builder.unknown_features.update(unknown)
        for record, reason in reasons.items():
            builder.reject(record, reason, chunk.raw(record))
        put_names(builder, chunk, limits, ~doubtful, kinds)
        return builder.batch()

    def _labels(
        self, chunk: Columns, names: list[str], reading: Reading, doubtful: Array
    ) -> list[int]:
        """The records that are labels of earlier events."""
        if not self._limits.delayed or chunk.ids is None:
            return []
        empty = doubtful & reading.read & (reading.entries[:, 0] == reading.entries[:, 1])
        labelled = np.flatnonzero(empty & ~np.isnan(reading.labels)).tolist()
        ids = chunk.ids
        return [
            i for i in labelled if ids[i] is not None and not self._reason(chunk, names, reading, i)
        ]

    def _meet(self, entries: Entries, learned: Array) -> Array:
        """Give slots to the features of learned events, in the order in which the events bring them, as far as they are let in.

        Returns the number of known features after every record.

        Cost: O(entries) where there are new names, and O(events that bring some) calls.
        """
        names, index, limits = entries.names, self._index, self._limits
        met = np.full(len(learned), len(index))
        slot_of = index.slot_of
        unmet = np.array([name not in slot_of for name in names], np.bool_)
        if not unmet.any():
            return met
        at = np.flatnonzero(unmet[entries.features])
        if not learned.all():
            at = at[learned[np.searchsorted(entries.others[:, 1], at, "right")]]
        first = np.full(len(names), -1)
        first[entries.features[at[::-1]]] = at[
            ::-1
        ]  # of a name that comes again the first place is kept
        first = np.sort(first[first >= 0])
        all_fit = len(index) + len(first) <= limits.max_features
        if limits.min_count == 1 and all_fit and len(first) <= limits.max_new_features:
            at = first  # all are let in, and nobody brings the same again
        records = np.searchsorted(entries.others[:, 1], at, "right")
        cuts = (np.flatnonzero(np.diff(records)) + 1).tolist()
        features = entries.features[at].tolist()
        for begin, end in pairwise([0, *cuts, len(at)] if len(at) else []):
            index.admission.record = int(records[begin])
            index.meet(dict.fromkeys(names[each] for each in features[begin:end]))
            met[records[begin]] = len(index)
        return np.maximum.accumulate(met)

    def _by_slot(
        self,
        names: list[str],
        reading: Reading,
        reasons: Collection[int],
        met: Array,
        learned: Array,
    ) -> tuple[Reading, dict[int, dict[Any, float]]]:
        """The entries by slot; and the features of requests that have unknown ones, which are predicted by name."""
        slot_of = self._index.slot_of
        slots = np.array([slot_of.get(name, -1) for name in names], np.int64)
        at_once = not self._index.admission.counted
        if (slots == np.arange(len(slots))).all() and at_once:
            return reading, {}
        found = slots[reading.slots]
        if (slots >= 0).all() and at_once:
            return reading._replace(slots=found), {}
        known = found >= 0
        if not at_once:  # what an event is too early for may be let in by a later one
            of = np.searchsorted(reading.others[:, 1], np.arange(len(found)), "right")
            known &= ~learned[of] | (found < met[of])
        records = np.unique(np.searchsorted(reading.others[:, 1], np.flatnonzero(~known), "right"))
        requests = records[reading.kinds[records] == Kind.REQUEST].tolist()
        unknown = {
            i: _features_of(names, reading, reading.entries[i])
            for i in requests
            if i not in reasons
        }
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
        return (
            reading._replace(
                entries=before[reading.entries],
                others=before[reading.others],
                slots=found[known],
                values=reading.values[known],
            ),
            unknown,
        )

    def _reason(self, chunk: Columns, names: list[str], reading: Reading, record: int) -> str:
        """Why an event is invalid; empty if it is valid."""
        x = _features_of(names, reading, reading.entries[record])
        other = _features_of(names, reading, reading.others[record])
        label, kind = float(reading.labels[record]), Kind(int(reading.kinds[record]))
        if kind is Kind.PREFERENCE:
            for item, features in (("preferred", x), ("other", other)):
                if not features:
                    return NO_FEATURES.replace("x:", f"{item}:", 1)
        elif not x:
            if np.isnan(label) or chunk.ids is None or chunk.ids[record] is None:
                return NO_FEATURES
            kind = Kind.LABEL
        try:
            self._limits.check(Event(kind, x, other, label, None, NO_TIME, None))
        except EventError as error:
            return str(error)
        return ""


def put_names(
    builder: BatchBuilder, chunk: Columns, limits: Limits, good: Array, kinds: Array
) -> None:
    """Add the groups and ids of good records, where they are needed."""
    if chunk.groups is not None and limits.grouped:
        grouped = np.flatnonzero(good & (kinds != Kind.LABEL)).tolist()
        builder.put_groups(grouped, [chunk.groups[i] for i in grouped])
    if chunk.ids is not None:
        named = limits.delayed or limits.named
        asked = np.flatnonzero(good & (named | (kinds == Kind.REQUEST))).tolist()
        given = [i for i in asked if chunk.ids[i] is not None]
        builder.put_ids(given, [chunk.ids[i] for i in given])


def _kinds(chunk: Columns, labels: Array) -> npt.NDArray[np.int8]:
    """The kinds of rows."""
    if chunk.others is not None:
        return np.full(len(chunk), Kind.PREFERENCE, np.int8)
    return np.where(np.isnan(labels), Kind.REQUEST, Kind.RATING).astype(np.int8)


def _features_of(names: list[str], reading: Reading, bounds: Array) -> dict[Any, float]:
    """The features of an item, whose entries begin and end there, by name."""
    first, last = bounds.tolist()
    found = [names[place] for place in reading.slots[first:last].tolist()]
    return dict(zip(found, reading.values[first:last].tolist(), strict=True))
