"""The decoder of rankings and choices by columns: without a loop over items, and one over events for their pairs alone."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic_core import from_json

from stream_rank.codec import schema
from stream_rank.codec.batch import Batch
from stream_rank.codec.batch_builder import BatchBuilder
from stream_rank.codec.columns_decoder import put_names
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.form import OWN_FORM, EventForm
from stream_rank.codec.limits import Limits
from stream_rank.codec.orders import MOST_PAIRS, Order, pairs_of
from stream_rank.engine.reading.entries import beyond
from stream_rank.engine.reading.scan import Reading
from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.errors import EventError
from stream_rank.ingest.chunk import MOST_BYTES, Columns, Items

__all__ = ["content_of", "orders_of"]

Array = npt.NDArray[Any]

_MOST_NUMBERS = MOST_BYTES // 2
"""More has no record of JSON that is short enough to be parsed."""


def orders_of(
    chunk: Columns, items: Items, limits: Limits, index: FeatureIndex, form: EventForm = OWN_FORM
) -> Batch:
    """The events of a chunk of rankings and choices; whatever is not plain is left to the schema, as the scanner does."""
    items = _chosen_once(items)
    n_records, n_items = len(chunk), len(items.places)
    first, last = items.ends[:-1], items.ends[1:]
    times = np.full(n_records, NO_TIME) if chunk.times is None else chunk.times
    nothing = np.zeros((n_records, 2), np.int64)
    slots = np.empty(len(items.values), np.int64)
    reading = Reading(
        read=np.ones(n_records, np.bool_),
        kinds=np.full(n_records, Kind.PREFERENCE, np.int8),
        labels=np.full(n_records, np.nan),
        times=times.copy(),
        idents=nothing,
        groups=nothing,
        entries=nothing.copy(),
        others=nothing.copy(),
        slots=slots,
        values=items.values.copy(),
    )
    known, met = np.full(n_records, len(index)), np.full(n_items, len(index))
    builder = BatchBuilder(chunk, limits, index, len(slots), reading, known)
    doubtful, bringing = _doubtful(items, limits), _bringing(items, index)
    good = np.ones(n_records, np.bool_)
    for record in np.flatnonzero(doubtful | bringing | _marked(chunk.wrong, n_records)).tolist():
        begin, end = items.bounds[record : record + 2].tolist()
        before = len(index)
        try:
            if record in chunk.wrong:
                raise EventError(chunk.wrong[record])
            if doubtful[record]:
                event = _event(items, record, limits, form)
                builder.put(record, event._replace(ts=int(times[record])))
            else:
                index.admission.record = record
                best, second, *rest = _names_of(items, begin, end)
                counts = builder.meet([best | second, *rest])
                met[begin:end] = [counts[0], *counts]
            if len(index) > before:
                known[record:] = met[end:] = len(index)
        except EventError as error:
            good[record] = False
            builder.reject(record, str(error), chunk.raw(record), error.kind)
    first, last = _known_alone(reading, _slots(items, index), first, last, met)
    pairs: dict[tuple[bytes, bool], Any] = {}  # few forms of rankings come again and again
    for record in np.flatnonzero(good & ~doubtful).tolist():
        some = slice(*items.bounds[record : record + 2].tolist())
        places, choice = items.places[some], bool(items.choices[record])
        like = places.tobytes(), choice
        if like not in pairs:
            pairs[like] = pairs_of(places, choice, limits.ranking_pairs)
        builder.put_order(record, Order(first[some], last[some], met[some], *pairs[like]))
    put_names(builder, chunk, limits, good, reading.kinds)
    return builder.batch()


def content_of(items: Items, record: int) -> dict[str, Any]:
    """A record as parsed JSON; an `EventError` if a cell has text that is none."""
    content = items.content(record)
    for name, value in content.items():
        if isinstance(value, str):
            if len(value) > MOST_BYTES:
                raise EventError(f"{name}: longer than {MOST_BYTES:,} bytes")
            try:
                content[name] = from_json(value, allow_inf_nan=False)
            except ValueError as error:
                raise EventError(f"{name}: not JSON: {error}") from None
    return content


def _event(items: Items, record: int, limits: Limits, form: EventForm) -> Event:
    """A record by the schema, within the limits."""
    begin, end = items.bounds[record : record + 2].tolist()
    size = end - begin + int(items.ends[end] - items.ends[begin])
    if size > _MOST_NUMBERS:
        raise EventError(f"{size:,} items and numbers are more than {_MOST_NUMBERS:,}")
    event = schema.check(content_of(items, record), form)
    limits.check(event)
    return event


def _chosen_once(items: Items) -> Items:
    """Leave out the chosen item where it is among the others too, once."""
    lengths = np.diff(items.ends)
    rows = np.repeat(np.arange(len(items.plain)), np.diff(items.bounds))
    chosen = items.bounds[rows]
    alike = items.choices[rows] & (lengths == lengths[chosen]) & (items.places > 0)
    compared = np.repeat(alike, lengths)
    ours = np.flatnonzero(compared)
    shift = np.repeat(items.ends[chosen] - items.ends[:-1], lengths)[compared]
    theirs = ours + shift
    apart = items.features[ours] != items.features[theirs]
    apart |= items.values[ours] != items.values[theirs]
    item_of = np.repeat(np.arange(len(lengths)), lengths)[compared]
    alike[item_of[apart]] = False
    again = np.flatnonzero(alike)
    again = again[np.unique(rows[again], return_index=True)[1]]  # the first of each row
    if not len(again):
        return items
    keep = np.ones(len(lengths), np.bool_)
    keep[again] = False
    entries = np.repeat(keep, lengths)
    removed = np.bincount(rows[again], minlength=len(items.plain))
    return items._replace(
        bounds=items.bounds - np.concatenate([np.zeros(1, np.int64), np.cumsum(removed)]),
        places=items.places[keep],
        ends=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[keep])]),
        features=items.features[entries],
        values=items.values[entries],
    )


def _doubtful(items: Items, limits: Limits) -> Array:
    """The records that are not plain, or may exceed the limits."""
    counts = np.diff(items.bounds)
    doubtful: Array = ~items.plain | (counts < 2) | (counts * (counts - 1) // 2 > MOST_PAIRS)
    # two items may differ by twice the largest number
    unfit = np.zeros(len(items.places), np.bool_)
    ranges = items.ends[:-1], items.ends[1:]
    beyond(*ranges, items.values, limits.largest / 2, limits.longest, unfit)
    doubtful[np.repeat(np.arange(len(counts)), counts)[unfit]] = True
    return doubtful


def _bringing(items: Items, index: FeatureIndex) -> Array:
    """The records that have features which are not known yet."""
    new = np.concatenate([np.zeros(1, np.int64), np.cumsum(_slots(items, index) < 0)])
    return np.asarray(np.diff(new[items.ends[items.bounds]]) > 0)


def _slots(items: Items, index: FeatureIndex) -> Array:
    """The slot of each number, or -1."""
    slot_of = index.slot_of
    slots = np.array([slot_of.get(name, -1) for name in items.names], np.int64)
    return slots[items.features]


def _known_alone(
    reading: Reading, slots: Array, first: Array, last: Array, met: Array
) -> tuple[Array, Array]:
    """Leave out the entries whose feature was not let in when their item came; where those of each item begin and end."""
    known = (slots >= 0) & (slots < np.repeat(met, last - first))
    count = int(known.sum())
    reading.slots[:count], reading.slots[count:] = slots[known], 0
    reading.values[:count] = reading.values[known]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
    return before[first], before[last]


def _names_of(items: Items, begin: int, end: int) -> list[dict[Any, None]]:
    """The names of the features of some items."""
    names, ends = items.names, items.ends[begin : end + 1].tolist()
    return [
        dict.fromkeys(names[place] for place in items.features[first:last].tolist())
        for first, last in pairwise(ends)
    ]


def _marked(records: Any, count: int) -> Array:
    """A mask of some records."""
    mask = np.zeros(count, np.bool_)
    mask[list(records)] = True
    return mask
