"""What a worker of Spark's does with the records of a shard."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from stream_rank.config.spark import ShardConfig
from stream_rank.spark.kept import KeptShards
from stream_rank.spark.outputs import rows_of
from stream_rank.spark.portion import Portion
from stream_rank.spark.shard import Outcome, Shard
from stream_rank.spark.unpacking import portion_of

__all__ = ["learned", "learned_in_order"]

_NOTHING = Outcome(0, 0, 0, 0, 0, 0, {}, (), ())


class _Warm(NamedTuple):
    """The one run of this process, which is that of one shard after the other."""

    shard: Shard
    kept: KeptShards | None
    """The shards that others learned, with which ours begin."""

    def load(self, name: str, state: bytes | None) -> Shard:
        """Be the run of a shard."""
        if state is None and self.kept is not None:
            state = self.kept.read(KeptShards.name_of(name))
        self.shard.load(state)
        return self.shard


@lru_cache(maxsize=1)
def _warm(settings: str) -> _Warm:
    config, kept = ShardConfig.model_validate_json(settings), None
    if config.begin_with is not None and KeptShards.are_at(config.begin_with):
        kept, config = KeptShards(config.begin_with), config.model_copy(update={"begin_with": None})
    return _Warm(Shard(config), kept)


def learned(
    settings: str, name: str, before: bytes | None, portion: Portion, shows: bool
) -> tuple[bytes, Any]:
    """A shard's state after a portion, and the rows that come out, the state among them if it `shows`."""
    shard = _warm(settings).load(name, before)
    outcome = shard.take(portion)
    after = shard.dump()
    return after, rows_of(name, shard, outcome, after if shows else None)


def learned_in_order(settings: str, batches: Iterable[Any], shows: bool) -> Iterator[Any]:
    """The rows that come out of Arrow batches in which the records of each shard stand together, in their order."""
    name, warm, counted = None, _warm(settings), _NOTHING
    shard = warm.shard
    for batch in batches:
        table = pa.Table.from_batches([batch])
        for run in _runs(table):
            now = run.column("shard")[0].as_py()
            if now != name:
                if name is not None:
                    yield rows_of(name, shard, counted, shard.dump() if shows else None)
                warm.load(now, None)
                name, counted = now, _NOTHING
            outcome = shard.take(portion_of(run))
            yield rows_of(now, None, outcome, None)
            counted = outcome.after(counted)
    if name is not None:
        yield rows_of(name, shard, counted, shard.dump() if shows else None)


def _runs(table: Any) -> Iterator[Any]:
    """The rows of each shard."""
    codes = table.column("shard").combine_chunks().dictionary_encode().indices.to_numpy()
    ends = [*(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    for begin, end in zip([0, *ends], ends, strict=False):
        if end > begin:
            yield table.slice(begin, end - begin)
