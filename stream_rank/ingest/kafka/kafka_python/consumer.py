"""The consumer implemented with kafka-python."""

import threading
import time
from collections.abc import Collection, Mapping, Sequence, Set
from contextlib import suppress
from math import inf
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka import errors as kafka
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.structs import OffsetAndMetadata

from stream_rank.errors import FatalKafkaError
from stream_rank.ingest.kafka.answers import Answers
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.end_offsets import Answer, EndOffsets
from stream_rank.ingest.kafka.kafka_python.client_settings import PATIENCE_MS, translated
from stream_rank.ingest.kafka.kafka_python.startup import opened
from stream_rank.ingest.kafka.kafka_python.topic_ids import partition_counts, topic_ids
from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    ResolveOffsets,
    Subscription,
    topic_id,
)

__all__ = ["KafkaPythonConsumer"]

_MOST_RECORDS = 8_192
"""Messages of one poll: enough to share its fixed cost, few enough to learn within some hundredths of a second."""
_LEAST_WAIT = 0.1
"""Seconds that a poll waits for messages at a time, within its timeout."""
_LOOK = 5.0
"""Seconds between two checks that the topics exist, while no partition is assigned."""
_JOIN, _JOIN_FACTOR = 10.0, 10.0
"""Seconds without a partition before the consumer rejoins its group, and the factor by which they grow: a standby member has no
partition either, and must not cause rebalances."""


def _ours(partition: Any) -> Partition:
    return Partition(partition.topic, partition.partition)


def _theirs(partition: Partition) -> Any:
    return TopicPartition(partition.topic, partition.number)


def _wait_for_messages(coordinator: Any) -> None:
    """Patch a client to wait for messages even when a heartbeat is due.

    Unpatched, `poll` waits only until the next heartbeat, which another thread sends. While a broker keeps the connection open
    but does not respond, a heartbeat is always due: `poll` spins, and each round adds a callback to the in-flight request,
    megabytes a second.
    """
    due = coordinator.time_to_next_poll
    coordinator.time_to_next_poll = lambda: max(_LEAST_WAIT, due())


def _finish_pending_join(coordinator: Any) -> None:
    """Patch a client to finish a join that it began.

    A poll may return before the group has responded. A leader that rejoins because partitions were added has by then recorded
    them as assigned, and no longer needs a rejoin: unpatched, it would neither read the response nor send a heartbeat, and
    stay without partitions for ever.
    """
    needed = coordinator.need_rejoin
    coordinator.need_rejoin = lambda: coordinator.rejoining or needed()


class _Listener(ConsumerRebalanceListener):
    """Rebalance callbacks, on the client's thread."""

    def __init__(self, consumer: "KafkaPythonConsumer") -> None:
        self._consumer = consumer

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._consumer.assigned(assigned)

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._consumer.revoked(revoked)


