"""Few shards with many records each: packed, with their states in RocksDB by `transformWithStateInPandas`."""

from collections.abc import Iterator
from typing import Any

from stream_rank.spark.outputs import OUTPUT
from stream_rank.spark.packing import PACKED, pack
from stream_rank.spark.unpacking import unpacked
from stream_rank.spark.worker import learned

__all__ = ["by_partition"]


def by_partition(events: Any, settings: str) -> Any:
    """What comes out of a stream of `topic, partition, offset, value`.

    A shard's records of one trigger are in its worker's memory at once: `maxOffsetsPerTrigger` bounds them.
    """
    return (
        events.mapInArrow(pack, PACKED)
        .groupBy("shard")
        .transformWithStateInPandas(
            statefulProcessor=_processor(settings),
            outputStructType=OUTPUT,
            outputMode="Append",
            timeMode="None",
        )
    )


def _processor(settings: str) -> Any:
    from pyspark.sql.streaming import StatefulProcessor

    class Learns(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self._state = handle.getValueState("run", "state binary")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802 - Spark's name
            packed = [row for frame in rows for row in frame.itertuples(index=False)]
            before = self._state.get()
            after, found = learned(
                *(settings, key[0], None if before is None else bytes(before[0])),
                *(unpacked(packed), True),
            )
            self._state.update((after,))
            yield found

        def close(self) -> None:
            pass

    return Learns()
