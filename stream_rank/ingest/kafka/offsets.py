"""The position of a topic source: the next offset of each partition, and what it is the offset of."""

from collections.abc import Iterator, Mapping
from typing import Any

from stream_rank.errors import SnapshotError
from stream_rank.ingest.kafka.port import Partition
from stream_rank.ingest.kafka.quarantine import Passed

__all__ = ["Offsets"]

_SKIPPED, _IDS = "skipped", "ids"
"""Beside the numbers of a topic's partitions, which they are not."""


class Offsets(Mapping[Partition, int]):
    """Next offsets by partition: the immutable `Position` of a topic source.

    >>> position = Offsets({Partition("ratings", 0): 17})
    >>> position.to_json()
    {'ratings': {'0': 17}}
    >>> Offsets.from_json(position.to_json()) == position
    True
    """

    def __init__(
        self,
        offsets: Mapping[Partition, int],
        passed: Mapping[tuple[Partition, str], Passed] | None = None,
        topic_ids: Mapping[Partition, str] | None = None,
    ) -> None:
        """`passed` are the messages before these offsets that were passed over, by partition and setting; `topic_ids` says
        which topic of that name the offset of a partition is one of, as far as that is known."""
        self._offsets, self.passed = dict(offsets), dict(passed or {})
        self.topic_ids = dict(topic_ids or {})

    def __getitem__(self, partition: Partition) -> int:
        return self._offsets[partition]

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __repr__(self) -> str:
        return f"Offsets({self._offsets!r})"

    def shown(self) -> dict[str, dict[str, Any]]:
        """The same for people: without the ids of topics.

        >>> bad = Passed(Partition("ratings", 0), "ratings:0:3-4", 3, 4, 2)
        >>> Offsets({bad.partition: 17}, {(bad.partition, bad.skip): bad}).shown()
        {'ratings': {'0': 17, 'skipped': {'ratings:0:3-4': {'0': [3, 4, 2]}}}}
        """
        found: dict[str, dict[str, Any]] = {}
        for partition, offset in sorted(self._offsets.items()):
            found.setdefault(partition.topic, {})[str(partition.number)] = offset
        for (partition, skip), passed in sorted(self.passed.items()):
            skipped = found.setdefault(partition.topic, {}).setdefault(_SKIPPED, {})
            counted = [passed.first, passed.last, passed.messages]
            skipped.setdefault(skip, {})[str(partition.number)] = counted
        return found

    def to_json(self) -> dict[str, dict[str, Any]]:
        """The JSON that snapshots contain.

        >>> Offsets({Partition("t", 0): 17}, topic_ids={Partition("t", 0): "AAAAAAAAAAAAAAAAAAAABw"}).to_json()
        {'t': {'0': 17, 'ids': {'0': 'AAAAAAAAAAAAAAAAAAAABw'}}}
        """
        found = self.shown()
        for partition, name in sorted(self.topic_ids.items()):
            found.setdefault(partition.topic, {}).setdefault(_IDS, {})[str(partition.number)] = name
        return found

    @staticmethod
    def from_json(stored: Any) -> "Offsets":
        """Offsets that `to_json` wrote."""
        try:
            offsets = {
                Partition(topic, int(number)): int(offset)
                for topic, numbers in stored.items()
                for number, offset in numbers.items()
                if number not in (_SKIPPED, _IDS)
            }
            ids = {
                Partition(topic, int(number)): str(name)
                for topic, numbers in stored.items()
                for number, name in numbers.get(_IDS, {}).items()
            }
            passed = [
                Passed(Partition(topic, int(number)), skip, *map(int, counted))
                for topic, numbers in stored.items()
                for skip, by_number in numbers.get(_SKIPPED, {}).items()
                for number, counted in by_number.items()
            ]
            return Offsets(offsets, {(each.partition, each.skip): each for each in passed}, ids)
        except (AttributeError, TypeError, ValueError):
            raise SnapshotError(
                f"its position is not one of topics, partitions and offsets: {str(stored)[:100]}"
            ) from None
