"""The port to Kafka: the protocols and types that both client libraries are adapted to."""

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from stream_rank.ingest.message import Headers

__all__ = [
    *(
        "LINGER_MS",
        "SESSION_TIMEOUT_SECONDS",
        "LONGEST_SILENCE_SECONDS",
        "OffsetRange",
        "Consumer",
        "ConsumerRecord",
        "Subscription",
    ),
    *(
        "Partition",
        "ResolveOffsets",
        "ProducerRecord",
        "Producer",
        "PartitionRecords",
        "topic_id",
        "Transactions",
        "TRANSACTION_SECONDS",
    ),
]


class Partition(NamedTuple):
    """One partition of a topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.number}]"


class OffsetRange(NamedTuple):
    """The log start offset of a partition, and its end offset."""

    first: int
    end: int


class ConsumerRecord(NamedTuple):
    """A consumed message with key, headers and timestamp."""

    value: bytes | None
    key: bytes | None
    headers: Headers
    timestamp: int
    """Milliseconds since 1970; -1 if it has none."""


class ProducerRecord(NamedTuple):
    """A message to send; without a partition, the hash of its key chooses one, or chance if it has no key."""

    topic: str
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionRecords:
    """Messages of one partition in offset order. Offsets may have gaps (compaction, transactions)."""

    partition: Partition
    offsets: list[int]
    values: list[bytes | None]
    whole: Callable[[int], ConsumerRecord]
    """Message i with its key, headers and timestamp."""

    def since(self, offset: int) -> "PartitionRecords":
        """The messages from an offset on."""
        skip = next((i for i, each in enumerate(self.offsets) if each >= offset), len(self.offsets))
        return self.part(skip, len(self.offsets)) if skip else self

    def part(self, begin: int, end: int) -> "PartitionRecords":
        """Some of the messages."""
        whole = self.whole
        return PartitionRecords(
            self.partition,
            self.offsets[begin:end],
            self.values[begin:end],
            lambda i: whole(begin + i),
        )


ResolveOffsets = Callable[[Mapping[Partition, OffsetRange]], Mapping[Partition, int]]
"""From assigned partitions with their offset ranges to the offset to read each from."""


TRANSACTION_SECONDS = 30.0
"""Seconds that a transaction may take: readers of a topic wait for one that was left undecided."""
SESSION_TIMEOUT_SECONDS = 45.0
"""The default of Kafka's Java client."""


LONGEST_SILENCE_SECONDS = 15.0
"""Seconds without an answer after which Kafka counts as unreachable: longer than any silence while all is well."""


LINGER_MS = 2
"""Milliseconds that a producer waits for more messages to send together: whoever asked for a prediction waits for it."""


def topic_id(content: bytes) -> str | None:
    """The 16 bytes of a topic's id as Kafka's own tools write them; None for that of brokers that have none.

    >>> topic_id(bytes(15) + bytes([7])), topic_id(bytes(16))
    ('AAAAAAAAAAAAAAAAAAAABw', None)
    """
    return base64.urlsafe_b64encode(content).decode().rstrip("=") if any(content) else None


class Subscription(NamedTuple):
    """Topics, and the consumer group; without a group, the consumer reads all partitions itself."""

    topics: Sequence[str]
    group_id: str | None = None
    session_timeout_seconds: float = SESSION_TIMEOUT_SECONDS
    """The group reassigns the partitions after this long without a heartbeat."""
    protocol: str = "classic"
    """The group protocol: `classic`, or `consumer` (KIP-848)."""
    read_ahead_bytes: int = 64 << 20
    """The client fetches about so much before it is asked for."""

    @property
    def session_ms(self) -> int:
        """The session timeout in milliseconds, as clients take it."""
        return int(self.session_timeout_seconds * 1000)


class Consumer(Protocol):
    """Reads as a member of a group, or without one.

    The caller owns the positions: after every assignment, `poll` calls `resolve_offsets` (on the caller's thread) for the
    offsets to read from, and returns only messages from there on. A `RetriableKafkaError` is transient: poll again later. A
    `FatalKafkaError` is not.
    """

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions whose offsets are resolved."""

    @property
    def rebalances(self) -> int:
        """How often partitions were assigned or revoked."""

    @property
    def silence(self) -> float:
        """Seconds since a broker last answered anything, or since the consumer was made; any thread may ask."""

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """New messages; an empty list if none arrive within `seconds`."""

    def pause(self, partitions: Collection[Partition]) -> None:
        """Fetch no more of these partitions, until they are assigned or resolved again; what was fetched before may still come."""

    def reached(self) -> Mapping[Partition, int]:
        """The offset up to which all messages were returned, past transaction markers and compacted messages, for the partitions
        where it is known."""

    def ends(self) -> Mapping[Partition, int]:
        """The last known end offset of every assigned partition, as brokers said within some seconds; it does not wait for them."""

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """The ids that these topics have now; those are left out that brokers say none of, or that are missing.

        A topic that is made anew while it is read has its offsets resolved again.
        """

    def partition_counts(self, topics: Sequence[str]) -> Mapping[str, int]:
        """How many partitions these topics have now, whoever reads them; those are left out that are missing."""

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Commit offsets asynchronously; failures are ignored, since committed offsets are only for monitoring."""

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The committed offsets, of the partitions that have one."""

    def close(self, seconds: float) -> None:
        """Leave the group, so that it rebalances before the session timeout."""


class Producer(Protocol):
    """Sends messages, those of one partition in order, except when some are refused for their size."""

    @property
    def waiting(self) -> int:
        """Messages that were accepted by `send` and are not acknowledged yet."""

    def send(self, message: ProducerRecord) -> None:
        """Accept a message, to be sent before `flush` returns. On a `RetriableKafkaError` it was not accepted."""

    def push(self) -> None:
        """Put what was accepted on its way, without waiting for acknowledgements: it leaves within some milliseconds if a broker
        is reachable. What fails is left to `flush`."""

    def flush(self, seconds: float) -> None:
        """Wait until all messages are acknowledged; raises `RetriableKafkaError` after `seconds`, and may be called again."""

    def close(self) -> None:
        """Close the producer; messages that were not flushed are dropped."""


class Transactions(Protocol):
    """Sends messages so that all of them are there, or none: for readers who read what is committed alone."""

    def begin(self) -> None:
        """Before the first `send`, and after one that failed: decide what an earlier user of the same id left undecided, this or
        another process; from then on it is known what was sent. Whoever still uses the id gets errors."""

    def send(self, messages: Sequence[ProducerRecord]) -> None:
        """Send all or none. After an error nobody knows which, until `begin`; a `RefusedMessagesError` is none."""

    def close(self) -> None:
        """Close the client."""
