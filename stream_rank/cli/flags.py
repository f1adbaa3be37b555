"""Command-line flags, generated from the settings."""

import argparse
import typing
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from stream_rank.config.gather import Config, gather

__all__ = ["add_fields", "add_settings", "settings"]

_REPEATED = {
    "learners": "--learner",
    "topics": "--topic",
    "allow_imports": "--allow-import",
    "kafka": "--kafka",
    "spark": "--spark",
    "categories": "--category",
    "na_values": "--na-value",
    "skip": "--skip",
}
"""Settings of several values: their flags are repeated, one value each."""
_METAVARS = {"kafka": "KEY=VALUE", "spark": "KEY=VALUE"}


def _is_secret(annotation: Any) -> bool:
    return annotation is SecretStr or SecretStr in typing.get_args(annotation)


def _choices(annotation: Any) -> list[str]:
    """The allowed values of a `Literal` setting."""
    if typing.get_origin(annotation) is typing.Literal:
        return [str(value) for value in typing.get_args(annotation)]
    return [value for part in typing.get_args(annotation) for value in _choices(part)]


def _metavar(name: str, flag: str, annotation: Any) -> str:
    if name in _METAVARS:
        return _METAVARS[name]
    choices = _choices(annotation)
    return f"{{{','.join(choices)}}}" if choices else flag.strip("-").upper().replace("-", "_")


def add_settings(
    parser: argparse.ArgumentParser, model: type[BaseModel], separate: Collection[str] = ()
) -> None:
    """Add a flag for every setting, except `separate` ones and secrets, since other users can see flags."""
    for name, field in model.model_fields.items():
        shown = field.alias or name
        if shown in separate or _is_secret(field.annotation):
            continue
        flag = _REPEATED.get(shown, f"--{shown.replace('_', '-')}")
        described = str(field.description).replace("%", "%%")
        if shown == "fields":
            add_fields(parser, described)
            continue
        if field.annotation is bool:
            parser.add_argument(
                flag, dest=shown, action="store_true", default=argparse.SUPPRESS, help=described
            )
            continue
        default = field.get_default(call_default_factory=True)
        if default not in (None, {}) and not field.is_required():
            default = ", ".join(default) if isinstance(default, list) else default
            described += f" ({default})".replace("%", "%%")
        parser.add_argument(
            flag,
            dest=shown,
            action="append" if shown in _REPEATED else "store",
            default=argparse.SUPPRESS,
            metavar=_metavar(shown, flag, field.annotation),
            help=described,
        )
    parser.add_argument("--config", type=Path, help="a TOML file of settings")
    parser.add_argument(
        "--print-config", action="store_true", help="print the effective settings as JSON, and exit"
    )


def add_fields(parser: argparse.ArgumentParser, described: str) -> None:
    """Add the flag of fields by role, which takes several values."""
    parser.add_argument(
        "--fields", nargs="+", default=argparse.SUPPRESS, metavar="ROLE=FIELD", help=described
    )


def settings(
    model: type[Config], given: argparse.Namespace, others: Collection[str] = ()
) -> Config:
    """The effective settings; `others` are arguments of the command that are not settings."""
    flags = dict(vars(given))
    for name in ("command", "run", "flag_names", "print_config", *others):
        flags.pop(name, None)
    file = flags.pop("config")
    return gather(model, flags, file)
