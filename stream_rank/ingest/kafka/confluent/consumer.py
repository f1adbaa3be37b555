"""The consumer implemented with confluent-kafka."""

import math
import re
import threading
import time
from collections.abc import Collection, Mapping, Sequence, Set
from contextlib import suppress
from itertools import groupby, repeat
from operator import is_
from typing import Any

import confluent_kafka as client
from confluent_kafka import OFFSET_END, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin._listoffsets import OffsetSpec

from stream_rank.errors import FatalKafkaError, RetriableKafkaError
from stream_rank.ingest.kafka.answers import Answers
from stream_rank.ingest.kafka.confluent.client_settings import (
    LARGEST_REQUEST,
    PATIENCE,
    as_ours,
    settings_of,
    translated,
)
from stream_rank.ingest.kafka.confluent.options import for_consumer, opened
from stream_rank.ingest.kafka.confluent.topic_ids import TopicIds
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.end_offsets import Answer, EndOffsets
from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    OffsetRange,
    Partition,
    PartitionRecords,
    ResolveOffsets,
    Subscription,
)
from stream_rank.ingest.message import Headers

__all__ = ["ConfluentConsumer"]

_TRIES, _RETRY_SECONDS = 20, 0.5
"""Attempts to fetch the offset range of a partition, and seconds between them: librdkafka waits for the callback meanwhile."""
_MOST_RECORDS = 8_192
"""Messages of one poll, as with kafka-python."""
_CONSUME_COUNT = 512
"""Messages of one `consume` call. It holds the GIL while it makes them, a few tenths of a millisecond for so many, in which the
learning thread waits; smaller batches would cost more than they save."""
_STATISTICS_MS = 1_000
"""Milliseconds between two of the client's statistics, which say of each broker how long ago it sent something, ..."""
_RECEIVED = re.compile(r'"rxidle":\s*(\d+)')
"""... in microseconds, or -1 if it did not since it was connected. All of it may be a kilobyte a partition, so it is not parsed."""
# unbound methods: attribute lookup per message would double the cost of the call
_ERROR, _PARTITION = client.Message.error, client.Message.partition
_OFFSET, _VALUE = client.Message.offset, client.Message.value


