"""The decoder of columns, without a loop over events."""

from collections.abc import Collection, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import Batch
from stream_rank.codec.batch_builder import BatchBuilder
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.codec.schema import NO_FEATURES
from stream_rank.engine.reading.scan import Reading
from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.errors import EventError, FeatureError
from stream_rank.ingest.chunk import Columns

__all__ = ["ColumnsDecoder"]

Array = npt.NDArray[Any]


class ColumnsDecoder:
    """Decodes columns; new features get slots in the same order as if the events were lines of JSON.

    A batch is valid until the next chunk is decoded.
    """

    def __init__(self, limits: Limits, index: FeatureIndex) -> None:
        self._limits, self._index = limits, index
        self._matrix, self._repeated = np.empty((0, 0)), np.empty(0, np.int64)
        self._places = np.empty((0, 2), np.int64)

    def decode(self, chunk: Columns) -> Batch:
        """The events of columns."""
        n_records, limits = len(chunk), self._limits
        entries, others, places, values = self._entries(chunk)
        labels = np.full(n_records, np.nan) if chunk.labels is None else chunk.labels + 0.0
        nothing = np.full((n_records, 2), -1, np.int64)
        reading = Reading(
            read=np.ones(n_records, np.bool_),
            kinds=_kinds(chunk, labels),
            labels=labels,
            times=np.full(n_records, NO_TIME) if chunk.times is None else chunk.times,
            idents=nothing,
            groups=nothing,
            entries=entries,
            others=others,
            slots=places,
            values=values,
        )
        reading.read[list(chunk.wrong)] = False
        doubtful, kinds = limits.doubtful(reading), reading.kinds
        for record in self._labels(chunk, reading, doubtful):
            kinds[record], doubtful[record] = Kind.LABEL, False
        reasons = {
            record: chunk.wrong.get(record) or self._reason(chunk, reading, record)
            for record in np.flatnonzero(doubtful).tolist()
        }
        learned = (kinds == Kind.RATING) | (kinds == Kind.PREFERENCE)
        if limits.delayed and chunk.ids is not None:
            learned |= np.array([name is not None for name in chunk.ids], np.bool_)
        met, too_many = self._meet(chunk, learned & ~doubtful)
        reasons |= too_many
        reading, unknown = self._by_slot(chunk, reading, reasons)
        builder = BatchBuilder(chunk, limits, self._index, len(values), reading, met)
        builder.unknown_features.update(unknown)
        for record, reason in reasons.items():
            builder.reject(record, reason, chunk.raw(record))
        if chunk.groups is not None and limits.grouped:
            good = np.flatnonzero(~doubtful & (kinds != Kind.LABEL)).tolist()
            builder.put_groups(good, [chunk.groups[i] for i in good])
        if chunk.ids is not None:
            named = limits.delayed or limits.named
            asked = np.flatnonzero(~doubtful & (named | (kinds == Kind.REQUEST))).tolist()
            given = [i for i in asked if chunk.ids[i] is not None]
            builder.put_ids(given, [chunk.ids[i] for i in given])
        return builder.batch()

    def _labels(self, chunk: Columns, reading: Reading, doubtful: Array) -> list[int]:
        """The records that are labels of earlier events."""
        if not self._limits.delayed or chunk.ids is None:
            return []
        empty = doubtful & reading.read & (reading.entries[:, 0] == reading.entries[:, 1])
        labelled = np.flatnonzero(empty & ~np.isnan(reading.labels)).tolist()
        return [
            i for i in labelled if chunk.ids[i] is not None and not self._reason(chunk, reading, i)
        ]

    def _entries(self, chunk: Columns) -> tuple[Array, Array, Array, Array]:
        """The features that are not missing as entries: ranges by record, and those of the other item, columns and values."""
        columns = _columns(chunk)
        n_records, width, first = len(chunk), len(columns), len(chunk.features)
        if self._matrix.shape != (n_records, width):
            # reused for the next chunk: allocating costs more than writing
            self._matrix = np.empty((n_records, width))
            self._repeated = np.tile(np.arange(width), n_records)
            ends = np.arange(1, n_records + 1) * width
            self._places = np.stack([ends - width, ends], axis=1)
        for place, (_, column, _) in enumerate(columns):
            np.add(column, 0.0, out=self._matrix[:, place])  # -0.0 becomes 0.0
        values = self._matrix.reshape(-1)
        if all(missing is None for _, _, missing in columns):
            begins, ends = self._places.T
            middles = begins + first
            slots = self._repeated
        else:
            here = np.ones((n_records, width), np.bool_)
            for place, (_, _, missing) in enumerate(columns):
                if missing is not None:
                    here[:, place] = ~missing
            lengths = here.sum(axis=1)
            ends = np.cumsum(lengths)
            begins = ends - lengths
            middles = begins + here[:, :first].sum(axis=1)
            flat = here.reshape(-1)
            slots, values = self._repeated[flat], values[flat]
        return np.stack([begins, middles], axis=1), np.stack([middles, ends], axis=1), slots, values

    def _meet(self, chunk: Columns, learned: Array) -> tuple[Array, dict[int, str]]:
        """Give slots to the features of learned events, in the order in which the events bring them.

        Returns the number of known features after every record, and the records that would bring too many, with the reason.
        """
        columns, index, limits = _columns(chunk), self._index, self._limits
        names = list(dict.fromkeys(name for name, _, _ in columns))
        met = np.full(len(chunk), len(index))
        too_many: dict[int, str] = {}
        while unmet := index.new(names):
            here = np.stack([_present(columns, name, len(chunk)) & learned for name in unmet])
            bringing = here.any(axis=0)
            if not bringing.any():
                break
            record = int(bringing.argmax())
            full = len(index) >= limits.max_features
            for each in np.flatnonzero(bringing).tolist() if full else [record]:
                try:
                    limits.check_count(len(index), int(here[:, each].sum()))
                except FeatureError as error:
                    too_many[each], learned[each] = str(error), False
            if learned[record]:
                index.meet(
                    name for name, there in zip(unmet, here[:, record], strict=True) if there
                )
                met[record:] = len(index)
        return met, too_many

    def _by_slot(
        self, chunk: Columns, reading: Reading, reasons: Collection[int]
    ) -> tuple[Reading, dict[int, dict[Any, float]]]:
        """The entries by slot; and the features of requests that have unknown ones, which are predicted by name."""
        slot_of = self._index.slot_of
        slots = np.array([slot_of.get(name, -1) for name, _, _ in _columns(chunk)], np.int64)
        if (slots == np.arange(len(slots))).all():
            return reading, {}
        unknown = {}
        if (slots < 0).any():
            beside = np.flatnonzero(slots[reading.slots] < 0)
            records = np.unique(np.searchsorted(reading.others[:, 1], beside, "right")).tolist()
            unknown = {
                i: _features_of(chunk, reading, reading.entries[i])
                for i in records
                if i not in reasons
            }
            reading.entries[records] = reading.others[records] = 0
        return reading._replace(slots=slots[reading.slots]), unknown

    def _reason(self, chunk: Columns, reading: Reading, record: int) -> str:
        """Why an event is invalid; empty if it is valid."""
        x = _features_of(chunk, reading, reading.entries[record])
        other = _features_of(chunk, reading, reading.others[record])
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


