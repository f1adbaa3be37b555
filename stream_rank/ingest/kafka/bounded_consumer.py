"""A consumer that returns no message from a bound on, until the bound is moved."""

import time
from collections.abc import Mapping, Sequence

from stream_rank.ingest.kafka.port import Consumer, Partition, PartitionRecords

__all__ = ["BoundedConsumer"]

_MOST_KEPT = 50_000
"""Messages that are kept back before the client is asked for more."""


class BoundedConsumer:
    """A `Consumer` that keeps back what is at its bounds or beyond; partitions without a bound return nothing."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._back: list[PartitionRecords] = []
        self.bounds: Mapping[Partition, int] = {}
        """The first offset of each partition that is kept back; another mapping may be set by any thread."""

    def poll(self, seconds: float) -> list[PartitionRecords]:
        """New messages before their bounds."""
        bounds = self.bounds
        waiting, self._back = self._back, []
        found = self._before(waiting, bounds)
        if sum(len(part.offsets) for part in self._back) < _MOST_KEPT:
            found += self._before(self._consumer.poll(0 if found else seconds), bounds)
        elif not found:
            time.sleep(seconds)
        return found

    def _before(
        self, parts: Sequence[PartitionRecords], bounds: Mapping[Partition, int]
    ) -> list[PartitionRecords]:
        found = []
        for part in parts:
            rest = part.since(bounds.get(part.partition, 0))
            begin = len(part.offsets) - len(rest.offsets)
            if rest.offsets:
                self._back.append(rest)
            if begin:
                found.append(part.part(0, begin))
        return found

    def is_at(self, bounds: Mapping[Partition, int], position: Mapping[Partition, int]) -> bool:
        """Whether everything before these bounds was returned, where `position` is what was returned. Offsets may have gaps."""
        kept = {part.partition: part.offsets[0] for part in reversed(self._back)}
        reached = {**self._consumer.reached(), **kept}
        return all(
            max(position.get(partition, 0), reached.get(partition, 0)) >= bound
            for partition, bound in bounds.items()
        )

    def reached(self) -> Mapping[Partition, int]:
        """How far messages were returned, at most to the bounds."""
        kept = {part.partition: part.offsets[0] for part in reversed(self._back)}
        bounds = self.bounds
        return {
            partition: min(at, bounds.get(partition, 0), kept.get(partition, at))
            for partition, at in self._consumer.reached().items()
        }

    @property
    def assignment(self) -> frozenset[Partition]:
        """The assigned partitions."""
        return self._consumer.assignment

    @property
    def rebalances(self) -> int:
        """How often partitions were assigned or revoked."""
        return self._consumer.rebalances

    def ends(self) -> Mapping[Partition, int]:
        """The last known end offsets."""
        return self._consumer.ends()

    def topic_ids(self, topics: Sequence[str]) -> Mapping[str, str]:
        """The ids that these topics have now."""
        return self._consumer.topic_ids(topics)

    def commit(self, positions: Mapping[Partition, int]) -> None:
        """Do nothing: nobody goes on from here."""

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The committed offsets."""
        return self._consumer.committed(partitions)

    def close(self, seconds: float) -> None:
        """Close the client."""
        self._consumer.close(seconds)
