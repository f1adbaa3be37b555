"""The source of Kafka topics; it alone decides from which offset each partition is read."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, Literal

from stream_rank.errors import LostOffsetsError, RecoverableError, RetriableKafkaError
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.chunk import Records, as_records
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import (
    SESSION_TIMEOUT_SECONDS,
    Consumer,
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    ResolveOffsets,
)
from stream_rank.ingest.kafka.portions import Run, portions, values_of
from stream_rank.ingest.kafka.quarantine import Passed, Quarantine, Skip
from stream_rank.ingest.kafka.whole_topics import WholeTopics
from stream_rank.ingest.message import Headers, Values

__all__ = ["TopicSource"]

_POLL_SECONDS = 0.05
"""Seconds that a poll waits: short, so that a slow stream has low latency and the caller regains control often."""
_CHUNK_BYTES = 4 << 20
"""Bytes of a chunk, which is learned while the next is fetched: for smaller ones, the cost of the hand-over exceeds the gain of a
cache."""
_CHUNK_BYTES_OTHERWISE = _CHUNK_BYTES >> 4
"""Of values that are not JSON, which is longer: it has the names of all fields in every event."""
_FIRST_MESSAGES = 64
"""Messages of the first chunk. Events with new features take the slow decoder, and in the first chunk all features are new: so
it is small."""
_BACKOFF_STEP_SECONDS = 0.05

Policy = Literal["fail", "earliest", "latest"]


class TopicSource:
    """The assigned partitions of some topics.

    Across rebalances, every message is yielded once and in its partition's order: redelivered messages are skipped, and
    reading resumes from the offsets kept here, never from committed offsets.
    """

    def __init__(
        self,
        topics: Sequence[str],
        consumer: Callable[[ResolveOffsets], Consumer],
        backoff: Backoff,
        start: Literal["earliest", "latest"] = "earliest",
        on_lost_offsets: Policy = "fail",
        say: Callable[[str], object] = lambda _: None,
        skips: Sequence[Skip] = (),
        values: Values | None = None,
        values_backoff: Backoff | None = None,
        session_seconds: float = SESSION_TIMEOUT_SECONDS,
    ) -> None:
        """`skips` are messages that are passed over. `values` read what is not JSON; while what they need is away,
        `values_backoff` says how long to wait."""
        self.name, self._topics = ", ".join(topics), topics
        self._reported_missing: list[str] = []
        self._start, self._on_lost_offsets, self._say = start, on_lost_offsets, say
        self._backoff, self._values = backoff, values
        self._values_backoff = values_backoff or backoff
        self._chunk_bytes = _CHUNK_BYTES if values is None else _CHUNK_BYTES_OTHERWISE
        self._next: dict[Partition, int] = {}
        self._passed: dict[tuple[Partition, str], Passed] = {}
        self._ids: dict[Partition, str] = {}
        self._quarantine = Quarantine(skips, say)
        self._resolved = False
        self.assignments = 0
        """How often partitions were assigned and their offsets resolved."""
        self.again = 0
        """Redelivered messages, which were skipped."""
        self._consumer = consumer(self._resolve_offsets)
        self._whole = WholeTopics(topics, self._consumer.partition_counts, session_seconds, say)

    # Where to read --------------------------------------------------------------------------

    def _resolve_offsets(self, bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        """The offsets to read newly assigned partitions from."""
        begun = {
            partition.topic for partition in self._next
        }  # partitions added to these are read from their beginning
        ids = self._consumer.topic_ids(sorted({partition.topic for partition in bounds}))
        for partition, (first, end) in bounds.items():
            known, topic_id = self._next.get(partition), ids.get(partition.topic)
            anew = topic_id is not None and self._ids.get(partition, topic_id) != topic_id
            if known is None:
                late = self._start == "latest" and partition.topic not in begun
                self._next[partition] = end if late else first
            elif anew or not first <= known <= end:
                self._next[partition] = self._offset_after_loss(
                    partition, known, OffsetRange(first, end), anew
                )
            if anew:  # what was passed over was in the topic before
                self._passed = {at: it for at, it in self._passed.items() if at[0] != partition}
            if topic_id is not None:
                self._ids[partition] = topic_id
            passed = [skip for where, skip in self._passed if where == partition]
            self._quarantine.warn(partition, self._next[partition], passed)
        self._resolved = True
        self.assignments += 1
        self._report_missing_topics()
        return {partition: self._next[partition] for partition in bounds}

    def _report_missing_topics(self) -> None:
        missing = [topic for topic in self._topics if topic not in {p.topic for p in self._next}]
        if missing and missing != self._reported_missing:
            self._say(
                f"no partition of {', '.join(missing)} is assigned to us: does the topic exist?"
            )
        self._reported_missing = missing

    def _offset_after_loss(
        self, partition: Partition, known: int, bounds: OffsetRange, anew: bool
    ) -> int:
        """The offset to continue from when a partition no longer has the next one; `anew` if its topic has another id."""
        gone = (
            f"{partition} has offsets {bounds.first:,} to {bounds.end:,}, and {known:,} is next: "
            + (
                "its retention was too short"
                if known < bounds.first and not anew
                else "it was deleted and created again"
            )
        )
        if self._on_lost_offsets == "fail":
            raise LostOffsetsError(
                f"{gone}. Set `on_lost_offsets` to earliest or latest to skip the missing messages, or choose another `out` and `group_id`"
            )
        offset = bounds.first if self._on_lost_offsets == "earliest" else bounds.end
        self._say(
            f"{gone}; continuing at {offset:,}, since `on_lost_offsets` = {self._on_lost_offsets}"
        )
        return offset

    # Messages -------------------------------------------------------------------------------

    def chunks(self, position: Offsets | None) -> Iterator[Records | None]:
        """Messages from a position on, without end."""
        self._next = {} if position is None else dict(position)
        self._passed = {} if position is None else dict(position.passed)
        self._ids = {} if position is None else dict(position.topic_ids)
        begun = position is not None
        while True:
            try:
                fetched = self._consumer.poll(_POLL_SECONDS)
            except RetriableKafkaError as error:
                yield from _wait(self._backoff.failed(str(error)))
                continue
            if fetched or self._consumer.assignment:
                self._backoff.succeeded()
            self._whole.look(self._consumer.assignment)
            if self._resolved:  # an empty chunk records the new offsets, even before any message
                self._resolved = False
                yield self._records([])
            fresh = [run for part in fetched for run in self._quarantine.split(self._fresh(part))]
            if not fresh:
                yield self._records([]) if self._advance_past_gaps() else None
                continue
            if not begun and isinstance(first := fresh[0], PartitionRecords):
                begun = True
                yield from self._once_readable([first.part(0, _FIRST_MESSAGES)])
                rest = first.part(_FIRST_MESSAGES, len(first.offsets))
                fresh[:1] = [rest] if rest.offsets else []
            for some in portions(fresh, self._chunk_bytes):
                yield from self._once_readable(some)

    def _once_readable(self, runs: list[Run]) -> Iterator[Records | None]:
        """Messages, once what it takes to read them is here."""
        chunk = self._records(runs)
        while self._values is not None:
            try:
                self._values.prepare(value for run in runs for value in values_of(run) if value)
            except RecoverableError as error:
                yield from _wait(self._values_backoff.failed(str(error)))
            else:
                self._values_backoff.succeeded()
                break
        yield chunk

    def _fresh(self, part: PartitionRecords) -> PartitionRecords:
        """The messages that were not yielded before."""
        expected = self._next.get(part.partition, 0)
        if part.offsets and part.offsets[0] < expected:
            rest = part.since(expected)
            self.again += len(part.offsets) - len(rest.offsets)
            part = rest
        if None in part.values:
            return replace(part, values=[value or b"" for value in part.values])
        return part

    def _advance_past_gaps(self) -> bool:
        """Advance the offsets past gaps (compaction, transaction markers); returns whether there were any."""
        reached = self._consumer.reached()
        passed = {p: at for p, at in reached.items() if at > self._next.get(p, at)}
        self._next.update(passed)
        return bool(passed)

    def _records(self, runs: list[Run]) -> Records:
        before = Offsets(self._next, self._passed, self._ids)
        values: list[Any] = list(chain.from_iterable(map(values_of, runs)))
        begins = [0, *accumulate(len(values_of(run)) for run in runs)]

        def position_after(done: int) -> Offsets:
            found, passed = dict(before), dict(before.passed)
            for begin, run in zip(begins, runs, strict=False):
                if isinstance(run, Passed):
                    if begin <= done:
                        place = run.partition, run.skip
                        found[run.partition] = run.last + 1
                        passed[place] = run.after(passed.get(place))
                elif begin < done:
                    last = min(done - begin, len(run.offsets)) - 1
                    found[run.partition] = run.offsets[last] + 1
            return Offsets(found, passed, before.topic_ids)

        after = position_after(len(values))
        self._next, self._passed = dict(after), dict(after.passed)

        def place_of(record: int) -> str:
            partition, offset, _ = origin_of(record)
            return f"{partition}@{offset}"

        def origin_of(record: int) -> tuple[Partition, int, ConsumerRecord]:
            number = bisect_right(begins, record) - 1  # the last to begin there: others are empty
            part, place = runs[number], record - begins[number]
            assert isinstance(part, PartitionRecords)
            return part.partition, part.offsets[place], part.whole(place)

        def headers_of(record: int) -> Headers:
            return origin_of(record)[2].headers

        def json_of(record: int) -> bytes:
            assert self._values is not None
            return self._values.json(values[record])

        read = None if self._values is None else json_of
        return as_records(values, position_after, place_of, False, origin_of, headers_of, read)

    # Status ---------------------------------------------------------------------------------

    @property
    def fetched(self) -> bool:
        """Whether every assigned partition was fetched from: its end is known, though there may be nothing in it."""
        return self._consumer.ends().keys() >= self._consumer.assignment

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions."""
        return self._consumer.assignment

    @property
    def silence(self) -> float:
        """Seconds since a broker last answered."""
        return self._consumer.silence

    @property
    def missing(self) -> int:
        """Partitions that other members of the group have had for longer than the session timeout."""
        return self._whole.missing

    @property
    def passed(self) -> int:
        """Messages that were passed over, since the setting `skip` names them."""
        return self._quarantine.passed

    @property
    def rebalances(self) -> int:
        """How often partitions were assigned or revoked."""
        return self._consumer.rebalances

    def lag(self, position: Offsets | None) -> dict[Partition, int]:
        """The lag of every assigned partition after a position, from the last known end offsets."""
        known: Mapping[Partition, int] = position or {}
        ends = self._consumer.ends()
        return {p: max(0, end - known[p]) for p, end in sorted(ends.items()) if p in known}

    def commit(self, position: Offsets | None) -> None:
        """Commit a position to the group, for monitoring only."""
        mine = self._consumer.assignment
        offsets: Mapping[Partition, int] = position or {}
        self._consumer.commit({p: offset for p, offset in offsets.items() if p in mine})

    def position_from(self, stored: Any) -> Offsets:
        """The offsets stored in a snapshot."""
        return Offsets.from_json(stored)

    def progress(self, position: Offsets | None) -> float | None:
        """None: there is no end."""
        return None

    def close(self, seconds: float) -> None:
        """Leave the group."""
        self._consumer.close(seconds)


def _wait(seconds: float) -> Iterator[None]:
    """Let the caller do other things in between."""
    until = time.monotonic() + seconds
    yield None
    while time.monotonic() < until:
        time.sleep(_BACKOFF_STEP_SECONDS)
        yield None