def _kinds(chunk: Columns, labels: Array) -> npt.NDArray[np.int8]:
    """The kinds of rows."""
    if chunk.others is not None:
        return np.full(len(chunk), Kind.PREFERENCE, np.int8)
    return np.where(np.isnan(labels), Kind.REQUEST, Kind.RATING).astype(np.int8)


def _columns(chunk: Columns) -> list[tuple[str, Array, Array | None]]:
    """All columns of features, each with its name and the mask of its missing values; those of the other item are last."""
    columns = [(name, column, chunk.missing.get(name)) for name, column in chunk.features.items()]
    for name, column in (chunk.others or {}).items():
        columns.append((name, column, chunk.others_missing.get(name)))
    return columns


def _present(columns: list[tuple[str, Array, Array | None]], name: Hashable, count: int) -> Array:
    """The mask of the records that have a feature, in either item."""
    present = np.zeros(count, np.bool_)
    for each, _, missing in columns:
        if each == name:
            present |= True if missing is None else ~missing
    return present


def _features_of(chunk: Columns, reading: Reading, bounds: Array) -> dict[Any, float]:
    """The features of an item, whose entries begin and end there, by name."""
    names = [name for name, _, _ in _columns(chunk)]
    first, last = bounds.tolist()
    found = [names[place] for place in reading.slots[first:last].tolist()]
    return dict(zip(found, reading.values[first:last].tolist(), strict=True))
