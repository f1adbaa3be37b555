"""An in-memory broker for tests; it passes the same contract tests as the Kafka clients."""

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import count

from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    ProducerRecord,
    ResolveOffsets,
)

__all__ = ["MemoryBroker", "MemoryConsumer", "MemoryProducer"]

_POLL_STEP_SECONDS = 0.005


class MemoryBroker:
    """Topics, and groups whose members share partitions evenly."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.topics: dict[str, list[list[ConsumerRecord]]] = {}
        self.ids: dict[str, str] = {}
        self.first: dict[Partition, int] = {}
        self.committed: dict[tuple[str, Partition], int] = {}
        self.members: dict[str, list[MemoryConsumer]] = {}
        self._next = count()

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        with self.lock:
            self.ids[topic] = f"made {next(self._next)}"
            self.topics[topic] = [[] for _ in range(partitions)]
            for members in self.members.values():
                for member in members:
                    member.stale = True

    def drop_before(self, partition: Partition, offset: int) -> None:
        """Delete the messages before an offset, as retention does."""
        self.first[partition] = offset

    def partitions(self, topics: Sequence[str]) -> list[Partition]:
        """All partitions of some topics."""
        return [
            Partition(topic, number)
            for topic in topics
            for number in range(len(self.topics.get(topic, ())))
        ]

    def bounds(self, partition: Partition) -> OffsetRange:
        """The bounds of a partition."""
        log = self.topics[partition.topic][partition.number]
        return OffsetRange(self.first.get(partition, 0), len(log))

    def append(self, message: ProducerRecord) -> None:
        """Append a message to its partition."""
        with self.lock:
            logs = self.topics[message.topic]
            if message.partition is not None:
                number = message.partition
            elif message.key is not None:
                number = sum(message.key) % len(logs)
            else:
                number = next(self._next) % len(logs)
            now = int(time.time() * 1000)
            logs[number].append(ConsumerRecord(message.value, message.key, message.headers, now))

    def share_of(self, member: "MemoryConsumer") -> list[Partition]:
        """The partitions assigned to a member."""
        everything = self.partitions(member.topics)
        if member.group is None:
            return everything
        members = self.members[member.group]
        return everything[members.index(member) :: len(members)]

    def changed(self, group: str) -> None:
        """Have every member of a group rebalance at its next poll."""
        for member in self.members[group]:
            member.stale = True


class MemoryConsumer:
    """A consumer of a `MemoryBroker`."""

    def __init__(
        self,
        broker: MemoryBroker,
        group: str | None,
        topics: Sequence[str],
        resolve_offsets: ResolveOffsets,
    ) -> None:
        self._broker, self._resolve_offsets = broker, resolve_offsets
        self.group, self.topics = group, topics
        self.stale = True
        self.rebalances = 0
        self._positions: dict[Partition, int] = {}
        self._paused: set[Partition] = set()
        if group is not None:
            with broker.lock:
                broker.members.setdefault(group, []).append(self)
                broker.changed(group)

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions."""
        return frozenset(self._positions)

    @property
    def silence(self) -> float:
        """None: the broker is always there."""
        return 0.0

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """New messages."""
        until = time.monotonic() + seconds
        while True:
            with self._broker.lock:
                if self.stale:
                    self._rebalance()
                reading = [each for each in self._positions if each not in self._paused]
                found = [each for each in map(self._read, reading) if each.offsets]
            if found or time.monotonic() >= until:
                return found
            time.sleep(_POLL_STEP_SECONDS)

    def _rebalance(self) -> None:
        mine = self._broker.share_of(self)
        if mine or self._positions:
            self.rebalances += 1
        self._positions, self._paused = {}, set()
        if mine:
            bounds = {partition: self._broker.bounds(partition) for partition in mine}
            self._positions = dict(self._resolve_offsets(bounds))
        self.stale = False

    def _read(self, partition: Partition) -> PartitionRecords:
        begin = self._positions[partition]
        log = self._broker.topics[partition.topic][partition.number]
        messages = log[begin : begin + 500]
        self._positions[partition] = begin + len(messages)
        return PartitionRecords(
            partition,
            list(range(begin, begin + len(messages))),
            [message.value for message in messages],
            messages.__getitem__,
        )

    def pause(self, partitions: Collection[Partition]) -> None:
        """Read no more of these partitions."""
        self._paused |= set(partitions)

    def reached(self) -> Mapping[Partition, int]:
        """The next offset of each partition."""
        return dict(self._positions)

    def ends(self) -> Mapping[Partition, int]:
        """The end offsets of the assigned partitions."""
        return {partition: self._broker.bounds(partition).end for partition in self._positions}

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """The ids of topics."""
        return {topic: self._broker.ids[topic] for topic in topics if topic in self._broker.ids}

    def partition_counts(self, topics: Sequence[str]) -> Mapping[str, int]:
        """How many partitions topics have."""
        known = self._broker.topics
        return {topic: len(known[topic]) for topic in topics if topic in known}

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Commit offsets to the group."""
        if self.group is not None:
            for partition, offset in positions.items():
                self._broker.committed[self.group, partition] = offset

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The committed offsets."""
        known, group = self._broker.committed, self.group
        return {each: known[group, each] for each in partitions if (group, each) in known}  # type: ignore[index]

    def close(self, seconds: float) -> None:
        """Leave the group."""
        with self._broker.lock:
            if self.group is not None and self in self._broker.members[self.group]:
                self._broker.members[self.group].remove(self)
                self._broker.changed(self.group)
        self._positions = {}


class MemoryProducer:
    """A producer for a `MemoryBroker`."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker
        self.waiting = 0

    def send(self, message: ProducerRecord) -> None:
        """Send at once."""
        self._broker.append(message)

    def push(self) -> None:
        """Do nothing: `send` appends at once."""

    def flush(self, seconds: float) -> None:
        """Do nothing: `send` appends at once."""

    def close(self) -> None:
        """Do nothing."""
