"""Many events as columns: the only thing that moves through the pipeline."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stream_rank.ingest.chunk import Chunk
from stream_rank.learners.tables.rows import Rows

__all__ = ["REJECTED_FOR", "SKIPPED", "UNMATCHED", "Batch", "EarlierPredictions", "Reject"]

Array = npt.NDArray[Any]

SKIPPED, UNMATCHED = -1, -2
"""Kinds beside those of the schema: events that a stage left out, and labels that no features wait for."""

REJECTED_FOR = ("unreadable", "schema", "feature", "label", "unmatched")
"""Kinds of rejects: not JSON or too long; no event; a feature or a label that cannot be; a label that no features wait for."""


class Reject(NamedTuple):
    """A record that could not be learned from."""

    record: int
    """Which of the chunk's records it is."""
    reason: str
    raw: bytes
    kind: str = "schema"
    """One of `REJECTED_FOR`."""


class EarlierPredictions(Protocol):
    """What was predicted of events whose labels come later, by ticket."""

    def note(self, tickets: Array, predictions: Array) -> None:
        """Keep the predictions (a row a learner) of events with these tickets; -1 is no ticket."""

    def recall(self, tickets: Array) -> Array:
        """The predictions of events whose labels came, a row a learner."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of all kinds, in the order of their records, from one chunk or a part of it.

    A batch is good until the next chunk is decoded.
    """

    chunk: Chunk
    kinds: npt.NDArray[np.int8]
    records: npt.NDArray[np.int64]
    """Which of the chunk's records each event is."""
    rows: Rows
    """The features; of a preference, those of the preferred item; of a label, those that it came for, or none."""
    others: Rows
    """Of a preference, the features of the other item; else none."""
    labels: npt.NDArray[np.float64]
    """Labels; NaN of requests; of preferences their magnitudes."""
    times: npt.NDArray[np.int64]
    ids: Array | None
    """Ids, as far as anybody may ask for them, or None."""
    groups: Array | None
    unknown_features: dict[int, dict[Any, float]]
    """Requests, by event, with features that nobody knows: to kernels they count, and rows do not have them."""
    rejects: list[Reject]
    """In the order of their records."""
    first_record: int
    end_record: int
    """The records that this part stands for, blank ones included."""
    names_met: int
    """How many features are known after the last record."""
    ends_chunk: bool = True
    """Whether it goes to the chunk's end, and so to its last position, also if it has no record."""
    tickets: Array | None = None
    earlier: EarlierPredictions | None = None
    """Tickets of events that wait for a label and of the labels that came, and what was predicted by ticket."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def passes_records(self) -> bool:
        """Whether the position after it is another than before."""
        return self.ends_chunk or self.end_record > self.first_record

    def part(self, begin: int, end: int) -> "Batch":
        """Some of the events, and the rejects and blank records up to the last of them."""
        first = self.first_record if begin == 0 else int(self.records[begin - 1]) + 1
        if end == len(self) and self.ends_chunk:
            last, names_met, ends_chunk = self.end_record, self.names_met, True
        elif end > begin:
            last, names_met = int(self.records[end - 1]) + 1, int(self.rows.met[end - 1])
            ends_chunk = False
        else:  # nothing at all
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
        some, unknown = slice(begin, end), self.unknown_features
        if unknown:
            unknown = {at - begin: unknown[at] for at in range(begin, end) if at in unknown}
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
            unknown,
            [],
            self.first_record,
            self.end_record,
            self.names_met,
            self.ends_chunk,
            None if self.tickets is None else self.tickets[some],
            self.earlier,
        )

    def head(self, end: int) -> "Batch":
        """The first events, and no record after the last of them."""
        return replace(self, ends_chunk=False).part(0, end)

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Events of one kind in a row: the kind, where they begin and where they end."""
        changes = np.flatnonzero(np.diff(self.kinds)) + 1
        for first, last in pairwise([0, *changes.tolist(), len(self)]):
            if first < last:
                yield int(self.kinds[first]), first, last
