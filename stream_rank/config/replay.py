"""The settings of a replay."""

import re
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from stream_rank.config.run import Listed, RunConfig
from stream_rank.ingest.files.column_mapping import Mapping

__all__ = ["Columns", "ReplayConfig", "pairs"]


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


def pairs(given: Any) -> Any:
    """Columns by role, from "y=stars x=a,b" in a variable or a list of flags."""
    parts = given.split() if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return given
    pairs = [part.partition("=") for part in parts]
    if not all(equals and value for _, equals, value in pairs):
        raise ValueError("columns are given as ROLE=COLUMN, as in y=stars x=a,b")
    roles = {role: value for role, _, value in pairs}
    if len(roles) < len(pairs):
        raise ValueError("a role is given twice")
    return roles


_Names = Annotated[
    list[str],
    BeforeValidator(lambda given: given.split(",") if isinstance(given, str) else given),
]


class Columns(BaseModel):
    """The column of each role."""

    model_config = ConfigDict(extra="forbid")

    x: _Names | None = None
    y: str | None = None
    id: str | None = None
    ts: str | None = None
    group: str | None = None
    preferred: str | None = None
    other: str | None = None
    magnitude: str | None = None
    tie: str | None = None
    context: _Names | None = None

    def mapping(self) -> Mapping:
        """The mapping for the sources."""
        given = self.model_dump(exclude={"x", "context"})
        x = None if self.x is None else tuple(self.x)
        return Mapping(x=x, context=tuple(self.context or ()), **given)


class ReplayConfig(RunConfig):
    """Settings of `stream-rank replay`."""

    fixed: ClassVar[tuple[str, ...]] = (*RunConfig.fixed, "from", "to", "columns", "format")

    inputs: Listed = Field(
        min_length=1, description='files, "-" for standard input, or synthetic:100000'
    )
    format: Literal["jsonl", "csv", "parquet", "arrow"] | None = Field(
        None, description="the format of the files, if not given by their names"
    )
    columns: Annotated[Columns, BeforeValidator(pairs)] = Field(
        default_factory=Columns,
        description="the columns of a table by role, as in y=stars x=a,b id=user; "
        "by default y, id, ts and group have the role of that name, and all others are features. "
        "Of preferences, as in preferred=home_* other=away_* magnitude=goals tie=draw context=day; "
        "by default preferred.* and other.*",
    )
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
    json_: bool = Field(False, alias="json", description="print the summary as JSON")
    quiet: bool = Field(False, description="print the result only")
