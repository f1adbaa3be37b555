"""A consumer that reads every partition up to an offset, and nothing from there on."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence

from stream_rank.ingest.kafka.port import (
    Consumer,
    OffsetRange,
    Partition,
    PartitionRecords,
    ResolveOffsets,
)

__all__ = ["BoundedConsumer"]


class BoundedConsumer:
    """A `Consumer` of the messages before the bound of their partition; partitions without a bound return none.

    Nothing is kept back: what a client has fetched beyond a bound is dropped, and the partition is paused. Whoever wants more makes
    another consumer. Offsets may have gaps, so that a bound is reached once a message from there on has come, or the client says so.
    """

    def __init__(
        self,
        consumer: Callable[[ResolveOffsets], Consumer],
        resolve_offsets: ResolveOffsets,
        bounds: Mapping[Partition, int],
    ) -> None:
        self._resolve_offsets, self._bounds = resolve_offsets, dict(bounds)
        self._at_bound: set[Partition] = set()
        self._quiet = False
        """Whether the last poll of the client returned nothing: what it has reached is known then."""
        self._consumer = consumer(self._resolved)

    def _resolved(self, ranges: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        """A partition may be another now, under the same name."""
        self._at_bound -= ranges.keys()
        return self._resolve_offsets(ranges)

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """New messages before their bounds."""
        fetched = self._consumer.poll(seconds)
        self._quiet = not fetched
        found, beyond = [], set()
        for part in fetched:
            count = bisect_left(part.offsets, self._bounds.get(part.partition, 0))
            if count:
                found.append(part.part(0, count))
            if count < len(part.offsets):
                beyond.add(part.partition)
        if beyond:
            self._at_bound |= beyond
            self._consumer.pause(beyond)
        return found

    def pause(self, partitions: Collection[Partition]) -> None:
        """Fetch no more of these partitions."""
        self._consumer.pause(partitions)

    def reached(self) -> Mapping[Partition, int]:
        """The offset up to which all messages were returned, at most the bound, for the partitions where it is known."""
        known = self._consumer.reached() if self._quiet else {}
        found = {at: min(offset, self._bounds.get(at, 0)) for at, offset in known.items()}
        return found | {at: self._bounds.get(at, 0) for at in self._at_bound}

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions."""
        return self._consumer.assignment

    @property
    def rebalances(self) -> int:
        """How often partitions were assigned or revoked."""
        return self._consumer.rebalances

    @property
    def silence(self) -> float:
        """Seconds since a broker answered."""
        return self._consumer.silence

    def ends(self) -> Mapping[Partition, int]:
        """The last known end offsets."""
        return self._consumer.ends()

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """The ids that these topics have now."""
        return self._consumer.topic_ids(topics)

    def partition_counts(self, topics: Sequence[str]) -> Mapping[str, int]:
        """How many partitions these topics have."""
        return self._consumer.partition_counts(topics)

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Do nothing: nobody goes on from here."""

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The committed offsets."""
        return self._consumer.committed(partitions)

    def close(self, seconds: float) -> None:
        """Close the client."""
        self._consumer.close(seconds)
