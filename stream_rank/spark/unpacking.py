"""Records as Spark hands them to a shard, as a portion."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from stream_rank.ingest.kafka.port import Partition
from stream_rank.spark.packing import columns_of
from stream_rank.spark.portion import Portion

__all__ = ["portion_of", "unpacked"]


def unpacked(rows: Iterable[Any]) -> Portion:
    """The records of packed rows of one shard; each row has the attributes of `PACKED`."""
    partitions: dict[Partition, int] = {}
    numbers, offsets, lengths, contents = [], [], [], []
    for row in rows:
        number = partitions.setdefault(Partition(row.topic, int(row.partition)), len(partitions))
        offsets.append(np.frombuffer(row.offsets, "<i8").astype(np.int64))
        lengths.append(np.frombuffer(row.lengths, "<i8").astype(np.int64))
        numbers.append(np.full(len(offsets[-1]), number, np.int64))
        contents.append(bytes(row.content))
    columns = [np.concatenate(each) for each in (numbers, offsets, lengths)]
    return Portion(list(partitions), columns[0], columns[1], columns[2], b"".join(contents))


def portion_of(table: Any) -> Portion:
    """The records of one shard in an Arrow table with a `value`; with `topic`, `partition` and `offset` or in the order that they have.

    >>> import pyarrow as pa
    >>> portion_of(pa.table({"value": [b"one", b"two"]})).values
    b'onetwo'
    """
    lengths, content = columns_of(table.column("value"))
    if "offset" not in table.schema.names:
        nothing = np.zeros(len(lengths), np.int64)
        return Portion([], nothing, nothing, lengths, content)
    topics = table.column("topic").to_pylist()
    named = zip(topics, table.column("partition").to_pylist(), strict=True)
    partitions: dict[Partition, int] = {}
    numbers = [partitions.setdefault(Partition(*each), len(partitions)) for each in named]
    offsets = table.column("offset").to_numpy()
    return Portion(
        list(partitions), np.array(numbers, np.int64), np.array(offsets), lengths, content
    )
