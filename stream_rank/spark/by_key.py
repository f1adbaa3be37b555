"""Many shards with few records each: rows as they come, with states that travel with them, by `applyInPandasWithState`.

A call to the store of `transformWithState` takes a millisecond a key; here keys and states are columns of one Arrow table.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from stream_rank.spark.outputs import OUTPUT
from stream_rank.spark.unpacking import portion_of
from stream_rank.spark.worker import learned

__all__ = ["by_key"]


def by_key(events: Any, settings: str, shows: bool, expiry_seconds: float | None) -> Any:
    """What comes out of a stream of `shard, topic, partition, offset, value`."""
    timeout = "NoTimeout" if expiry_seconds is None else "ProcessingTimeTimeout"

    def learn(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
        if state.hasTimedOut:
            state.remove()
            return
        import pandas as pd

        rows = pd.concat(list(frames), ignore_index=True)
        table = pa.table(
            {
                "value": pa.array(rows["value"], pa.binary()),
                **{name: pa.array(rows[name]) for name in ("topic", "partition", "offset")},
            }
        )
        before = bytes(state.get[0]) if state.exists else None
        after, found = learned(settings, key[0], before, portion_of(table), shows)
        state.update((after,))
        if expiry_seconds is not None:
            state.setTimeoutDuration(int(1000 * expiry_seconds))
        yield found

    return events.groupBy("shard").applyInPandasWithState(
        learn, OUTPUT, "state binary", "append", timeout
    )
