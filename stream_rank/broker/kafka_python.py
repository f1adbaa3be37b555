"""The port, fitted to kafka-python.

What its documentation does not say, and what follows (seen with 3.0.12 on a 4.3.1 broker):

- Rebalance listeners run on the client's own thread, where `commit` and questions to brokers raise; `seek` and `pause`
  work. So a partition that is assigned is paused there, and placed by the thread that polls.
- A deserializer that raises makes later polls spin: there is none.
- `poll` says nothing of brokers that are down: it gives nothing, and the client logs.
"""

import logging
import ssl
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka import errors as kafka
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.structs import OffsetAndMetadata

from stream_rank.broker.connection import Connection
from stream_rank.broker.kafka_python_watch import Watch
from stream_rank.broker.port import Bounds, Incoming, Message, Partition, Place, Slice
from stream_rank.errors import BrokerError, BrokerTrouble, TooLargeError

__all__ = ["KafkaPythonConsumer", "KafkaPythonProducer"]

_PATIENCE_MS = 5_000
"""Of questions to brokers: whoever asks has other things to do too."""
_MOST_RECORDS = 8_192
"""Of a poll: enough that what a poll costs is shared, few enough to learn within some hundredths of a second."""
_SPINS, _REST = 20, 1.0
"""Polls in a row that gave nothing and were busy all the time; and seconds of rest from then on."""
_LOOK = 5.0
"""Seconds between two looks for the topics, while nothing of them is ours."""
_JOIN, _RARER = 10.0, 10.0
"""Seconds without a partition before the group is joined anew, and by how much longer each time: a member that stands by
for others has none, and must not disturb them."""
_METADATA_MS = 10_000
"""New topics and partitions are found within so long."""
_LARGEST_REQUEST = 200_000_000
"""No limit of ours: the broker has one, and knows it."""
_UNSENT, _MOST_UNSENT, _MOST_BYTES = 1_000, 100_000, 1 << 26
"""Messages are handed over so many at a time; so many, and so many bytes of them, wait at most while there is no broker."""
_REFUSALS = (
    kafka.SaslAuthenticationFailedError,
    kafka.UnsupportedSaslMechanismError,
    kafka.IllegalSaslStateError,
    kafka.AuthorizationError,
    kafka.KafkaConfigurationError,
    kafka.UnsupportedCodecError,
    kafka.UnsupportedVersionError,
    kafka.FencedInstanceIdError,
    ssl.SSLError,
)
_TOO_LARGE = (kafka.MessageSizeTooLargeError, kafka.RecordListTooLargeError)
logging.getLogger("kafka").addHandler(logging.NullHandler())


class _Token(AbstractTokenProvider):
    def __init__(self, path: Path) -> None:
        self._path = path

    def token(self) -> str:
        return self._path.read_text().strip()


def _common(connection: Connection) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "bootstrap_servers": list(connection.brokers),
        "bootstrap_timeout_ms": _PATIENCE_MS,
        "security_protocol": connection.protocol,
        "metadata_max_age_ms": _METADATA_MS,
        "client_id": "stream-rank",
        "metrics_enabled": False,
        "reconnect_backoff_max_ms": _PATIENCE_MS,
    }
    if connection.tls:
        paths = {"ssl_cafile": connection.tls_ca, "ssl_certfile": connection.tls_cert}
        paths["ssl_keyfile"] = connection.tls_key
        settings |= {name: str(path) for name, path in paths.items() if path is not None}
    if connection.sasl:
        settings["sasl_mechanism"] = connection.sasl
        if connection.token_file is not None:
            settings["sasl_oauth_token_provider"] = _Token(connection.token_file)
        else:
            settings["sasl_plain_username"] = connection.username
            settings["sasl_plain_password"] = connection.password
    return settings


@contextmanager
def _translated(connection: Connection) -> Iterator[None]:
    """The client's errors as the port's: those that last, and those that pass."""
    try:
        yield
    except _REFUSALS as error:
        raise BrokerError(f"Kafka at {connection.described} refuses: {error}") from error
    except (kafka.KafkaError, OSError) as error:
        cause = error.__cause__ or error.__context__
        if isinstance(cause, _REFUSALS):
            raise BrokerError(f"Kafka at {connection.described} refuses: {cause}") from error
        raise BrokerTrouble(f"Kafka at {connection.described}: {error}") from error


def _ours(partition: Any) -> Partition:
    return Partition(partition.topic, partition.partition)


