"""All settings of a run, with their defaults: the one place for both."""

import os
import re
import tomllib
from collections.abc import Mapping as MappingOf
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from stream_rank.errors import ConfigError
from stream_rank.learners.catalogue import LEARNERS
from stream_rank.nearest import unknown
from stream_rank.stream.moment import moment_of
from stream_rank.stream.sources.mapping import Mapping

__all__ = ["PREFIX", "Columns", "ReplayConfig", "gather"]

PREFIX = "STREAM_RANK_"
"""Of the variables that hold settings."""


def _moment(given: Any) -> Any:
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


def _listed(given: Any) -> Any:
    return [part for part in given.split(";") if part] if isinstance(given, str) else given


_DATE, _WHOLE = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"-?\d{1,18}")
Moment = Annotated[int, BeforeValidator(_moment)]
Speed = Annotated[float | None, BeforeValidator(_speed)]


class Columns(BaseModel):
    """Which column of a table is what."""

    model_config = ConfigDict(extra="forbid")

    x: Annotated[
        list[str] | None,
        BeforeValidator(lambda given: given.split(",") if isinstance(given, str) else given),
    ] = None
    y: str | None = None
    id: str | None = None
    ts: str | None = None
    group: str | None = None

    def mapping(self) -> Mapping:
        """For the sources."""
        return Mapping(
            None if self.x is None else tuple(self.x), self.y, self.id, self.ts, self.group
        )


class ReplayConfig(BaseModel):
    """Settings of `stream-rank replay`."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    inputs: Annotated[list[str], BeforeValidator(_listed)] = Field(
        min_length=1, description='files, "-" for standard input, or synthetic:100000'
    )
    learners: Annotated[list[str], BeforeValidator(_listed)] = Field(
        default=["oap-bpm"],
        min_length=1,
        description=f"a learner ({', '.join(LEARNERS)}) with parameters as in oap-bpm:n_members=50, "
        "or an estimator of River's as in river.linear_model.LinearRegression:l2=0.1; may be given again. "
        "Perceptrons want features of a similar size and around zero: scale them before",
    )
    out: Path = Field(description="the folder for all that the run writes")
    n_ranks: int | None = Field(None, ge=2, le=10_000, description="labels are the ranks 1 to N")
    seed: int = Field(1, description="of learners that draw and have no seed of their own")
    format: Literal["jsonl", "csv", "parquet", "arrow"] | None = Field(
        None, description="jsonl, csv, parquet or arrow, if their names do not tell"
    )
    columns: Columns = Field(
        default_factory=Columns,
        description="which columns of a table are what, as in y=stars x=a,b id=user; "
        "without it y, id, ts and group are what they are called, and all others are features",
    )
    follow: bool = Field(False, description="wait for more at the end of a file")
    resume: bool = Field(False, description="go on from the latest snapshot in the folder")
    damaged: Literal["refuse", "older"] = Field(
        "refuse",
        description="a snapshot that cannot be trusted: refuse it, or take an older one",
    )
    delay: int = Field(
        0, ge=0, le=10_000_000, description="how many events may wait for a label that comes later"
    )
    speed: Speed = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="how much faster than it happened, as in 10x; else as fast as it can",
    )
    from_: Moment | None = Field(
        None, alias="from", description="leave out events before this time"
    )
    to: Moment | None = Field(None, description="leave out events after this time")
    max_events: int | None = Field(None, ge=1, description="stop after so many events")
    max_features: int = Field(
        100_000, ge=1, le=10_000_000, description="reject events that would bring more features"
    )
    max_reject_ratio: float = Field(
        1.0, ge=0, le=1, description="stop when a larger share of the records is rejected"
    )
    window: int = Field(
        5_000, ge=1, le=10_000_000, description="predictions that the recent loss is taken over"
    )
    snapshots: str | None = Field(
        None, description="where snapshots go: a folder or a URL (OUT/snapshots)"
    )
    snapshot_events: int | None = Field(None, ge=1, description="snapshot after so many events")
    snapshot_seconds: float | None = Field(
        30.0, gt=0, allow_inf_nan=False, description="snapshot after so many seconds"
    )
    keep: int = Field(5, ge=1, description="snapshots that are kept, beside the last of each day")
    json_: bool = Field(False, alias="json", description="print the summary as JSON")
    quiet: bool = Field(False, description="print the result only")

    def shown(self) -> dict[str, Any]:
        """As TOML and JSON say it."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def from_file(path: Path, model: type[BaseModel]) -> dict[str, Any]:
    """The settings in a TOML file."""
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    for name in found:
        if name not in _names(model):
            raise ConfigError(f"{path}: {unknown('setting', name, _names(model))}")
    return found


def from_environment(variables: MappingOf[str, str], model: type[BaseModel]) -> dict[str, Any]:
    """The settings in variables: STREAM_RANK_N_RANKS and so on."""
    known = {PREFIX + name.upper(): name for name in _names(model)}
    found = {}
    for variable, value in variables.items():
        if variable.startswith(PREFIX):
            if variable not in known:
                raise ConfigError(unknown("variable", variable, known))
            found[known[variable]] = value
    return found


def gather(
    flags: MappingOf[str, Any],
    file: Path | None = None,
    variables: MappingOf[str, str] | None = None,
) -> ReplayConfig:
    """The settings in force: flags before variables before the file before defaults."""
    model = ReplayConfig
    in_file = {} if file is None else from_file(file, model)
    in_variables = from_environment(os.environ if variables is None else variables, model)
    try:
        return model.model_validate({**in_file, **in_variables, **flags})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        place = ".".join(map(str, first["loc"]))
        flag = "a FILE" if name == "inputs" else f"--{name.replace('_', '-')}"
        if name == "learners":
            flag = "--learner"
        if name in in_variables and name not in flags:
            flag = f"variable {PREFIX}{name.upper()}"
        elif name in in_file and name not in flags:
            flag = f"{file}: {place}"
        if first["type"] == "missing":
            raise ConfigError(f"{flag} is needed: {model.model_fields[name].description}") from None
        if first["type"] == "extra_forbidden" and name == "columns":
            raise ConfigError(
                f"{flag}: {unknown('role', str(first['loc'][-1]), _names(Columns))}"
            ) from None
        if first["type"] == "value_error":  # its words are our own
            raise ConfigError(f"{flag}: {first['msg'].removeprefix('Value error, ')}") from None
        raise ConfigError(f"{flag}: {first['msg']}, not {first['input']!r}") from None
