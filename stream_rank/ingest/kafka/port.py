"""What stream-rank needs of Kafka: the port that every client is fitted to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = [
    *("SESSION_TIMEOUT_SECONDS", "OffsetRange", "Consumer", "ConsumerRecord", "Subscription"),
    *("Partition", "ResolveOffsets", "ProducerRecord", "Producer", "PartitionRecords"),
]

Headers = Sequence[tuple[str, bytes | None]]


class Partition(NamedTuple):
    """One partition of a topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.number}]"


class OffsetRange(NamedTuple):
    """The first offset that a partition still has, and the next that it will give out."""

    first: int
    end: int


class ConsumerRecord(NamedTuple):
    """A message as it came, whole."""

    value: bytes | None
    key: bytes | None
    headers: Headers
    timestamp: int
    """Milliseconds since 1970; -1 if it has none."""


class ProducerRecord(NamedTuple):
    """A message to send; without a partition, its key tells which, or chance does."""

    topic: str
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionRecords:
    """Messages of one partition in their order. Offsets may leave some out (compaction, transactions)."""

    partition: Partition
    offsets: list[int]
    values: list[bytes | None]
    whole: Callable[[int], ConsumerRecord]
    """Message i, with all that came with it."""

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
"""Told which partitions were assigned, and their bounds; says where to read each from."""


SESSION_TIMEOUT_SECONDS = 45.0
"""As Kafka's own clients have it."""


class Subscription(NamedTuple):
    """Who reads what: a member of a group, or, without one, somebody alone who reads all partitions."""

    topics: Sequence[str]
    group_id: str | None = None
    session_timeout_seconds: float = SESSION_TIMEOUT_SECONDS
    """The group gives its partitions away when it is not heard of for so long."""
    protocol: str = "classic"
    """Of groups: `classic`, or `consumer`."""

    @property
    def session_ms(self) -> int:
        """As clients want it."""
        return int(self.session_timeout_seconds * 1000)


class Consumer(Protocol):
    """Reads as a member of a group, or alone.

    Whoever calls owns the positions: whenever partitions are assigned, `resolve_offsets` is asked (within `poll`, on its
    caller's thread) where to read them from, and only what follows is given out. Errors that pass by
    themselves are a `BrokerTrouble`: poll again, later. A `BrokerError` is for good.
    """

    @property
    def assignment(self) -> frozenset[Partition]:
        """The partitions that are ours, with the offset known to read from."""

    @property
    def rebalances(self) -> int:
        """How often the group gave partitions to us, or took them."""

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """What has come; nothing after so many seconds."""

    def reached(self) -> Mapping[Partition, int]:
        """The offset up to which everything was given out, behind transactions' markers and what was compacted away, as far as
        it is known."""

    def ends(self) -> Mapping[Partition, int]:
        """The end of every assigned partition as last heard of, without asking anybody."""

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Tell the group how far we are. It does not wait, and may fail without a word: it is for others to look at."""

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """What was told to the group, of the partitions of which something was."""

    def close(self, seconds: float) -> None:
        """Leave the group, so that others need not wait for us to be missed."""


class Producer(Protocol):
    """Sends messages; those of one partition in their order, but where some are refused for their size."""

    @property
    def waiting(self) -> int:
        """Messages that were taken, and are not with the brokers yet."""

    def send(self, message: ProducerRecord) -> None:
        """Take it, to be sent at some time before `flush` is through. A `BrokerTrouble` says that it was not taken."""

    def flush(self, seconds: float) -> None:
        """Wait until everything is with the brokers; a `BrokerTrouble` if it is not by then, which a later call may mend."""

    def close(self) -> None:
        """Let go, also of what was not flushed."""