def _theirs(partition: Partition) -> Any:
    return TopicPartition(partition.topic, partition.number)


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
        self,
        connection: Connection,
        group: str | None,
        topics: Sequence[str],
        place: Place,
        session_seconds: float = 45.0,
    ) -> None:
        self._connection, self._group, self._topics, self._place = connection, group, topics, place
        self._session_ms = int(session_seconds * 1000)
        self._client: Any = None
        self._lock = threading.Lock()
        self._fresh: set[Partition] = set()
        self._placed: set[Partition] = set()
        self._changes = 0
        self._committing: Any = None
        self._spins = 0
        self._next_look = 0.0
        self._next_join, self._join_after = inf, _JOIN
        self._watch = Watch(connection)
        self.rebalances = 0

    @property
    def assignment(self) -> frozenset[Partition]:
        """The partitions that are ours and placed."""
        with self._lock:
            return frozenset(self._placed)

    def _open(self) -> Any:
        settings = {
            **_common(self._connection),
            "group_id": self._group,
            "enable_auto_commit": False,
            "auto_offset_reset": "none",
            "allow_auto_create_topics": False,
            "session_timeout_ms": self._session_ms,
            "heartbeat_interval_ms": min(3_000, self._session_ms // 3),
            "request_timeout_ms": max(30_000, self._session_ms + 5_000),
            "fetch_max_bytes": 16 << 20,
            "isolation_level": "read_committed",
            "connections_max_idle_ms": max(540_000, self._session_ms + 60_000),
        }
        with self._watch:
            client = KafkaConsumer(**settings)
        if self._group is None:
            self._client = client
            parts = [
                TopicPartition(topic, number)
                for topic in self._topics
                for number in self._numbers(topic)
            ]
            client.assign(parts)
            self.assigned(parts)
        else:
            self._client = client  # first: the listener needs it
            client.subscribe(list(self._topics), listener=_Listener(self))
        return client

    def _numbers(self, topic: str) -> list[int]:
        found = self._client.partitions_for_topic(topic)
        if not found:
            raise BrokerTrouble(f"there is no topic {topic!r} at {self._connection.described}")
        return sorted(found)

    # On the client's thread -----------------------------------------------------------------

    def assigned(self, partitions: Any) -> None:
        """Partitions came: nothing is fetched before they are placed."""
        self.rebalances += bool(partitions)
        self._displace(partitions)

    def _displace(self, partitions: Any) -> None:
        with self._lock:
            for partition in partitions:
                self._client.seek(partition, 0)  # anything, lest it looks for a committed one
                self._client.pause(partition)
            ours = set(map(_ours, partitions))
            self._fresh |= ours
            self._placed -= ours
            self._changes += 1

    def revoked(self, partitions: Any) -> None:
        """Partitions went."""
        with self._lock:
            ours = set(map(_ours, partitions))
            self._fresh -= ours
            self._placed -= ours
            self._changes += 1
            self.rebalances += bool(ours)

    # On the caller's ------------------------------------------------------------------------

    def poll(self, seconds: float) -> list[Slice]:
        """What has come."""
        with _translated(self._connection):
            if self._client is None:
                self._open()
            self._place_fresh()
            found = self._polled(seconds)
            if not self._placed and not found and time.monotonic() > self._next_look:
                self._next_look = time.monotonic() + _LOOK
                for topic in self._topics:
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
        elif now > self._next_join and self._group is not None:
            self._join_after *= _RARER
            self._next_join = now + self._join_after
            self._client._coordinator.request_rejoin()

    def _polled(self, seconds: float) -> dict[Any, list[Any]]:
        """What comes within so many seconds.

        Where a broker holds its connection and answers nothing, the client does not wait but spin, and fills its memory by it; so
        whoever polls rests then.
        """
        begun = time.process_time()  # it is the client's own thread that works
        try:
            found: dict[Any, list[Any]] = self._client.poll(
                int(seconds * 1000), max_records=_MOST_RECORDS
            )
        except kafka.NoOffsetForPartitionError:
            return {}  # assigned this moment
        except kafka.OffsetOutOfRangeError as error:
            self._displace(error.args[0])
            return {}
        except kafka.CorruptRecordError as error:
            raise BrokerError(
                f"kafka-python cannot read a message at {self._connection.described}: {error}. "
                "client = confluent may, or it has to be deleted"
            ) from error
        spun = not found and time.process_time() - begun > seconds / 2
        self._spins = self._spins + 1 if spun else 0
        if self._spins >= _SPINS:
            time.sleep(_REST)
        return found

    def reached(self) -> Mapping[Partition, int]:
        """How far everything was given out, which behind a poll that gave nothing is where the client is."""
        found = {}
        with self._lock:
            for partition in self._placed - self._fresh:
                with suppress(kafka.KafkaError, KeyError, AttributeError):
                    known = self._client._subscription.assignment[_theirs(partition)].position
                    found[partition] = int(known.offset)
        return found

    def _place_fresh(self) -> None:
        while True:
            with self._lock:
                fresh, before = sorted(self._fresh), self._changes
            if not fresh:
                return
            theirs = [_theirs(each) for each in fresh]
            first = self._client.beginning_offsets(theirs, timeout_ms=_PATIENCE_MS)
            ends = self._client.end_offsets(theirs, timeout_ms=_PATIENCE_MS)
            positions = self._place(
                {each: Bounds(first[_theirs(each)], ends[_theirs(each)]) for each in fresh}
            )
            with self._lock:
                if self._changes != before:
                    continue
                for partition, offset in positions.items():
                    self._client.seek(_theirs(partition), offset)
                    self._client.resume(_theirs(partition))
                self._placed |= self._fresh
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
        if self._client is None or self._group is None or not positions:
            return
        if self._committing is not None and not self._committing.is_done:
            return
        offsets = {_theirs(p): OffsetAndMetadata(offset, "", -1) for p, offset in positions.items()}
        with suppress(kafka.KafkaError):
            self._committing = self._client.commit_async(offsets)

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """What was told to the group."""
        with _translated(self._connection):
            client = self._client or self._open()
            known = {p: client.committed(_theirs(p), timeout_ms=_PATIENCE_MS) for p in partitions}
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


def _slice(partition: Any, records: list[Any]) -> Slice:
    def whole(i: int) -> Incoming:
        record = records[i]
        return Incoming(record.value, record.key, record.headers, record.timestamp)

    return Slice(
        _ours(partition),
        [record.offset for record in records],
        [record.value for record in records],
        whole,
    )


class KafkaPythonProducer:
    """A `Producer` by kafka-python. Messages wait here for as long as there is no broker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client: Any = None
        self._unsent: deque[Message] = deque()
        self._sent: list[tuple[Message, Any]] = []
        self._bytes = 0

    def send(self, message: Message) -> None:
        """Send it, at some time before `flush` is through."""
        self._unsent.append(message)
        self._bytes += _size(message)
        if len(self._unsent) % _UNSENT == 0 or self._bytes >= _MOST_BYTES:
            full = len(self._unsent) + len(self._sent) >= _MOST_UNSENT or self._bytes >= _MOST_BYTES
            try:
                self._hand_over()
                if full:
                    self.flush(_PATIENCE_MS / 1000)
            except TooLargeError:
                raise
            except BrokerTrouble:
                if full:
                    raise

    def _hand_over(self) -> None:
        with _translated(self._connection):
            if self._client is None:
                self._client = KafkaProducer(
                    **_common(self._connection),
                    acks="all",
                    enable_idempotence=True,
                    linger_ms=10,
                    batch_size=1 << 17,
                    max_request_size=_LARGEST_REQUEST,
                    max_block_ms=_PATIENCE_MS,
                )
            while self._unsent:
                each = self._unsent[0]
                # the client takes no message that is nothing at all
                value = b"" if each.value is None and each.key is None else each.value
                headers = [(name, content or b"") for name, content in each.headers]
                sent = self._client.send(each.topic, value, each.key, headers, each.partition)
                self._sent.append((self._unsent.popleft(), sent))

    def flush(self, seconds: float) -> None:
        """Wait until everything is with the brokers."""
        large = self._flushed(seconds)
        self._bytes = 0
        if large:
            raise TooLargeError(large, "see max.message.bytes of the topic")

    def _flushed(self, seconds: float) -> list[Message]:
        """Send everything; the messages that are too large."""
        if not self._unsent and not self._sent:
            return []
        self._hand_over()
        with _translated(self._connection):
            self._client.flush(timeout=seconds)
        sent, self._sent = self._sent, []
        failed = [(message, future.exception) for message, future in sent if future.failed()]
        if any(isinstance(error, _TOO_LARGE) for _, error in failed):
            self.close()  # it is of no use any more
            messages = [message for message, _ in failed]
            return messages if len(messages) == 1 else self._sort_out(messages, seconds)
        self._unsent.extend(message for message, _ in failed)
        if failed:
            with _translated(self._connection):
                raise failed[0][1]
        return []

    def _sort_out(self, messages: list[Message], seconds: float) -> list[Message]:
        """Send messages of which one is too large, which takes those beside it with it; those that are too large."""
        most = max(map(_size, messages))
        suspects = [message for message in messages if 2 * _size(message) >= most]
        parts = deque([[each] for each in suspects])
        parts.append([message for message in messages if 2 * _size(message) < most])
        large: list[Message] = []
        try:
            while parts:
                self._unsent.extend(parts.popleft())
                large += self._flushed(seconds)
        except BrokerTrouble:
            self._unsent.extend(message for part in (*parts, large) for message in part)
            raise
        return large

    def close(self) -> None:
        """Let go, also of what was not flushed."""
        if self._client is not None:
            with suppress(kafka.KafkaError, OSError):
                self._client.close(timeout=1)
            self._client = None


def _size(message: Message) -> int:
    return len(message.value or b"")
