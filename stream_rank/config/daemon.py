"""The settings of the daemon, and of the commands that help it."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from stream_rank.config.kafka import KafkaConfig
from stream_rank.config.run import RunConfig, listed
from stream_rank.ingest.kafka.port import SESSION_TIMEOUT_SECONDS

__all__ = ["DaemonConfig", "DeadLettersConfig", "ProduceConfig"]


TopicName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


class DeadLettersConfig(KafkaConfig):
    """Settings of `stream-rank dead-letters`, which the daemon has too."""

    group_id: str = Field("stream-rank", min_length=1, description="the consumer group")
    dead_letters: TopicName | None = Field(
        None, description="the topic for rejects (OUT/rejects.jsonl without one)"
    )


class DaemonConfig(RunConfig, DeadLettersConfig):
    """Settings of `stream-rank run`."""

    fixed: ClassVar[tuple[str, ...]] = (*RunConfig.fixed, "topics", "shard")

    topics: Annotated[list[TopicName], BeforeValidator(listed)] = Field(
        min_length=1, description="the topics to learn from"
    )
    shard: Literal["all"] = Field("all", description="what one model learns from: all partitions")
    start: Literal["earliest", "latest"] = Field(
        "earliest", description="where to begin with a partition that no snapshot knows"
    )
    on_lost_offsets: Literal["fail", "earliest", "latest"] = Field(
        "fail", description="where to go on if a partition no longer has what comes next: nowhere, "
        "at its first event, or at its end"
    )  # fmt: skip
    predictions: TopicName | None = Field(
        None, description="the topic for predictions of requests (nowhere without one)"
    )
    max_consecutive_rejects: int | None = Field(
        None, ge=1, description="stop when so many records in a row are rejected"
    )
    idle_timeout: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="stop when nothing came for so many seconds"
    )
    stop_seconds: float = Field(
        25.0, gt=0, allow_inf_nan=False,
        description="the most that stopping may take; what is not done by then is done again after the next start",
    )  # fmt: skip
    session_timeout_seconds: float = Field(
        SESSION_TIMEOUT_SECONDS, ge=1, le=3600, description="the group gives our partitions away when we are not heard of for so long"
    )  # fmt: skip
    group_protocol: Literal["classic", "consumer"] = Field(
        "classic", description="of groups; consumer is that of KIP-848, for the client confluent"
    )
    host: str = Field(
        "127.0.0.1", description="the address that /metrics and the like are served at"
    )
    port: int = Field(
        9464, ge=0, le=65535, description="and its port; 0 takes one that is free, and says which"
    )
    live_seconds: float = Field(
        60.0, gt=0, allow_inf_nan=False, description="/livez fails when the loop has not turned for so long"
    )  # fmt: skip
    log: Literal["json", "text"] | None = Field(
        None,
        description="how it is logged; if it is not said, text on a terminal and json elsewhere",
    )
    log_seconds: float = Field(
        10.0, gt=0, allow_inf_nan=False, description="seconds between two lines on how it goes"
    )

    @model_validator(mode="after")
    def _apart(self) -> "DaemonConfig":
        told = [*self.topics, *filter(None, (self.dead_letters, self.predictions))]
        if len(set(told)) < len(told):
            raise ValueError(
                "`topics`, `dead_letters` and `predictions` must be different topics: what is sent would be learned again"
            )
        return self


class ProduceConfig(KafkaConfig):
    """Settings of `stream-rank produce`."""

    topic: TopicName = Field(description="where to")
    rate: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="events a second; else as fast as it can"
    )
    key: Literal["id", "group"] | None = Field(
        None, description="events that have it in common go to one partition, in their order"
    )  # fmt: skip
    max_events: int | None = Field(None, ge=1, description="stop after so many events")
    format: Literal["jsonl", "csv", "parquet", "arrow"] | None = Field(
        None, description="of the files, if their names do not tell"
    )
    quiet: bool = Field(False, description="print nothing but errors")
