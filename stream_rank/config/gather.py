"""From flags, variables and a file to settings."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from stream_rank.config.daemon import DaemonConfig, DeadLettersConfig, ProduceConfig
from stream_rank.config.replay import Columns, ReplayConfig
from stream_rank.errors import ConfigError, unknown_name

__all__ = ["PREFIX", "gather"]

Config = TypeVar("Config", bound=BaseModel)

PREFIX = "STREAM_RANK_"
"""Of the variables that hold settings."""
_OF_KUBERNETES = re.compile(r"STREAM_RANK_(SERVICE_(HOST|PORT)|PORT_\d+_|PORT=\w+://)")
"""Variables that pods get of a service that is named as we are."""


_BESIDE: dict[type[BaseModel], tuple[type[BaseModel], ...]] = {
    ProduceConfig: (DaemonConfig,),
    DeadLettersConfig: (DaemonConfig,),
}
"""Whose settings may stand in a file beside a command's own, so that the daemon's file will do."""
_ALL: tuple[type[BaseModel], ...] = (ReplayConfig, DaemonConfig, DeadLettersConfig, ProduceConfig)
"""Variables are for all commands that are run with them."""


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
    known = _names(model)
    beside = {name for other in _BESIDE.get(model, ()) for name in _names(other)}
    for name in found:
        if name not in known and name not in beside:
            raise ConfigError(f"{path}: {unknown_name('setting', name, [*known, *beside])}")
    return {name: value for name, value in found.items() if name in known}


def from_environment(variables: Mapping[str, str], model: type[BaseModel]) -> dict[str, Any]:
    """The settings in variables: STREAM_RANK_N_RANKS and so on."""
    known = {PREFIX + name.upper(): name for each in _ALL for name in _names(each)}
    found = {}
    for variable, value in variables.items():
        if variable.startswith(PREFIX) and not _OF_KUBERNETES.match(f"{variable}={value}"):
            if variable not in known:
                raise ConfigError(unknown_name("variable", variable, known))
            if known[variable] in _names(model):
                found[known[variable]] = value
    return found


def gather(
    model: type[Config],
    flags: Mapping[str, Any],
    file: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Config:
    """The settings in force: flags before variables before the file before defaults."""
    in_file = {} if file is None else from_file(file, model)
    in_variables = from_environment(os.environ if variables is None else variables, model)
    try:
        return model.model_validate({**in_file, **in_variables, **flags})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if not first["loc"]:  # of settings that do not go together
            raise ConfigError(first["msg"].removeprefix("Value error, ")) from None
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
                f"{flag}: {unknown_name('role', str(first['loc'][-1]), _names(Columns))}"
            ) from None
        if first["type"] == "value_error":  # its words are our own
            raise ConfigError(f"{flag}: {first['msg'].removeprefix('Value error, ')}") from None
        given = "" if name == "password" else f", not {first['input']!r}"
        raise ConfigError(f"{flag}: {first['msg']}{given}") from None
