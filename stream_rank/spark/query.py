"""A query that learns from topics and publishes what it learned, until it is stopped or at the end."""

import re
from collections.abc import Callable
from typing import Any

from stream_rank.config.spark import PARTITION, SparkConfig
from stream_rank.errors import ConfigError, SnapshotError, StreamRankError
from stream_rank.spark.learn import learned_by
from stream_rank.spark.progress import observed
from stream_rank.spark.publisher import Publisher, check_rule
from stream_rank.spark.session import of_topics

__all__ = ["begun", "ended"]

_OURS = re.compile(r"^(?:\S*:\s)*stream_rank\.errors\.(\w+): (.+)$", re.MULTILINE)
"""A sentence of ours at the end of a worker's traceback, which the JVM hands on as text."""


def begun(
    config: SparkConfig, spark: Any, publisher: Callable[[Any, int], None] | None = None
) -> Any:
    """The query of these settings, which is running."""
    shows = config.by == PARTITION
    merges = shows and config.merge == "yes"
    if merges and publisher is None:
        check_rule(config)
    events = of_topics(
        *(spark, config.topics, config.bootstrap_servers),
        start=config.start,
        max_offsets=config.max_offsets,
        kafka=config.kafka,
    )
    output = observed(learned_by(config, events, shows), config)
    publish = publisher or Publisher(config.published, merges=merges)
    writer = output.writeStream.queryName("stream-rank").outputMode("append").foreachBatch(publish)
    trigger: dict[str, Any] = (
        {"availableNow": True}
        if config.until == "end"
        else {"processingTime": f"{int(1000 * config.trigger_seconds)} milliseconds"}
    )
    return writer.option("checkpointLocation", config.checkpoints).trigger(**trigger).start()


def ended(query: Any) -> None:
    """Wait until a query ends; what workers said in a sentence of ours is raised as it was there."""
    from pyspark.errors import StreamingQueryException

    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        found = _OURS.findall(str(error))
        if not found:
            raise
        name, sentence = found[-1]
        kinds: dict[str, type[StreamRankError]] = {each.__name__: each for each in _errors()}
        raise kinds.get(name, SnapshotError)(sentence) from None


def _errors() -> list[type[StreamRankError]]:
    from stream_rank.errors import MergeError

    return [ConfigError, MergeError, SnapshotError]
