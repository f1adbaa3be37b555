"""The settings of shards on Spark, and of `stream-rank spark`."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from stream_rank.config.run import RunConfig

__all__ = ["PARTITION", "ShardConfig"]

PARTITION = "partition"
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
    def _expiry(self) -> Self:
        if self.by == PARTITION and self.expiry_seconds is not None:
            raise ValueError(
                "`expiry_seconds` is for keys: a partition is learned as long as it is there"
            )
        return self
