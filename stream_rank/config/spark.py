"""The settings of shards on Spark, and of `stream-rank spark`."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from stream_rank.config.run import RunConfig
from stream_rank.config.settings import OpenUrl, listed
from stream_rank.ingest.kafka.connection import is_secret

__all__ = ["OF_FOLDERS", "PARTITION", "ShardConfig", "SparkConfig"]

PARTITION = "partition"
OF_FOLDERS = (
    *("snapshots", "snapshot_events", "snapshot_seconds", "snapshots_kept", "daily_snapshots_kept"),
    *("on_corrupt_snapshot", "max_reject_ratio", "max_events"),
)
"""Settings of runs that end by themselves, or keep their snapshots in folders."""
_WINDOW_OF_KEYS = 100
"""The recent losses of a window of 5,000 take 200 kB: too much for each of many keys."""


class ShardConfig(RunConfig):
    """What a shard learns, and what a shard is."""

    fixed: ClassVar[tuple[str, ...]] = (*RunConfig.fixed, "by")

    out: Path = Field(Path("."), description="unused: the states of shards are in Spark's store")
    by: str = Field(
        PARTITION,
        min_length=1,
        description="what one model learns from: a partition of a topic (partition), the records of one key (key), or of one value of a "
        "field of the events, as in group or user.id",
    )
    expiry_seconds: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="a key that came in no event for so many seconds is forgotten (never)",
    )

    @model_validator(mode="after")
    def _window(self) -> Self:
        if self.by != PARTITION and "window" not in self.model_fields_set:
            self.window = _WINDOW_OF_KEYS
        return self

    @model_validator(mode="after")
    def _no_folder(self) -> Self:
        for name in OF_FOLDERS:
            if name in self.model_fields_set:
                raise ValueError(
                    f"`{name}` is nothing on Spark, which keeps states and decides about triggers by itself"
                )
        return self

    @model_validator(mode="after")
    def _expiry(self) -> Self:
        if self.by == PARTITION and self.expiry_seconds is not None:
            raise ValueError(
                "`expiry_seconds` is for keys: a partition is learned as long as it is there"
            )
        return self


def _pairs(given: Any) -> Any:
    """A table of TOML, or KEY=VALUE as flags and variables have it."""
    parts = given.split() if isinstance(given, str) else given
    if not isinstance(parts, list):
        return parts
    pairs = [str(part).partition("=") for part in parts]
    if not all(equals and key for key, equals, _ in pairs):
        raise ValueError("settings are given as KEY=VALUE")
    return {key: value for key, _, value in pairs}


_Pairs = Annotated[dict[str, str], BeforeValidator(_pairs)]
_Topic = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


class SparkConfig(ShardConfig):
    """Settings of `stream-rank spark`."""

    topics: Annotated[list[_Topic], BeforeValidator(listed)] = Field(
        min_length=1, description="the topics to learn from"
    )
    bootstrap_servers: str = Field("127.0.0.1:9092", description="the brokers, as Spark takes them")
    out: Path = Field(
        Path("out"), description="the folder for what is published, unless `publish` is given"
    )
    publish: OpenUrl = Field(
        None,
        description="where the shards' states and their average are published: a folder or a URL (OUT)",
    )
    merge: Literal["yes", "no"] = Field(
        "yes", description="whether the average of the champions of all partitions is published"
    )
    checkpoint: str | None = Field(
        None,
        description="where Spark keeps offsets and states: a folder or a URL that Spark knows (OUT/checkpoint)",
    )
    trigger_seconds: float = Field(
        10.0, ge=0, allow_inf_nan=False, description="seconds from one trigger to the next"
    )
    until: Literal["stopped", "end"] = Field(
        "stopped",
        description="learn until it is stopped, or until the end that the topics have now",
    )
    max_offsets: int = Field(
        1_000_000,
        ge=1,
        description="the most records of a trigger: those of a partition are in a worker's memory at once",
    )
    start: Literal["earliest", "latest"] = Field(
        "earliest", description="where to begin without a checkpoint"
    )
    kafka: _Pairs = Field(
        default={},
        description="a setting of Java's Kafka client, as in security.protocol=SASL_SSL; may be repeated. Passwords belong into a file",
    )
    spark: _Pairs = Field(
        default={},
        description="a setting of Spark, as in spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0; may be repeated",
    )
    host: str = Field("127.0.0.1", description="the address of the driver's /metrics")
    port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="the port of the driver's /metrics; 0 takes a free one (no /metrics)",
    )

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.until == "end" and self.expiry_seconds is not None:
            raise ValueError(
                "`until` end has none with `expiry_seconds`: as long as keys may expire, Spark goes on with empty triggers"
            )
        return self

    def shown(self) -> dict[str, Any]:
        """The settings as JSON values; passwords of clients are masked."""
        found = super().shown()
        for name, value in found["kafka"].items():
            if is_secret(name) or "jaas" in name:
                found["kafka"][name] = "*" * 10 if value else value
        return found

    @property
    def published(self) -> str:
        """Where it is published."""
        return self.publish or str(self.out)

    @property
    def checkpoints(self) -> str:
        """Where Spark keeps what it needs to go on."""
        return self.checkpoint or str(self.out / "checkpoint")
