"""`Batch`: many events as columns, the only type that moves through the pipeline."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stream_rank.codec.event import Kind
from stream_rank.codec.orders import Order
from stream_rank.ingest.chunk import Chunk
from stream_rank.learners.tables.rows import Rows

__all__ = [
    "REJECTED_FOR",
    "SEVERAL",
    "SKIPPED",
    "UNMATCHED",
    "Batch",
    "EarlierPredictions",
    "Reject",
]

Array = npt.NDArray[Any]

SKIPPED, UNMATCHED, SEVERAL = -1, -2, -3
"""Kinds in addition to those of the schema: events that a stage skipped, labels without waiting features, and of runs."""

REJECTED_FOR = ("unreadable", "schema", "feature", "label", "unmatched")
"""Kinds of rejects: not JSON or too long; not an event; an invalid feature or label; a label without waiting features."""


class Reject(NamedTuple):
    """A record that could not be learned from."""

    record: int
    """The index of the record in its chunk."""
    reason: str
    raw: bytes
    kind: str = "schema"
    """One of `REJECTED_FOR`."""


class EarlierPredictions(Protocol):
    """Predictions of events whose labels come later, by ticket."""

    def note(self, tickets: Array, predictions: Array) -> None:
        """Keep the predictions (one row per learner) of events with these tickets; -1 is no ticket."""

    def recall(self, tickets: Array) -> Array:
        """The predictions of events whose labels came, one row per learner."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of all kinds, in the order of their records, from one chunk or a part of it.

    A batch is valid until the next chunk is decoded.
    """

    chunk: Chunk
    kinds: npt.NDArray[np.int8]
    records: npt.NDArray[np.int64]
    """The index of each event's record in the chunk."""
    rows: Rows
    """The features; of a preference, those of the preferred item; of a label, those of the event it belongs to, or none."""
    others: Rows
    """Of a preference, the features of the other item; otherwise none."""
    labels: npt.NDArray[np.float64]
    """Labels; NaN of requests; of preferences their magnitudes, 0 of ties."""
    times: npt.NDArray[np.int64]
    ids: Array | None
    """Ids, of the events whose id is needed, or None."""
    groups: Array | None
    unknown_features: dict[int, dict[Any, float]]
    """The features of requests that have unknown ones, by event: kernels use them, and `rows` does not contain them."""
    orders: dict[int, Order]
    """Rankings and choices, by event: preferences that are several. `rows` and `others` do not contain their items."""
    rejects: list[Reject]
    """In the order of their records."""
    first_record: int
    end_record: int
    """The range of records that this part covers, including blank ones."""
    names_met: int
    """How many features are known after the last record."""
    ends_chunk: bool = True
    """Whether it covers the chunk's end, and so its last position, even if it has no records."""
    tickets: Array | None = None
    earlier: EarlierPredictions | None = None
    """Tickets of events that wait for a label and of labels that came; and the predictions by ticket."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def passes_records(self) -> bool:
        """Whether the position advances with this part."""
        return self.ends_chunk or self.end_record > self.first_record

    def part(self, begin: int, end: int) -> "Batch":
        """Some of the events, and the rejects and blank records up to the last of them."""
        first = self.first_record if begin == 0 else int(self.records[begin - 1]) + 1
        if end == len(self) and self.ends_chunk:
            last, names_met, ends_chunk = self.end_record, self.names_met, True
        elif end > begin:
            last, names_met = int(self.records[end - 1]) + 1, int(self.rows.met[end - 1])
            ends_chunk = False
        else:  # an empty part
            last, names_met, ends_chunk = first, 0, False
        return replace(
            self.events(begin, end),
            rejects=[each for each in self.rejects if first <= each.record < last],
            first_record=first,
            end_record=last,
            names_met=names_met,
            ends_chunk=ends_chunk,
        )

    def events(self, begin: int, end: int) -> "Batch":
        """Some of the events alone, without rejects: what is learned at once. Cost: O(1), and O(end - begin) of requests."""
        some = slice(begin, end)
        return Batch(
            self.chunk,
            self.kinds[some],
            self.records[some],
            self.rows.part(begin, end),
            self.others.part(begin, end),
            self.labels[some],
            self.times[some],
            None if self.ids is None else self.ids[some],
            None if self.groups is None else self.groups[some],
            _between(self.unknown_features, begin, end),
            _between(self.orders, begin, end),
            [],
            self.first_record,
            self.end_record,
            self.names_met,
            self.ends_chunk,
            None if self.tickets is None else self.tickets[some],
            self.earlier,
        )

    def preferences(self) -> tuple[Rows, Rows, Array]:
        """What was preferred to what, and by how much: a row for each preference, of a batch that has nothing else.

        Cost: O(1), and O(preferences) where there are rankings or choices.
        """
        if not self.orders:
            return self.rows, self.others, self.labels
        bounds: list[list[Array]] = []
        magnitudes: list[Array] = []
        done = 0
        for event in [*sorted(self.orders), len(self)]:
            if event > done:
                bounds.append(
                    [*self.rows.bounds(done, event), *self.others.bounds(done, event)[:2]]
                )
                magnitudes.append(self.labels[done:event])
            if event < len(self):
                order = self.orders[event]
                one, two = order.better, order.worse
                met = np.maximum(order.met[one], order.met[two])
                bounds.append(
                    [order.first[one], order.last[one], met, order.first[two], order.last[two]]
                )
                magnitudes.append(np.where(order.tied, 0.0, 1.0))
            done = event + 1
        first, last, met, other_first, other_last = map(np.concatenate, zip(*bounds, strict=True))
        rows = self.rows
        return (
            Rows(rows.names, first, last, rows.slots, rows.values, met),
            Rows(rows.names, other_first, other_last, rows.slots, rows.values, met),
            np.concatenate(magnitudes),
        )

    def n_preferences(self, begin: int, end: int) -> int:
        """How many preferences some events are, which are preferences, rankings and choices."""
        several = _between(self.orders, begin, end).values()
        return end - begin - len(several) + sum(len(order.better) for order in several)

    def head(self, end: int) -> "Batch":
        """The first events, and no record after the last of them."""
        return replace(self, ends_chunk=False).part(0, end)

    def until(self, record: int) -> "Batch":
        """The events, and all else, of the records before one: as if the chunk ended there."""
        end = int(np.searchsorted(self.records, record))
        return replace(
            self.events(0, end),
            rejects=[each for each in self.rejects if each.record < record],
            end_record=record,
        )

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Runs of events that are learned at once: their kind, or `SEVERAL` kinds of rows, the first event, and the end.

        Ratings, requests and labels alternate where labels come late, and one after the other they would be slow.
        Requests with unknown features are apart: they are predicted by their features' names.
        """
        kinds, ways = self.kinds, self.kinds.copy()
        ways[(kinds >= 0) & (kinds < Kind.PREFERENCE)] = SEVERAL
        apart = list(self.unknown_features)
        ways[apart] = kinds[apart]
        cut = np.diff(ways) != 0
        for first, last in pairwise([0, *(np.flatnonzero(cut) + 1).tolist(), len(self)]):
            if first < last:
                kind = kinds[first]
                yield int(kind if (kinds[first:last] == kind).all() else SEVERAL), first, last


def _between(by_event: dict[int, Any], begin: int, end: int) -> dict[int, Any]:
    """What is known of some events, counted from the first of them."""
    if not by_event:
        return by_event
    return {event - begin: found for event, found in by_event.items() if begin <= event < end}
