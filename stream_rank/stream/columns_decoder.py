"""From columns to batches, without a loop over events."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.scan import NO_TIME, Reading
from stream_rank.errors import EventError, InputError
from stream_rank.stream.assembly import Assembly
from stream_rank.stream.batch import Batch
from stream_rank.stream.chunk import Columns
from stream_rank.stream.event import Event, Kind
from stream_rank.stream.known import Known
from stream_rank.stream.limits import Limits

__all__ = ["ColumnsDecoder"]

Array = npt.NDArray[Any]


class ColumnsDecoder:
    """Reads columns; features are met in the order in which lines of the same events would bring them.

    A batch is good until the next chunk is read.
    """

    def __init__(self, limits: Limits, known: Known) -> None:
        self._limits, self._known = limits, known
        self._matrix, self._repeated = np.empty((0, 0)), np.empty(0, np.int64)
        self._places = np.empty((0, 2), np.int64)

    def batch(self, chunk: Columns) -> Batch:
        """The events of columns."""
        n_records, limits = len(chunk), self._limits
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
        doubtful = limits.doubtful(reading)
        kinds = np.where(np.isnan(labels), Kind.REQUEST, Kind.RATING).astype(np.int8)
        reasons = {
            record: chunk.wrong.get(record) or self._complaint(chunk, reading, record)
            for record in np.flatnonzero(doubtful).tolist()
        }
        learned = kinds == Kind.RATING
        if limits.delayed and chunk.ids is not None:
            learned |= np.array([name is not None for name in chunk.ids], np.bool_)
        reading, met, strange = self._meet(chunk, reading, learned & ~doubtful)
        assembly = Assembly(limits, self._known, n_records, len(values), reading, kinds, met)
        assembly.strange.update(strange)
        for record, reason in reasons.items():
            assembly.reject(record, reason, chunk.raw(record))
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
        names, known = list(chunk.features), self._known
        before, first_seen = len(known), {}
        for name in known.new(names):
            seen = learned & ~chunk.missing[name] if name in chunk.missing else learned
            if seen.any():
                first_seen[name] = int(seen.argmax())
        if before + len(first_seen) > self._limits.max_features:
            raise InputError(
                f"{before + len(first_seen)} columns of features are more than --max-features, {self._limits.max_features}"
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
        try:
            self._limits.check(Event(kind, x, {}, label, None, NO_TIME, None))
        except EventError as error:
            return str(error)
        raise AssertionError("a doubtful event that nothing is wrong with")


def _features_of(chunk: Columns, reading: Reading, record: int) -> dict[Any, float]:
    """An event of columns, by name."""
    names = list(chunk.features)
    first, last = reading.entries[record].tolist()
    found = [names[place] for place in reading.slots[first:last].tolist()]
    return dict(zip(found, reading.values[first:last].tolist(), strict=True))