class ConfluentConsumer:
    """A `Consumer` by confluent-kafka."""

    def __init__(
        self, connection: Connection, subscription: Subscription, resolve_offsets: ResolveOffsets
    ) -> None:
        self._connection, self._subscription, self._resolve_offsets = (
            connection,
            subscription,
            resolve_offsets,
        )
        self._client: Any = None
        self._ids = TopicIds(connection)
        self._answers, self._end_offsets = Answers(), EndOffsets(self._ask_ends)
        self._resolved: set[Partition] = set()
        self._unresolved: set[Partition] = set()
        self._pending: set[Partition] = set()
        """Assigned, but brokers did not say in time from where on there are messages: asked again by every poll."""
        self._reassigned: set[Partition] = set()
        self._reached: dict[Partition, int] = {}
        self._failed: Exception | None = None
        self._next_look = time.monotonic() + 1.0
        self.rebalances = 0

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions whose offsets are resolved."""
        return frozenset(self._resolved)

    @property
    def silence(self) -> float:
        """Seconds since a broker last answered anything."""
        return self._answers.silence

    def _open(self) -> Any:
        settings = {
            **settings_of(self._connection),
            "group.id": self._subscription.group_id or "stream-rank-reader",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "allow.auto.create.topics": False,
            "fetch.wait.max.ms": 100,
            "queued.max.messages.kbytes": max(1, self._subscription.read_ahead_bytes >> 10),
            "fetch.message.max.bytes": min(4 << 20, self._subscription.read_ahead_bytes),
            "fetch.queue.backoff.ms": 1,  # pause when its queue is full; at the default of a second the queue runs empty
            "receive.message.max.bytes": 2 * LARGEST_REQUEST,
            "error_cb": self._on_error,
            "stats_cb": self._on_statistics,
            "statistics.interval.ms": _STATISTICS_MS,
        }
        if self._subscription.group_id is None or self._subscription.protocol == "classic":
            settings["session.timeout.ms"] = self._subscription.session_ms
            settings["heartbeat.interval.ms"] = min(3_000, self._subscription.session_ms // 3)
            settings["max.poll.interval.ms"] = max(300_000, self._subscription.session_ms)
        else:
            settings["group.protocol"] = self._subscription.protocol
        settings |= for_consumer(self._connection.client_settings)
        self._client = opened(client.Consumer, self._connection, settings)
        if self._subscription.group_id is None:
            try:
                found = self._client.list_topics(timeout=PATIENCE)
                parts = [
                    TopicPartition(topic, number)
                    for topic in self._subscription.topics
                    for number in self._numbers(found, topic)
                ]
                self._on_assign(self._client, parts)
            except BaseException:
                self._client.close()
                self._client = None
                raise
        else:
            self._client.subscribe(
                list(self._subscription.topics),
                on_assign=self._on_assign,
                on_revoke=self._on_revoke,
                on_lost=self._on_revoke,
            )
        return self._client

    def _numbers(self, found: Any, topic: str) -> list[int]:
        if topic not in found.topics or not found.topics[topic].partitions:
            raise self._connection.lacks(topic)
        return sorted(found.topics[topic].partitions)

    # Callbacks within poll ------------------------------------------------------------------

    def _on_error(self, error: Any) -> None:
        self._failed = self._failed or as_ours(self._connection, error)

    def _on_statistics(self, text: str) -> None:
        received = map(int, _RECEIVED.findall(text))
        self._answers.heard(min(received, default=math.inf) / 1e6)

    def _on_assign(self, consumer: Any, partitions: list[Any]) -> None:
        self.rebalances += bool(partitions)
        ours = [Partition(each.topic, each.partition) for each in partitions]
        try:
            positions = (
                self._resolve_offsets({each: self._bounds(each) for each in ours}) if ours else {}
            )
        except FatalKafkaError as error:
            self._failed = error
            return
        except RetriableKafkaError as error:
            self._failed = error
            self._pending |= set(ours)
            # librdkafka wants some offset now; what comes from there on is not given on
            positions = dict.fromkeys(ours, OFFSET_END)
        assigned = [TopicPartition(p.topic, p.number, offset) for p, offset in positions.items()]
        if self._incremental:
            consumer.incremental_assign(assigned)
        else:
            consumer.assign(assigned)
        self._resolved |= set(ours) - self._pending
        self._reassigned |= set(ours)
        self._end_offsets.forget()
        for each in ours:
            self._reached.pop(each, None)

    def _on_revoke(self, consumer: Any, partitions: list[Any]) -> None:
        self.rebalances += bool(partitions)
        gone = {Partition(each.topic, each.partition) for each in partitions}
        self._resolved -= gone
        self._pending -= gone
        if self._incremental:
            consumer.incremental_unassign(partitions)
        else:
            consumer.unassign()

    @property
    def _incremental(self) -> bool:
        return self._subscription.group_id is not None and self._subscription.protocol == "consumer"

    def _bounds(self, partition: Partition) -> OffsetRange:
        where = TopicPartition(partition.topic, partition.number)
        for left in reversed(range(_TRIES)):
            try:
                first, end = self._client.get_watermark_offsets(where, timeout=PATIENCE)
                return OffsetRange(first, end)
            except KafkaException as error:
                if not left:
                    raise as_ours(self._connection, error.args[0]) from error
                time.sleep(_RETRY_SECONDS)  # a partition leader may be being elected
        raise AssertionError("the last attempt returns or raises")

    # Called by the user of the port ----------------------------------------------------------------

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """New messages."""
        with translated(self._connection), self._answers.listening():
            consumer = self._client or self._open()
            changed = self._ids.changed()
            self._unresolved |= {each for each in self._resolved if each.topic in changed}
            self._resolve_again()
            self._end_offsets.look(self.assignment)
            found = self._consumed(consumer, seconds)
        if not all(map(is_, map(_ERROR, found), repeat(None))):
            for message in found:
                if message.error() is not None:
                    self._note(message)
            found = [message for message in found if message.error() is None]
        if self._pending:
            found = [message for message in found if _partition_of(message) not in self._pending]
        failed, self._failed = self._failed, None
        if isinstance(failed, FatalKafkaError) or (failed is not None and not found):
            raise failed
        if not found and not self._resolved and time.monotonic() > self._next_look:
            self._next_look = time.monotonic() + PATIENCE
            with translated(self._connection):
                known = consumer.list_topics(timeout=PATIENCE)
            for topic in self._subscription.topics:
                self._numbers(known, topic)
        numbers = list(map(_PARTITION, found))
        first = numbers[0] if numbers else 0
        if len(self._subscription.topics) == 1 and numbers.count(first) == len(numbers):
            return [_slice(found)] if found else []
        runs = groupby(found, lambda message: (message.topic(), message.partition()))
        return [_slice(list(run)) for _, run in runs]

    def _consumed(self, consumer: Any, seconds: float) -> list[Any]:
        """All available messages, or the first that arrive within `seconds`."""
        # one: for more it would wait until they are there or the time is over, and so would whoever asked for a prediction
        found: list[Any] = consumer.consume(1, seconds)
        more = bool(found)
        while more and len(found) < _MOST_RECORDS:
            self._reassigned.clear()
            try:
                some = consumer.consume(_CONSUME_COUNT, 0)
            except (
                KafkaException
            ) as error:  # messages consumed before the error are not redelivered
                self._on_error(error.args[0])
                break
            if (
                self._reassigned
            ):  # but those of a reassigned partition are, from its resolved offset
                found = [each for each in found if _partition_of(each) not in self._reassigned]
            found += some
            more = len(some) == _CONSUME_COUNT
        return found

    def _note(self, message: Any) -> None:
        """Handle an error that was delivered as a message."""
        error = message.error()
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            self._unresolved.add(_partition_of(message))
        elif error.code() == KafkaError._PARTITION_EOF:
            self._reached[_partition_of(message)] = message.offset()
        else:
            self._on_error(error)

    def _resolve_again(self) -> None:
        """Resolve the offsets of partitions that no longer have the offset they were read at, or whose offsets could not be resolved."""
        if not (self._unresolved or self._pending):
            return
        # seek() does not help: librdkafka has stopped fetching them. Without incremental assignment, all must be assigned together.
        again = self._unresolved & self._resolved if self._incremental else self._resolved
        again = again | self._pending
        positions = self._resolve_offsets({each: self._bounds(each) for each in again})
        assigned = [TopicPartition(p.topic, p.number, offset) for p, offset in positions.items()]
        if self._incremental:
            self._client.incremental_unassign(assigned)
            self._client.incremental_assign(assigned)
        else:
            self._client.assign(assigned)
        self._resolved |= self._pending
        self._pending.clear()
        self._unresolved.clear()
        self._reached.clear()
        self._end_offsets.forget()

    def pause(self, partitions: Collection[Partition]) -> None:
        """Fetch no more of these partitions; librdkafka drops what it has fetched of them."""
        for partition in partitions if self._client is not None else ():
            with suppress(KafkaException):  # revoked since
                self._client.pause([TopicPartition(partition.topic, partition.number)])

    def reached(self) -> Mapping[Partition, int]:
        """The offsets up to which all messages were returned, of partitions whose end was reached."""
        return {p: at for p, at in self._reached.items() if p in self._resolved}

    def ends(self) -> Mapping[Partition, int]:
        """The last known end offset of every assigned partition."""
        found: dict[Partition, int] = {}
        consumer = self._client
        for partition in self.assignment if consumer is not None else ():
            where = TopicPartition(partition.topic, partition.number)
            with suppress(KafkaException):
                known = consumer.get_watermark_offsets(where, cached=True)
                if known is not None and known[1] >= 0:
                    found[partition] = int(known[1])
        return self._end_offsets.at_least(found)

    def _ask_ends(self, partitions: Set[Partition]) -> Answer:
        asked = {TopicPartition(p.topic, p.number): OffsetSpec.latest() for p in partitions}  # type: ignore[no-untyped-call]
        told = self._ids.admin.list_offsets(asked, request_timeout=PATIENCE)

        def answer() -> Mapping[Partition, int] | None:
            if not all(each.done() for each in told.values()):
                return None
            found = {}
            for where, each in told.items():
                with suppress(KafkaException):
                    found[Partition(where.topic, where.partition)] = int(each.result(0).offset)
            return found

        return answer

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """The ids that these topics have now."""
        for left in reversed(range(_TRIES)):
            try:
                return self._ids.ask(topics)
            except RetriableKafkaError:
                if not left:
                    raise
                time.sleep(_RETRY_SECONDS)  # within the callback, as for offset ranges
        raise AssertionError("the last attempt returns or raises")

    def partition_counts(self, topics: Sequence[str]) -> Mapping[str, int]:
        """How many partitions these topics have now."""
        with translated(self._connection):
            known = (self._client or self._open()).list_topics(timeout=PATIENCE).topics
        counts = {topic: len(known[topic].partitions) for topic in topics if topic in known}
        return {topic: count for topic, count in counts.items() if count}

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Commit offsets asynchronously."""
        if self._client is None or self._subscription.group_id is None or not positions:
            return
        offsets = [TopicPartition(p.topic, p.number, offset) for p, offset in positions.items()]
        with suppress(KafkaException):
            self._client.commit(offsets=offsets, asynchronous=True)

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The committed offsets."""
        with translated(self._connection):
            consumer = self._client or self._open()
            asked = [TopicPartition(p.topic, p.number) for p in partitions]
            known = consumer.committed(asked, timeout=PATIENCE)
        return {Partition(p.topic, p.partition): p.offset for p in known if p.offset >= 0}

    def close(self, seconds: float) -> None:
        """Leave the group."""
        consumer, self._client = self._client, None
        if consumer is not None:  # close() would wait for a broker that does not respond
            thread = threading.Thread(target=_close, args=(consumer,), daemon=True)
            thread.start()
            thread.join(seconds)


def _close(consumer: Any) -> None:
    with suppress(KafkaException, RuntimeError):
        consumer.close()


def _partition_of(message: Any) -> Partition:
    return Partition(message.topic(), message.partition())


def _headers(message: Any) -> Headers:
    """The headers; none if the name of any is not UTF-8, since the client then fails for all."""
    try:
        return message.headers() or []
    except (SystemError, UnicodeDecodeError):
        return []


def _slice(messages: list[Any]) -> PartitionRecords:
    def whole(i: int) -> ConsumerRecord:
        message = messages[i]
        return ConsumerRecord(
            message.value(), message.key(), _headers(message), message.timestamp()[1]
        )

    return PartitionRecords(
        _partition_of(messages[0]),
        list(map(_OFFSET, messages)),  # type: ignore[arg-type]
        list(map(_VALUE, messages)),
        whole,
    )