class KafkaPythonConsumer:
    """A `Consumer` by kafka-python."""

    def __init__(
        self, connection: Connection, subscription: Subscription, resolve_offsets: ResolveOffsets
    ) -> None:
        self._connection, self._subscription, self._resolve_offsets = (
            connection,
            subscription,
            resolve_offsets,
        )
        self._client: Any = None
        self._answers, self._end_offsets = Answers(), EndOffsets(self._ask_ends)
        self._ids: dict[str, str] = {}
        self._cached: dict[str, Any] = {}
        """The ids of topics in the client's metadata when they were asked for."""
        self._lock = threading.Lock()
        self._fresh: set[Partition] = set()
        self._resolved: set[Partition] = set()
        self._changes = 0
        self._committing: Any = None
        self._next_look = 0.0
        self._next_join, self._join_after = inf, _JOIN
        self.rebalances = 0

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions whose offsets are resolved."""
        with self._lock:
            return frozenset(self._resolved)

    @property
    def silence(self) -> float:
        """Seconds since a broker last answered anything."""
        return self._answers.silence

    def _open(self) -> Any:
        settings = {
            "group_id": self._subscription.group_id,
            "enable_auto_commit": False,
            "auto_offset_reset": "none",
            "allow_auto_create_topics": False,
            "session_timeout_ms": self._subscription.session_ms,
            "heartbeat_interval_ms": min(3_000, self._subscription.session_ms // 3),
            "request_timeout_ms": max(30_000, self._subscription.session_ms + 5_000),
            "fetch_max_bytes": min(16 << 20, self._subscription.read_ahead_bytes),
            "isolation_level": "read_committed",
            "connections_max_idle_ms": max(540_000, self._subscription.session_ms + 60_000),
        }
        client = opened(KafkaConsumer, self._connection, self._answers.heard, **settings)
        coordinator = client._coordinator  # noqa: SLF001 - it has no public name in kafka-python
        _wait_for_messages(coordinator)
        _finish_pending_join(coordinator)
        self._client = client  # first: the listener needs it
        try:
            if self._subscription.group_id is None:
                self._take_all()
            else:
                client.subscribe(list(self._subscription.topics), listener=_Listener(self))
        except BaseException:
            self._client = None
            client.close(autocommit=False, timeout_ms=PATIENCE_MS)
            raise
        return client

    def _take_all(self) -> None:
        parts = [
            TopicPartition(topic, number)
            for topic in self._subscription.topics
            for number in self._numbers(topic)
        ]
        self._client.assign(parts)
        self.assigned(parts)

    def _numbers(self, topic: str) -> list[int]:
        found = self._client.partitions_for_topic(topic)
        if not found:
            raise self._connection.lacks(topic)
        return sorted(found)

    # On the client's thread -----------------------------------------------------------------

    def assigned(self, partitions: Any) -> None:
        """Partitions were assigned: pause them until their offsets are resolved."""
        self.rebalances += bool(partitions)
        self._unresolve(partitions)

    def _unresolve(self, partitions: Any) -> None:
        with self._lock:
            for partition in partitions:
                self._client.seek(
                    partition, 0
                )  # any offset, so that the client does not fetch the committed one
                self._client.pause(partition)
            ours = set(map(_ours, partitions))
            self._fresh |= ours
            self._resolved -= ours
            self._changes += 1
            self._end_offsets.forget()

    def revoked(self, partitions: Any) -> None:
        """Partitions were revoked."""
        with self._lock:
            ours = set(map(_ours, partitions))
            self._fresh -= ours
            self._resolved -= ours
            self._changes += 1
            self.rebalances += bool(ours)

    # On the caller's thread ------------------------------------------------------------------------

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """New messages."""
        with translated(self._connection):
            if self._client is None:
                self._open()
            self._resolve_changed()
            self._resolve_fresh()
            self._end_offsets.look(self.assignment)
            found = self._polled(seconds)
            if not self._resolved and not found and time.monotonic() > self._next_look:
                self._next_look = time.monotonic() + _LOOK
                for topic in self._subscription.topics:
                    self._numbers(topic)
                self._join_again()
            with self._lock:
                good = {p: records for p, records in found.items() if _ours(p) not in self._fresh}
            return [_slice(partition, records) for partition, records in good.items()]

    def _join_again(self) -> None:
        """Rejoin the group if the topics have partitions and none is assigned.

        A leader whose metadata is still being fetched assigns no partitions, and afterwards takes the fetched metadata for what it
        assigned: it does not rebalance by itself.
        """
        now = time.monotonic()
        if self._next_join == inf or self._client.assignment():
            self._next_join, self._join_after = now + _JOIN, _JOIN
        elif now > self._next_join and self._subscription.group_id is not None:
            self._join_after *= _JOIN_FACTOR
            self._next_join = now + self._join_after
            # kafka-python has no public enforce_rebalance(), as the Java client has
            self._client._coordinator.request_rejoin()  # noqa: SLF001 - as above

    def _polled(self, seconds: float) -> dict[Any, list[Any]]:
        """The messages of one poll of the client."""
        try:
            found: dict[Any, list[Any]] = self._client.poll(
                int(seconds * 1000), max_records=_MOST_RECORDS
            )
            return found
        except kafka.NoOffsetForPartitionError:
            return {}  # assigned during this poll
        except kafka.OffsetOutOfRangeError as error:
            self._unresolve(error.args[0])
            return {}
        except kafka.CorruptRecordError as error:
            raise FatalKafkaError(
                f"kafka-python cannot read a message at {self._connection.described}: {error}. "
                "`client` confluent may read it; otherwise it has to be deleted"
            ) from error

    def pause(self, partitions: Collection[Partition]) -> None:
        """Fetch no more of these partitions."""
        for partition in partitions if self._client is not None else ():
            with suppress(kafka.IllegalStateError):  # revoked since
                self._client.pause(_theirs(partition))

    def reached(self) -> Mapping[Partition, int]:
        """The offsets up to which all messages were returned: the client's positions, after a poll that returned nothing."""
        found = {}
        with self._lock:
            for partition in self._resolved - self._fresh:
                with suppress(kafka.KafkaError, KeyError, AttributeError):
                    # position() may request it from the broker, which can take a minute
                    known = self._client._subscription.assignment[_theirs(partition)].position  # noqa: SLF001 - as above
                    found[partition] = int(known.offset)
        return found

    def _resolve_fresh(self) -> None:
        while True:
            with self._lock:
                fresh, before = sorted(self._fresh), self._changes
            if not fresh:
                return
            theirs = [_theirs(each) for each in fresh]
            first = self._client.beginning_offsets(theirs, timeout_ms=PATIENCE_MS)
            ends = self._client.end_offsets(theirs, timeout_ms=PATIENCE_MS)
            positions = self._resolve_offsets(
                {each: OffsetRange(first[_theirs(each)], ends[_theirs(each)]) for each in fresh}
            )
            with self._lock:
                if self._changes != before:
                    continue
                for partition, offset in positions.items():
                    self._client.seek(_theirs(partition), offset)
                    self._client.resume(_theirs(partition))
                self._resolved |= self._fresh
                self._fresh.clear()

    def ends(self) -> Mapping[Partition, int]:
        """The last known end offset of every assigned partition."""
        found = {}
        for partition in self.assignment:
            with suppress(kafka.IllegalStateError, KeyError):  # revoked since
                end = self._client.highwater(_theirs(partition))
                if end is not None:
                    found[partition] = int(end)
        return self._end_offsets.at_least(found)

    def _ask_ends(self, partitions: Set[Partition]) -> Answer:
        # end_offsets() would wait, and try again until it has all of them
        asked = self._client._fetcher._send_list_offsets_requests  # noqa: SLF001 - as above
        future = self._client._manager.call_soon(asked, {_theirs(each): -1 for each in partitions})  # noqa: SLF001 - as above

        def answer() -> Mapping[Partition, int] | None:
            if not future.is_done:
                return None
            ends = {} if future.failed() else future.value[0]
            return {_ours(each): int(end.offset) for each, end in ends.items()}

        return answer

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """The ids that these topics have now."""
        with translated(self._connection):
            found = topic_ids((self._client or self._open())._manager, topics)  # noqa: SLF001 - as above
        cluster = self._client._cluster  # noqa: SLF001 - as above
        self._ids |= found
        self._cached |= {topic: cluster.topic_id(topic) for topic in found}
        return found

    def partition_counts(self, topics: Sequence[str]) -> Mapping[str, int]:
        """How many partitions these topics have now."""
        with translated(self._connection):
            return partition_counts((self._client or self._open())._manager, topics)  # noqa: SLF001 - as above

    def _resolve_changed(self) -> None:
        """Have the offsets resolved of topics that the client's metadata has under another id."""
        cluster = self._client._cluster  # noqa: SLF001 - as above
        changed = set()
        for topic, before in self._ids.items():
            now = cluster.topic_id(topic)
            # the metadata may be older than what was asked for since
            if now not in (None, self._cached[topic]) and topic_id(now.bytes) != before:
                changed.add(topic)
        if changed:
            self._unresolve([p for p in map(_theirs, self.assignment) if p.topic in changed])

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Commit offsets, unless a commit is in flight."""
        if self._client is None or self._subscription.group_id is None or not positions:
            return
        if self._committing is not None and not self._committing.is_done:
            return
        offsets = {_theirs(p): OffsetAndMetadata(offset, "", -1) for p, offset in positions.items()}
        with suppress(kafka.KafkaError):
            self._committing = self._client.commit_async(offsets)

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The committed offsets."""
        with translated(self._connection):
            client = self._client or self._open()
            known = {p: client.committed(_theirs(p), timeout_ms=PATIENCE_MS) for p in partitions}
        return {partition: offset for partition, offset in known.items() if offset is not None}

    def close(self, seconds: float) -> None:
        """Leave the group."""
        if self._client is not None:  # its own timeout does not hold when no broker responds
            thread = threading.Thread(target=self._close, args=(seconds,), daemon=True)
            thread.start()
            thread.join(seconds)

    def _close(self, seconds: float) -> None:
        with suppress(kafka.KafkaError, OSError):
            if self._committing is not None and not self._committing.is_done:
                self._client.poll(int(min(seconds / 2, 1.0) * 1000), max_records=1)
            self._client.close(autocommit=False, timeout_ms=int(seconds * 500))


def _slice(partition: Any, records: list[Any]) -> PartitionRecords:
    def whole(i: int) -> ConsumerRecord:
        record = records[i]
        return ConsumerRecord(record.value, record.key, record.headers, record.timestamp)

    return PartitionRecords(
        _ours(partition),
        [record.offset for record in records],
        [record.value for record in records],
        whole,
    )
