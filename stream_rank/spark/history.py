"""A stream that has an end, as a table: the records of each shard in their order, one shard after the other."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from stream_rank.spark.outputs import ARROW, OUTPUT
from stream_rank.spark.worker import learned_in_order

__all__ = ["of_history"]


def of_history(events: Any, settings: str, order: list[str], shows: bool) -> Any:
    """What comes out of a table of `shard, value` and the columns of the order.

    A shard is learned by one task, which keeps one in memory, and of its records as many as Spark hands over at once.
    """

    def learn(batches: Iterable[Any]) -> Iterator[Any]:
        for frame in learned_in_order(settings, batches, shows):
            yield pa.RecordBatch.from_pandas(frame, ARROW, preserve_index=False)

    return (
        events.repartition("shard").sortWithinPartitions("shard", *order).mapInArrow(learn, OUTPUT)
    )
