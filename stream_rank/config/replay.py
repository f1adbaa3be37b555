"""The settings of a replay."""

import re
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator

from stream_rank.config.run import RunConfig
from stream_rank.config.settings import Listed
from stream_rank.errors import ConfigError
from stream_rank.ingest.files.csv_options import CsvOptions

__all__ = ["ReplayConfig"]


def _moment(given: Any) -> Any:
    from stream_rank.ingest.timestamps import moment_of  # imports the compiler, which is slow

    if isinstance(given, date):  # TOML has dates and times
        given = given.isoformat()
        if _LOCAL.fullmatch(given):
            given += "Z"
    if isinstance(given, str):
        if _DATE.fullmatch(given):
            given += "T00:00:00Z"
        return moment_of(int(given) if _WHOLE.fullmatch(given) else given)
    return given


def _speed(given: Any) -> Any:
    if isinstance(given, str):
        try:
            return None if given == "max" else float(given.removesuffix("x"))
        except ValueError:
            raise ValueError(f"{given!r} is neither a factor such as 10x nor max") from None
    return given


_LOCAL = re.compile(r"[^T]+T[0-9:.]+")
_DATE, _WHOLE = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"-?\d{1,18}")
Moment = Annotated[int, BeforeValidator(_moment)]
Speed = Annotated[float | None, BeforeValidator(_speed)]


class ReplayConfig(RunConfig):
    """Settings of `stream-rank replay`."""

    fixed: ClassVar[tuple[str, ...]] = (
        *RunConfig.fixed,
        *("from", "to", "format", "delimiter", "header", "na_values"),
    )

    inputs: Listed = Field(
        min_length=1, description='files, "-" for standard input, or synthetic:100000'
    )
    format: Literal["jsonl", "csv", "parquet", "arrow", "avro"] | None = Field(
        None, description="the format of the files, if not given by their names"
    )
    delimiter: str | None = Field(
        None,
        min_length=1,
        description="what separates the cells of a CSV, as in ; or tab; by default told from its first records",
    )
    header: Literal["auto", "true", "false"] = Field(
        "auto",
        description="whether the first record of a CSV has the names of its columns; without, they are 0, 1 and so on",
    )
    na_values: Listed = Field(
        default=[],
        description="cells of a CSV that say that nothing is known, as NA does; empty ones always do; may be repeated",
    )
    max_reject_ratio: float = Field(
        0.5, ge=0, le=1, description="stop when a larger share of the records is rejected"
    )
    """Who replays files looks at the result, and a stream of which most is no event was described wrongly: by the
    wrong file, columns or number of ranks. A daemon goes on by default, since it must not stop for what others send."""
    follow: bool = Field(False, description="at the end of the last file, wait for new lines")
    resume: bool = Field(False, description="resume from the latest snapshot in the folder")
    speed: Speed = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="replay at a multiple of the original speed, as in 10x; by default as fast as possible",
    )
    from_: Moment | None = Field(
        None, alias="from", description="leave out events before this time"
    )
    to: Moment | None = Field(None, description="leave out events after this time")
    regret: bool = Field(
        False,
        description="beside what learners lost show what a fixed rule of weighted features would have lost that was found with all events "
        "at hand: of ranks cumulative logit, of scores RankRLS, whose loss is the least, of preferences the logit of pairs. A learner that "
        "bends its rule (waves, kernels) or follows a drift may lose less",
    )
    regret_events: int = Field(
        100_000,
        ge=100,
        le=10_000_000,
        description="the most events that `regret` keeps: of more, so many by chance",
    )
    json_: bool = Field(False, alias="json", description="print the summary as JSON")
    quiet: bool = Field(False, description="print the result only")

    @field_validator("header", mode="before")
    @classmethod
    def _true_of_toml(cls, given: Any) -> Any:
        return str(given).lower() if isinstance(given, bool) else given

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, given: str | None) -> str | None:
        try:
            CsvOptions(given)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return given

    def csv_options(self) -> CsvOptions:
        """What is said of CSV, for the sources."""
        header = {"auto": None, "true": True, "false": False}[self.header]
        return CsvOptions(self.delimiter, header, tuple(self.na_values))
