"""The settings of the daemon, and of `dead-letters` and `produce`."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from stream_rank.config.form import FIELDS, FieldsSetting, FormConfig
from stream_rank.config.kafka import KafkaConfig
from stream_rank.config.run import RunConfig
from stream_rank.config.settings import listed
from stream_rank.config.values import ValuesConfig
from stream_rank.ingest.kafka.port import SESSION_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from stream_rank.ingest.kafka.quarantine import Skip

__all__ = ["DaemonConfig", "DeadLettersConfig", "ProduceConfig"]


_LEASE_SHARE = 0.75

TopicName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


class DeadLettersConfig(KafkaConfig, FormConfig, ValuesConfig):
    """Settings of `stream-rank dead-letters`; the daemon has them too."""

    group_id: str = Field("stream-rank", min_length=1, description="the consumer group")
    topics: Annotated[list[TopicName], BeforeValidator(listed)] = Field(
        default=[], description="the topics to learn from; dead letters are sent back to no others"
    )
    dead_letters: TopicName | None = Field(
        None, description="the topic for rejects (OUT/rejects.jsonl without one)"
    )


class DaemonConfig(RunConfig, DeadLettersConfig):
    """Settings of `stream-rank run`."""

    fixed: ClassVar[tuple[str, ...]] = (*RunConfig.fixed, "shard")

    topics: Annotated[list[TopicName], BeforeValidator(listed)] = Field(
        min_length=1, description="the topics to learn from"
    )
    shard: Literal["all"] = Field("all", description="what one model learns from: all partitions")
    start: Literal["earliest", "latest"] = Field(
        "earliest", description="where to begin with a partition that is not in the snapshot"
    )
    skip: Annotated[list[str], BeforeValidator(listed)] = Field(
        default=[],
        description="messages to pass over, by offsets as in ratings:0:2000-2500 or by time as in "
        "ratings:2026-11-20T10:00Z/2026-11-20T11:00Z; may be repeated",
    )
    on_lost_offsets: Literal["fail", "earliest", "latest"] = Field(
        "fail", description="if a partition no longer has the next offset: stop with an error, "
        "or continue at its first or its end offset"
    )  # fmt: skip
    catch_up: Literal["no", "retained"] = Field(
        "no",
        description="what a learner that is added learns before it joins: nothing, or all that the topics still have, beside the others",
    )
    predictions: TopicName | None = Field(
        None, description="the topic for predictions of requests (nowhere without one)"
    )
    max_consecutive_rejects: int | None = Field(
        None, ge=1, description="stop when so many records in a row are rejected"
    )
    idle_timeout: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="stop after so many seconds without an event"
    )
    stop_seconds: float = Field(
        25.0, gt=0, allow_inf_nan=False,
        description="seconds that stopping may take; if it takes longer, records after the last snapshot are learned again",
    )  # fmt: skip
    session_timeout_seconds: float = Field(
        SESSION_TIMEOUT_SECONDS, ge=1, le=3600, description="the group reassigns our partitions, and another daemon that stands by leads, after so long without a sign of ours"
    )  # fmt: skip
    group_protocol: Literal["classic", "consumer"] = Field(
        "classic", description="the group protocol; consumer (KIP-848) needs the client confluent"
    )
    host: str = Field(
        "127.0.0.1",
        description="the address of the HTTP server (/metrics, /status, /livez, /readyz)",
    )
    port: int = Field(
        9464,
        ge=0,
        le=65535,
        description="the port of the HTTP server; 0 takes a free one, which is logged",
    )
    live_seconds: float = Field(
        60.0, gt=0, allow_inf_nan=False, description="/livez fails after so long without an iteration of the loop"
    )  # fmt: skip
    log: Literal["json", "text"] | None = Field(
        None,
        description="the log format; by default text on a terminal and json elsewhere",
    )
    log_seconds: float = Field(
        10.0, gt=0, allow_inf_nan=False, description="seconds between two progress lines in the log"
    )

    @property
    def lease_seconds(self) -> float:
        """So much less than the session timeout that whoever stands by leads before the group gives it the partitions."""
        return _LEASE_SHARE * self.session_timeout_seconds

    def skips(self) -> list["Skip"]:
        """What `skip` means."""
        from stream_rank.ingest.kafka.quarantine import Skip  # imports the compiler, which is slow

        return [Skip.of(each) for each in self.skip]

    @field_validator("skip")
    @classmethod
    def _skips(cls, given: list[str]) -> list[str]:
        if given:  # only if needed, as above
            from stream_rank.ingest.kafka.quarantine import Skip

            list(map(Skip.of, given))
        return given

    @model_validator(mode="after")
    def _skips_of_our_topics(self) -> "DaemonConfig":
        for each in self.skips() if self.skip else ():
            if each.topic not in self.topics:
                raise ValueError(f"`skip` {each.text}: {each.topic} is none of `topics`")
        return self

    @model_validator(mode="after")
    def _distinct_topics(self) -> "DaemonConfig":
        used = [*self.topics, *filter(None, (self.dead_letters, self.predictions))]
        if len(set(used)) < len(used):
            raise ValueError(
                "`topics`, `dead_letters` and `predictions` must be different topics: messages sent would be learned"
            )
        return self


class ProduceConfig(KafkaConfig):
    """Settings of `stream-rank produce`."""

    topic: TopicName = Field(description="the topic to send to")
    rate: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="events per second; by default as fast as possible",
    )
    key: Literal["id", "group"] | None = Field(
        None, description="the message key: events with the same one go to one partition, in order"
    )  # fmt: skip
    max_events: int | None = Field(None, ge=1, description="stop after so many events")
    format: Literal["jsonl", "csv", "parquet", "arrow", "avro"] | None = Field(
        None, description="the format of the files, if not given by their names"
    )
    fields: FieldsSetting = Field(
        None, description=f"{FIELDS}. Events are sent in our own form, by these"
    )
    quiet: bool = Field(False, description="print nothing but errors")
