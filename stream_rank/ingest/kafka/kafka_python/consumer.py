"""Messages by kafka-python."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka import errors as kafka
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.structs import OffsetAndMetadata

from stream_rank.errors import FatalKafkaError
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python.client_settings import PATIENCE_MS, translated
from stream_rank.ingest.kafka.kafka_python.startup import opened
from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    ResolveOffsets,
    Subscription,
)

__all__ = ["KafkaPythonConsumer"]

_MOST_RECORDS = 8_192
"""Of a poll: enough that what a poll costs is shared, few enough to learn within some hundredths of a second."""
_LEAST_WAIT = 0.1
"""Seconds that a poll waits for messages at a time, if it may wait that long."""
_LOOK = 5.0
"""Seconds between two looks for the topics, while nothing of them is ours."""
_JOIN, _RARER = 10.0, 10.0
"""Seconds without a partition before the group is joined anew, and by how much longer each time: a member that stands by
for others has none, and must not disturb them."""


def _ours(partition: Any) -> Partition:
    return Partition(partition.topic, partition.partition)


def _theirs(partition: Partition) -> Any:
    return TopicPartition(partition.topic, partition.number)


def _wait_for_messages(coordinator: Any) -> None:
    """Have a client wait for messages though a heartbeat is due.

    By itself it waits until one is due and no longer, though another thread sends it. While a broker holds the connection and
    answers nothing, one is due all the time: the client then looks without a pause whether something came, and every look adds
    to what the request under way has to tell when it ends, megabytes in a second.
    """
    due = coordinator.time_to_next_poll
    coordinator.time_to_next_poll = lambda: max(_LEAST_WAIT, due())


def _join_to_the_end(coordinator: Any) -> None:
    """Have a client finish a join that it began.

    A poll may end before the group has answered. A leader that joins because partitions were added has by then noted
    them as given out, and sees nothing more to do: by itself it would not look at the answer, nor send another heartbeat,
    and be without partitions for ever.
    """
    needed = coordinator.need_rejoin
    coordinator.need_rejoin = lambda: coordinator.rejoining or needed()


class _Listener(ConsumerRebalanceListener):
    """Runs on the client's thread."""

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
        """The partitions that are ours, with the offset known to read from."""
        with self._lock:
            return frozenset(self._resolved)

    def _open(self) -> Any:
        settings = {
            "group_id": self._subscription.group_id,
            "enable_auto_commit": False,
            "auto_offset_reset": "none",
            "allow_auto_create_topics": False,
            "session_timeout_ms": self._subscription.session_ms,
            "heartbeat_interval_ms": min(3_000, self._subscription.session_ms // 3),
            "request_timeout_ms": max(30_000, self._subscription.session_ms + 5_000),
            "fetch_max_bytes": 16 << 20,
            "isolation_level": "read_committed",
            "connections_max_idle_ms": max(540_000, self._subscription.session_ms + 60_000),
        }
        client = opened(KafkaConsumer, self._connection, **settings)
        coordinator = client._coordinator  # noqa: SLF001 - it has no public name in kafka-python
        _wait_for_messages(coordinator)
        _join_to_the_end(coordinator)
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
        """Partitions came: nothing is fetched before it is resolved where."""
        self.rebalances += bool(partitions)
        self._unresolve(partitions)

    def _unresolve(self, partitions: Any) -> None:
        with self._lock:
            for partition in partitions:
                self._client.seek(partition, 0)  # anything, lest it looks for a committed one
                self._client.pause(partition)
            ours = set(map(_ours, partitions))
            self._fresh |= ours
            self._resolved -= ours
            self._changes += 1

    def revoked(self, partitions: Any) -> None:
        """Partitions went."""
        with self._lock:
            ours = set(map(_ours, partitions))
            self._fresh -= ours
            self._resolved -= ours
            self._changes += 1
            self.rebalances += bool(ours)

    # On the caller's ------------------------------------------------------------------------

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """What has come."""
        with translated(self._connection):
            if self._client is None:
                self._open()
            self._resolve_fresh()
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
        """Have partitions given out anew, where there are some and we have none.

        A leader whose list of partitions is being fetched gives nobody any, and takes what it then knows for what it gave out.
        """
        now = time.monotonic()
        if self._next_join == inf or self._client.assignment():
            self._next_join, self._join_after = now + _JOIN, _JOIN
        elif now > self._next_join and self._subscription.group_id is not None:
            self._join_after *= _RARER
            self._next_join = now + self._join_after
            # enforce_rebalance() is Java's: kafka-python has this, of a part without a public name
            self._client._coordinator.request_rejoin()  # noqa: SLF001 - as above

    def _polled(self, seconds: float) -> dict[Any, list[Any]]:
        """What comes within so many seconds."""
        try:
            found: dict[Any, list[Any]] = self._client.poll(
                int(seconds * 1000), max_records=_MOST_RECORDS
            )
            return found
        except kafka.NoOffsetForPartitionError:
            return {}  # assigned this moment
        except kafka.OffsetOutOfRangeError as error:
            self._unresolve(error.args[0])
            return {}
        except kafka.CorruptRecordError as error:
            raise FatalKafkaError(
                f"kafka-python cannot read a message at {self._connection.described}: {error}. "
                "client = confluent may, or it has to be deleted"
            ) from error

    def reached(self) -> Mapping[Partition, int]:
        """How far everything was given out, which behind a poll that gave nothing is where the client is."""
        found = {}
        with self._lock:
            for partition in self._resolved - self._fresh:
                with suppress(kafka.KafkaError, KeyError, AttributeError):
                    # position() asks the broker where it does not know, and that may take a minute
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
        """The end of every assigned partition as last heard of."""
        found = {}
        for partition in self.assignment:
            with suppress(kafka.IllegalStateError, KeyError):  # gone since
                end = self._client.highwater(_theirs(partition))
                if end is not None:
                    found[partition] = int(end)
        return found

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Tell the group how far we are, unless it is being told."""
        if self._client is None or self._subscription.group_id is None or not positions:
            return
        if self._committing is not None and not self._committing.is_done:
            return
        offsets = {_theirs(p): OffsetAndMetadata(offset, "", -1) for p, offset in positions.items()}
        with suppress(kafka.KafkaError):
            self._committing = self._client.commit_async(offsets)

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """What was told to the group."""
        with translated(self._connection):
            client = self._client or self._open()
            known = {p: client.committed(_theirs(p), timeout_ms=PATIENCE_MS) for p in partitions}
        return {partition: offset for partition, offset in known.items() if offset is not None}

    def close(self, seconds: float) -> None:
        """Leave the group."""
        if self._client is not None:  # its own time-out is not kept to where nobody answers
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
