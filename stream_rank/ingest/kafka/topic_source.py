"""Topics as a source: where every partition goes on is known here, and nowhere else."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np

from stream_rank.errors import LostOffsetsError, RetriableKafkaError
from stream_rank.ingest.chunk import Position, Records, as_records
from stream_rank.ingest.kafka.port import (
    Consumer,
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    Place,
)
from stream_rank.runtime.backoff import Trouble

__all__ = ["Topics", "as_position", "partitions_of"]

_MOMENT = 0.05
"""Seconds that are waited for more: a slow stream is learned soon, and whoever runs the loop is asked often."""
_CHUNK_BYTES = 4 << 20
"""Of messages learned at a time: the next are fetched meanwhile, and handing over costs more than what a cache would save."""
_FIRST_MESSAGES = 64
"""Of the first chunk: before the first events nobody knows what features there are, and those that come with new ones are
read the slow way."""
_NAP = 0.05

Policy = Literal["fail", "earliest", "latest"]


def partitions_of(position: Position | None) -> dict[Partition, int]:
    """Offsets by partition, of a position as snapshots have it."""
    return {
        Partition(topic, int(number)): int(offset)
        for topic, numbers in (position or {}).items()
        for number, offset in numbers.items()
    }


def as_position(offsets: Mapping[Partition, int]) -> Position:
    """A position as snapshots have it.

    >>> as_position({Partition("ratings", 0): 17})
    {'ratings': {'0': 17}}
    """
    found: dict[str, dict[str, int]] = {}
    for partition, offset in sorted(offsets.items()):
        found.setdefault(partition.topic, {})[str(partition.number)] = offset
    return found


class Topics:
    """All partitions of some topics that a group gives us.

    Whatever the group does, every message comes once and in its partition's order: what comes again is left out, and
    where a partition goes on is said by us, never by what was committed.
    """

    def __init__(
        self,
        topics: Sequence[str],
        consumer: Callable[[Place], Consumer],
        trouble: Trouble,
        start: Literal["earliest", "latest"] = "earliest",
        lost: Policy = "fail",
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.name, self._topics = ", ".join(topics), topics
        self._told: list[str] = []
        self._start, self._lost, self._say = start, lost, say
        self._trouble = trouble
        self._next: dict[Partition, int] = {}
        self._placed = False
        self.placements = 0
        """How often partitions were placed."""
        self.again = 0
        """Messages that came again, and were left out."""
        self._consumer = consumer(self._place)

    # Where to read --------------------------------------------------------------------------

    def _place(self, bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        """Where to read partitions that were assigned to us."""
        begun = {partition.topic for partition in self._next}  # what is added to these is new
        for partition, (first, end) in bounds.items():
            known = self._next.get(partition)
            if known is None:
                late = self._start == "latest" and partition.topic not in begun
                self._next[partition] = end if late else first
            elif not first <= known <= end:
                self._next[partition] = self._instead(partition, known, OffsetRange(first, end))
        self._placed = True
        self.placements += 1
        self._tell_of_missing()
        return {partition: self._next[partition] for partition in bounds}

    def _tell_of_missing(self) -> None:
        missing = [topic for topic in self._topics if topic not in {p.topic for p in self._next}]
        if missing and missing != self._told:
            self._say(f"nothing of {', '.join(missing)} is assigned to us: is there such a topic?")
        self._told = missing

    def _instead(self, partition: Partition, known: int, bounds: OffsetRange) -> int:
        """Where to go on with a partition that does not have what comes next."""
        gone = (
            f"{partition} has offsets {bounds.first:,} to {bounds.end:,}, and {known:,} comes next: "
            + ("its retention was too short" if known < bounds.first else "it was made anew")
        )
        if self._lost == "fail":
            raise LostOffsetsError(
                f"{gone}. Say `on_lost_offsets` earliest or latest to go on without what is missing, or take another folder and group"
            )
        offset = bounds.first if self._lost == "earliest" else bounds.end
        self._say(f"{gone}; going on at {offset:,}, as on_lost_offsets = {self._lost} says")
        return offset

    # What comes -----------------------------------------------------------------------------

    def chunks(self, position: Position | None) -> Iterator[Records | None]:
        """Messages from a position on; there is no end."""
        self._next = partitions_of(position)
        begun = position is not None
        while True:
            try:
                slices = self._consumer.poll(_MOMENT)
            except RetriableKafkaError as trouble:
                until = time.monotonic() + self._trouble.met(str(trouble))
                yield None
                while time.monotonic() < until:
                    time.sleep(_NAP)
                    yield None
                continue
            if slices or self._consumer.assignment:
                self._trouble.over()
            if self._placed:  # known from here on, even if nothing comes
                self._placed = False
                yield self._records([])
            fresh = [each for each in map(self._fresh, slices) if each.offsets]
            if not fresh:
                yield self._records([]) if self._passed_by() else None
                continue
            if not begun:
                begun = True
                head, rest = (
                    fresh[0].part(0, _FIRST_MESSAGES),
                    fresh[0].part(_FIRST_MESSAGES, len(fresh[0].offsets)),
                )
                yield self._records([head])
                fresh = [rest, *fresh[1:]]
            for some in _portions(fresh):
                yield self._records(some)

    def _fresh(self, part: PartitionRecords) -> PartitionRecords:
        """What did not come before."""
        expected = self._next.get(part.partition, 0)
        if part.offsets and part.offsets[0] < expected:
            rest = part.behind(expected)
            self.again += len(part.offsets) - len(rest.offsets)
            part = rest
        if None in part.values:
            return replace(part, values=[value or b"" for value in part.values])
        return part

    def _passed_by(self) -> bool:
        """Note how far everything was given out: offsets without a message are behind us too. Whether there were any."""
        reached = self._consumer.reached()
        passed = {p: at for p, at in reached.items() if at > self._next.get(p, at)}
        self._next.update(passed)
        return bool(passed)

    def _records(self, slices: list[PartitionRecords]) -> Records:
        before = dict(self._next)
        for part in slices:
            self._next[part.partition] = part.offsets[-1] + 1
        values: list[Any] = list(chain.from_iterable(part.values for part in slices))
        begins = [0, *accumulate(len(part.offsets) for part in slices)]

        def position_after(done: int) -> Position:
            found = dict(before)
            for begin, part in zip(begins, slices, strict=False):
                if begin < done:
                    last = min(done - begin, len(part.offsets)) - 1
                    found[part.partition] = part.offsets[last] + 1
            return as_position(found)

        def place_of(record: int) -> str:
            partition, offset, _ = origin_of(record)
            return f"{partition}@{offset}"

        def origin_of(record: int) -> tuple[Partition, int, ConsumerRecord]:
            number = bisect_right(begins, record) - 1
            part, place = slices[number], record - begins[number]
            return part.partition, part.offsets[place], part.whole(place)

        return as_records(values, position_after, place_of, False, origin_of)

    # What others want to know ---------------------------------------------------------------

    @property
    def assignment(self) -> frozenset[Partition]:
        """The partitions that are ours."""
        return self._consumer.assignment

    @property
    def rebalances(self) -> int:
        """How often the group gave or took."""
        return self._consumer.rebalances

    def lag(self, position: Position | None) -> dict[Partition, int]:
        """How many offsets of every assigned partition lie behind a position, as far as is known."""
        known = partitions_of(position)
        ends = self._consumer.ends()
        return {p: max(0, end - known[p]) for p, end in sorted(ends.items()) if p in known}

    def commit(self, position: Position | None) -> None:
        """Tell the group how far we are, for others to see."""
        mine = self._consumer.assignment
        offsets = partitions_of(position)
        self._consumer.commit({p: offset for p, offset in offsets.items() if p in mine})

    def progress(self, position: Position | None) -> float | None:
        """There is no end."""
        return None

    def close(self, seconds: float) -> None:
        """Leave the group."""
        self._consumer.close(seconds)


def _portions(slices: list[PartitionRecords]) -> Iterator[list[PartitionRecords]]:
    """Slices, in chunks of some bytes."""
    size = 0
    some: list[PartitionRecords] = []
    for part in slices:
        lengths: Any = map(len, part.values)  # type: ignore[arg-type]
        ends = np.cumsum(np.fromiter(lengths, np.int64, len(part.values)))
        begin = done = 0
        while begin < len(ends):
            end = int(np.searchsorted(ends, done + _CHUNK_BYTES - size, "right"))
            end = min(len(ends), max(end, begin + 1))
            some.append(part.part(begin, end))
            size += int(ends[end - 1]) - done
            begin, done = end, int(ends[end - 1])
            if size >= _CHUNK_BYTES or begin < len(ends):
                yield some
                size, some = 0, []
    if some:
        yield some
