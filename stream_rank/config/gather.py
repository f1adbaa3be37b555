"""Gathering settings from flags, environment variables and a TOML file."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from stream_rank.config.daemon import DaemonConfig, DeadLettersConfig, ProduceConfig
from stream_rank.config.fields import Fields
from stream_rank.config.replay import ReplayConfig
from stream_rank.config.rollback import RollbackConfig
from stream_rank.config.spark import SparkConfig
from stream_rank.config.synonyms import SYNONYMS
from stream_rank.errors import ConfigError, unknown_name
from stream_rank.printable import shortened

__all__ = ["PREFIX", "gather"]

Config = TypeVar("Config", bound=BaseModel)

PREFIX = "STREAM_RANK_"
"""The prefix of environment variables with settings."""
_SHOWN = 80
"""Characters of a value that are shown."""
_SECRETS = ("sasl_password", "schema_registry_login")
_KUBERNETES_SERVICE = re.compile(r"STREAM_RANK_(SERVICE_(HOST|PORT)|PORT_\d+_|PORT=\w+://)")
"""Variables that Kubernetes sets in pods for a service named stream-rank."""


_ALSO_ALLOWED: dict[type[BaseModel], tuple[type[BaseModel], ...]] = {
    ProduceConfig: (DaemonConfig,),
    DeadLettersConfig: (DaemonConfig,),
    RollbackConfig: (DaemonConfig, ReplayConfig),
}
"""Other models whose settings a command's file may contain, so that the daemon's file can be used."""
_ALL: tuple[type[BaseModel], ...] = (
    *(ReplayConfig, DaemonConfig, DeadLettersConfig, ProduceConfig),
    SparkConfig,
)
"""All models: a variable may belong to another command."""


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def from_file(path: Path, model: type[BaseModel]) -> dict[str, Any]:
    """The settings in a TOML file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # for example NUL in the path
        raise ConfigError(f"{str(path)!r} cannot be read: {error}") from None
    try:
        found = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    known = _names(model)
    also_allowed = {name for other in _ALSO_ALLOWED.get(model, ()) for name in _names(other)}
    for name in found:
        if name not in known and name not in also_allowed:
            raise ConfigError(
                f"{path}: {unknown_name('setting', name, [*known, *also_allowed], SYNONYMS)}"
            )
    return {name: value for name, value in found.items() if name in known}


def from_environment(variables: Mapping[str, str], model: type[BaseModel]) -> dict[str, Any]:
    """The settings in environment variables: STREAM_RANK_N_RANKS and so on."""
    known = {PREFIX + name.upper(): name for each in _ALL for name in _names(each)}
    synonyms = {PREFIX + name.upper(): PREFIX + ours.upper() for name, ours in SYNONYMS.items()}
    found = {}
    for variable, value in variables.items():
        if variable.startswith(PREFIX) and not _KUBERNETES_SERVICE.match(f"{variable}={value}"):
            if variable not in known:
                raise ConfigError(unknown_name("variable", variable, known, synonyms))
            if known[variable] in _names(model):
                found[known[variable]] = value
    return found


def gather(
    model: type[Config],
    flags: Mapping[str, Any],
    file: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Config:
    """The effective settings: flags take precedence over variables, the file and defaults."""
    in_file = {} if file is None else from_file(file, model)
    in_variables = from_environment(os.environ if variables is None else variables, model)
    try:
        return model.model_validate({**in_file, **in_variables, **flags})
    except ValidationError as error:
        said = _sentence(error, model, flags, in_variables, in_file, file)
        raise ConfigError(shortened(said)) from None


def _sentence(
    error: ValidationError,
    model: type[BaseModel],
    flags: Mapping[str, Any],
    in_variables: Mapping[str, Any],
    in_file: Mapping[str, Any],
    file: Path | None,
) -> str:
    """A message about the first invalid setting, and where it was given."""
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:  # from a validator of several settings
        return message
    name = str(first["loc"][0])
    where = f"`{name}`"
    if name not in flags and name in in_variables:
        where = f"variable {PREFIX}{name.upper()}"
    elif name not in flags and name in in_file:
        where = f"{file}: {'.'.join(map(str, first['loc']))}"
    if first["type"] == "missing":
        return f"{where} is needed: {model.model_fields[name].description}"
    if first["type"] == "extra_forbidden" and name == "fields":
        return f"{where}: {unknown_name('role', str(first['loc'][-1]), _names(Fields))}"
    if first["type"] == "value_error":  # raised by our own validators
        return f"{where}: {message}"
    given = repr(first["input"])
    given = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}..."
    return f"{where}: {message}" + ("" if name in _SECRETS else f", not {given}")
