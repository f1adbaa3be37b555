"""The position of a topic source: the next offset of each partition."""

from collections.abc import Iterator, Mapping
from typing import Any

from stream_rank.errors import SnapshotError
from stream_rank.ingest.kafka.port import Partition

__all__ = ["Offsets"]


class Offsets(Mapping[Partition, int]):
    """Next offsets by partition: the immutable `Position` of a topic source.

    >>> position = Offsets({Partition("ratings", 0): 17})
    >>> position.to_json()
    {'ratings': {'0': 17}}
    >>> Offsets.from_json(position.to_json()) == position
    True
    """

    def __init__(self, offsets: Mapping[Partition, int]) -> None:
        self._offsets = dict(offsets)

    def __getitem__(self, partition: Partition) -> int:
        return self._offsets[partition]

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __repr__(self) -> str:
        return f"Offsets({self._offsets!r})"

    def to_json(self) -> dict[str, dict[str, int]]:
        """The JSON that snapshots contain."""
        found: dict[str, dict[str, int]] = {}
        for partition, offset in sorted(self._offsets.items()):
            found.setdefault(partition.topic, {})[str(partition.number)] = offset
        return found

    @staticmethod
    def from_json(stored: Any) -> "Offsets":
        """Offsets that `to_json` wrote."""
        try:
            return Offsets(
                {
                    Partition(topic, int(number)): int(offset)
                    for topic, numbers in stored.items()
                    for number, offset in numbers.items()
                }
            )
        except (AttributeError, TypeError, ValueError):
            raise SnapshotError(
                f"its position is not one of topics, partitions and offsets: {str(stored)[:100]}"
            ) from None
