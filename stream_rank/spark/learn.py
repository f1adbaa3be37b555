"""The learners on a DataFrame of Spark's, a stream or a table."""

from collections.abc import Sequence
from typing import Any

from stream_rank.config.gather import gather
from stream_rank.config.spark import PARTITION, ShardConfig
from stream_rank.errors import ConfigError
from stream_rank.spark.by_key import by_key
from stream_rank.spark.by_partition import by_partition
from stream_rank.spark.history import of_history
from stream_rank.spark.shard import Shard

__all__ = ["learn", "learned_by"]

_KEY, _GROUP = "key", "group"
_KAFKA = "topic", "partition", "offset"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_STORE = "spark.sql.streaming.stateStore.providerClass"


def learn(
    events: Any,
    learner: str | Sequence[str],
    *,
    by: str = PARTITION,
    fields: Any = None,
    shows_states: bool | None = None,
    **settings: Any,
) -> Any:
    """What learners make of events, each shard of which has learners of its own.

    The state of a shard is the snapshot of its run, which is equal to the bit to that of `stream-rank replay` of its records alone: records are
    learned in the order of their offsets, and those that come again are left out. Where the records of a key are in several
    partitions, those of one trigger are learned by partition.

    Parameters
    ----------
    events
        A DataFrame as Spark reads it from Kafka, with `topic`, `partition`, `offset`, `value` and, by key, `key`: a stream, or a table, which is
        learned to its end. A table may also have no offsets, and a `timestamp` by which the records of each shard are put in
        order; without a `value`, its columns are an event: `y`, `id`, `ts` and `group`, or what `fields` says, and features.
    learner
        As `stream-rank replay` takes it, `"scale | oap-bpm"`; of several, the first is the champion.
    by
        What has learners of its own: a `partition`, a `key`, or each value of a field of the events: `group`, `user.id`.
    fields
        The fields of an event by role, as in `{"y": "stars"}`.
    shows_states
        Whether states come out after every trigger: by default those of partitions do, and those of keys, which may be many, do not.
    settings
        All others of a run: `n_ranks`, `window`, `delay`, `max_features`, `begin_with`, `expiry_seconds` ...

    Returns
    -------
    DataFrame
        The rows of all that comes out, which `stream_rank.spark.outputs` takes apart: states, rejects, predictions, scoreboards.
        As a stream it is written in the output mode "append".

    Raises
    ------
    ConfigError
        If there is no such learner or setting. A state of other learners or settings fails the query, with a sentence.
    """
    learners = [learner] if isinstance(learner, str) else list(learner)
    given = {"learners": learners, "by": by, "fields": fields, **settings}
    config = gather(
        ShardConfig, {name: value for name, value in given.items() if value is not None}
    )
    return learned_by(config, events, shows_states)


def learned_by(config: ShardConfig, events: Any, shows_states: bool | None = None) -> Any:
    """The same, with settings that are gathered."""
    Shard(config)  # what is wrong with the settings is said here, and not by a worker
    shows = config.by == PARTITION if shows_states is None else shows_states
    settings = config.model_dump_json(
        include=set(ShardConfig.model_fields), by_alias=True, exclude_unset=True
    )
    order = _order(events)
    valued = _with_value(config, events)
    if not events.isStreaming:
        chosen = valued.withColumn("shard", _shard_of(config, events))
        return of_history(chosen.select("shard", "value", *order), settings, order, shows)
    if list(_KAFKA) != order:
        raise ConfigError(
            f"a stream of events has the columns topic, partition, offset and value, as Spark reads Kafka; this one has {', '.join(events.columns)}"
        )
    if config.by != PARTITION:
        chosen = valued.withColumn("shard", _shard_of(config, events))
        chosen = chosen.select("shard", *_KAFKA, "value")
        return by_key(chosen, settings, shows, config.expiry_seconds)
    if events.sparkSession.conf.get(_STORE, "") != _ROCKSDB:
        raise ConfigError(f"partitions keep their states in RocksDB: set {_STORE} to {_ROCKSDB}")
    return by_partition(valued.select(*_KAFKA, "value"), settings)


def _order(events: Any) -> list[str]:
    """The columns by which records are put in order."""
    if all(name in events.columns for name in _KAFKA):
        return list(_KAFKA)
    for name in ("timestamp", "ts"):
        if name in events.columns:
            return [name]
    raise ConfigError(
        "a table of events has topic, partition and offset, or a timestamp by which they are put in order; this one has "
        f"{', '.join(events.columns)}"
    )


def _with_value(config: ShardConfig, events: Any) -> Any:
    """Events with a `value`, which is JSON: of a table's columns, as `fields` has them, or in our own form as in all tables."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    columns = events.columns
    if "value" in columns:
        return events.withColumn("value", F.col("value").cast("binary"))
    if config.fields is not None or "x" in columns:
        return events.withColumn("value", F.to_json(F.struct(*columns)).cast("binary"))
    roles = {name: name for name in ("y", "id", "ts", "group") if name in columns}
    if "ts" not in columns and "timestamp" in columns:
        roles["ts"] = "timestamp"
    features = [name for name in columns if name not in roles.values()]
    named = [F.col(name).alias(role) for role, name in roles.items()]
    event = F.struct(F.struct(*features).alias("x"), *named)
    return events.withColumn("value", F.to_json(event).cast("binary"))


def _shard_of(config: ShardConfig, events: Any) -> Any:
    """The shard of each record, as a column of text; of records that have no such key or field it is empty."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if config.by == PARTITION:
        if not all(name in events.columns for name in _KAFKA):
            raise ConfigError("these events are of no partition: say by which field, with `by`")
        return F.concat_ws("-", F.col("topic"), F.col("partition"))
    if config.by == _KEY:
        if "key" not in events.columns:
            raise ConfigError("these events have no key: say by which field, with `by`")
        return F.coalesce(F.col("key").cast("string"), F.lit(""))
    given = config.fields.group if config.fields is not None and config.by == _GROUP else None
    name = given or config.by
    if "value" not in events.columns and name in events.columns:
        return F.coalesce(F.col(name).cast("string"), F.lit(""))
    path = "$" + "".join(f"['{part}']" for part in str(name).split("."))
    return F.coalesce(F.get_json_object(F.col("value").cast("string"), path), F.lit(""))
