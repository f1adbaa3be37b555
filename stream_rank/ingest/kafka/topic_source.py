"""Topics as a source: where every partition goes on is known here, and nowhere else."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np

from stream_rank.errors import LostOffsetsError, RetriableKafkaError
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.chunk import Records, as_records
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import (
    Consumer,
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    ResolveOffsets,
)

__all__ = ["TopicSource"]

_MOMENT = 0.05
"""Seconds that are waited for more: a slow stream is learned soon, and whoever runs the loop is asked often."""
_CHUNK_BYTES = 4 << 20
"""Of messages learned at a time: the next are fetched meanwhile, and handing over costs more than what a cache would save."""
_FIRST_MESSAGES = 64
"""Of the first chunk: before the first events nobody knows what features there are, and those that come with new ones are
read the slow way."""
_NAP = 0.05

Policy = Literal["fail", "earliest", "latest"]


class TopicSource:
    """All partitions of some topics that a group gives us.

    Whatever the group does, every message comes once and in its partition's order: what comes again is left out, and
    where a partition goes on is said by us, never by what was committed.
    """

    def __init__(
        self,
        topics: Sequence[str],
        consumer: Callable[[ResolveOffsets], Consumer],
        backoff: Backoff,
        start: Literal["earliest", "latest"] = "earliest",
        on_lost_offsets: Policy = "fail",
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.name, self._topics = ", ".join(topics), topics
        self._told: list[str] = []
        self._start, self._on_lost_offsets, self._say = start, on_lost_offsets, say
        self._backoff = backoff
        self._next: dict[Partition, int] = {}
        self._resolved = False
        self.assignments = 0
        """How often partitions were assigned, and it was resolved where to read them from."""
        self.again = 0
        """Messages that came again, and were left out."""
        self._consumer = consumer(self._resolve_offsets)

    # Where to read --------------------------------------------------------------------------

    def _resolve_offsets(self, bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        """Where to read partitions that were assigned to us."""
        begun = {partition.topic for partition in self._next}  # what is added to these is new
        for partition, (first, end) in bounds.items():
            known = self._next.get(partition)
            if known is None:
                late = self._start == "latest" and partition.topic not in begun
                self._next[partition] = end if late else first
            elif not first <= known <= end:
                self._next[partition] = self._offset_after_loss(
                    partition, known, OffsetRange(first, end)
                )
        self._resolved = True
        self.assignments += 1
        self._tell_of_missing()
        return {partition: self._next[partition] for partition in bounds}

    def _tell_of_missing(self) -> None:
        missing = [topic for topic in self._topics if topic not in {p.topic for p in self._next}]
        if missing and missing != self._told:
            self._say(f"nothing of {', '.join(missing)} is assigned to us: is there such a topic?")
        self._told = missing

    def _offset_after_loss(self, partition: Partition, known: int, bounds: OffsetRange) -> int:
        """Where to go on with a partition that does not have what comes next."""
        gone = (
            f"{partition} has offsets {bounds.first:,} to {bounds.end:,}, and {known:,} comes next: "
            + ("its retention was too short" if known < bounds.first else "it was made anew")
        )
        if self._on_lost_offsets == "fail":
            raise LostOffsetsError(
                f"{gone}. Set `on_lost_offsets` to earliest or latest to go on without what is missing, or take another `out` and `group_id`"
            )
        offset = bounds.first if self._on_lost_offsets == "earliest" else bounds.end
        self._say(
            f"{gone}; going on at {offset:,}, as `on_lost_offsets` = {self._on_lost_offsets} says"
        )
        return offset

    # What comes -----------------------------------------------------------------------------

    def chunks(self, position: Offsets | None) -> Iterator[Records | None]:
        """Messages from a position on; there is no end."""
        self._next = {} if position is None else dict(position)
        begun = position is not None
        while True:
            try:
                fetched = self._consumer.poll(_MOMENT)
            except RetriableKafkaError as error:
                until = time.monotonic() + self._backoff.failed(str(error))
                yield None
                while time.monotonic() < until:
                    time.sleep(_NAP)
                    yield None
                continue
            if fetched or self._consumer.assignment:
                self._backoff.succeeded()
            if self._resolved:  # known from here on, even if nothing comes
                self._resolved = False
                yield self._records([])
            fresh = [each for each in map(self._fresh, fetched) if each.offsets]
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
            rest = part.since(expected)
            self.again += len(part.offsets) - len(rest.offsets)
            part = rest
        if None in part.values:
            return replace(part, values=[value or b"" for value in part.values])
        return part

    def _passed_by(self) -> bool:
        """Note how far everything was given out: offsets without a message are passed too. Whether there were any."""
        reached = self._consumer.reached()
        passed = {p: at for p, at in reached.items() if at > self._next.get(p, at)}
        self._next.update(passed)
        return bool(passed)

    def _records(self, fetched: list[PartitionRecords]) -> Records:
        before = dict(self._next)
        for part in fetched:
            self._next[part.partition] = part.offsets[-1] + 1
        values: list[Any] = list(chain.from_iterable(part.values for part in fetched))
        begins = [0, *accumulate(len(part.offsets) for part in fetched)]

        def position_after(done: int) -> Offsets:
            found = dict(before)
            for begin, part in zip(begins, fetched, strict=False):
                if begin < done:
                    last = min(done - begin, len(part.offsets)) - 1
                    found[part.partition] = part.offsets[last] + 1
            return Offsets(found)

        def place_of(record: int) -> str:
            partition, offset, _ = origin_of(record)
            return f"{partition}@{offset}"

        def origin_of(record: int) -> tuple[Partition, int, ConsumerRecord]:
            number = bisect_right(begins, record) - 1
            part, place = fetched[number], record - begins[number]
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

    def lag(self, position: Offsets | None) -> dict[Partition, int]:
        """How many offsets of every assigned partition come after a position, as far as is known."""
        known: Mapping[Partition, int] = position or {}
        ends = self._consumer.ends()
        return {p: max(0, end - known[p]) for p, end in sorted(ends.items()) if p in known}

    def commit(self, position: Offsets | None) -> None:
        """Tell the group how far we are, for others to see."""
        mine = self._consumer.assignment
        offsets: Mapping[Partition, int] = position or {}
        self._consumer.commit({p: offset for p, offset in offsets.items() if p in mine})

    def position_from(self, stored: Any) -> Offsets:
        """The offsets that a snapshot has."""
        return Offsets.from_json(stored)

    def progress(self, position: Offsets | None) -> float | None:
        """There is no end."""
        return None

    def close(self, seconds: float) -> None:
        """Leave the group."""
        self._consumer.close(seconds)


def _portions(fetched: list[PartitionRecords]) -> Iterator[list[PartitionRecords]]:
    """What was fetched, in chunks of some bytes."""
    size = 0
    some: list[PartitionRecords] = []
    for part in fetched:
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
