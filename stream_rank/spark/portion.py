"""A portion of a shard's records, as Spark hands them over: in any order, and some for the second time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading.scan import PADDING
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import Partition

__all__ = ["Portion"]

Array = npt.NDArray[Any]


class Portion(NamedTuple):
    """Records as columns."""

    partitions: Sequence[Partition]
    """Those that records are of; none where records have no offsets, which are in their order then."""
    numbers: Array
    """The partition of each record, as a place in `partitions`."""
    offsets: Array
    lengths: Array
    """Of the values, in bytes. A value that is missing is one without bytes."""
    values: bytes
    """The values, one behind the other."""

    @staticmethod
    def of(partition: Partition, offsets: Sequence[int], values: Sequence[bytes]) -> "Portion":
        """Records of one partition.

        >>> Portion.of(Partition("ratings", 3), [17, 18], [b"one", b"two"]).lengths
        array([3, 3])
        """
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        numbers = np.zeros(len(values), np.int64)
        return Portion([partition], numbers, np.array(offsets, np.int64), lengths, b"".join(values))

    def after(self, position: Offsets) -> tuple[Records, int]:
        """The records at the position or behind it, in the order of their partitions, as a chunk; and how many are left out.

        On several executors records come in any order, and again after some were learned. Cost: O(n log n).
        """
        ends = np.cumsum(self.lengths, dtype=np.int64)
        partitions, numbers, offsets = self.partitions, self.numbers, self.offsets
        order = np.arange(len(ends))
        if partitions:
            order = np.lexsort((offsets, numbers))
            numbers, offsets = numbers[order], offsets[order]
            next_ones = np.array([position.get(each, 0) for each in partitions], np.int64)
            kept = offsets >= next_ones[numbers]
            kept[1:] &= (offsets[1:] != offsets[:-1]) | (numbers[1:] != numbers[:-1])
            order, numbers, offsets = order[kept], numbers[kept], offsets[kept]

        def position_after(count: int) -> Offsets:
            found = dict(position)
            for number in np.unique(numbers[:count]).tolist() if partitions else ():
                found[partitions[number]] = int(offsets[:count][numbers[:count] == number][-1]) + 1
            return Offsets(found, position.passed, position.topic_ids)

        def origin_of(record: int) -> tuple[Partition, int] | None:
            if not partitions:
                return None
            return partitions[numbers[record]], int(offsets[record])

        def place_of(record: int) -> str:
            found = origin_of(record)
            return f"row {record}" if found is None else f"{found[0]}@{found[1]}"

        text = np.frombuffer(self.values + bytes(PADDING), np.uint8)
        begins = ends - self.lengths
        chunk = Records(
            text, begins[order], ends[order], position_after, place_of, False, origin_of
        )
        return chunk, len(ends) - len(order)
