"""A session of Spark's, and a stream of Kafka's, as the learners need them."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from stream_rank.errors import ConfigError

__all__ = ["SETTINGS", "of_topics", "session"]

SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
"""What the learners need, whatever else is set."""


def session(settings: Mapping[str, str]) -> Any:
    """A session, or the one that `spark-submit` has made, with these settings."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ConfigError("there is no PySpark: install stream-rank[spark]") from None
    builder = SparkSession.builder.appName("stream-rank")
    # of workers, unless another is said: Spark's own default is whatever is called python3
    os.environ.setdefault("PYSPARK_PYTHON", settings.get("spark.pyspark.python", sys.executable))
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def of_topics(
    spark: Any,
    topics: Sequence[str],
    brokers: str,
    *,
    start: str = "earliest",
    max_offsets: int | None = None,
    kafka: Mapping[str, str] | None = None,
) -> Any:
    """The records of topics as a stream."""
    options = {
        **{f"kafka.{name}": value for name, value in (kafka or {}).items()},
        "kafka.bootstrap.servers": brokers,
        "subscribe": ",".join(topics),
        "startingOffsets": start,
        "failOnDataLoss": "true",
    }
    if max_offsets is not None:
        options["maxOffsetsPerTrigger"] = str(max_offsets)
    return spark.readStream.format("kafka").options(**options).load()
