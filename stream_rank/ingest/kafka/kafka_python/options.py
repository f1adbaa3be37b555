"""Validation of the settings that are passed on to kafka-python."""

from collections.abc import Callable, Mapping
from typing import Any

from kafka import KafkaConsumer, KafkaProducer

from stream_rank.errors import ConfigError, unknown_name
from stream_rank.ingest.kafka.client_options import GUARANTEES, refuse_reserved

__all__ = ["check", "known_by"]

_CLIENT = "kafka-python"
_OWN = {
    "bootstrap_servers": "`bootstrap_servers`",
    "security_protocol": "`security_protocol`",
    "ssl_cafile": "`ssl_ca_location`",
    "ssl_certfile": "`ssl_certificate_location`",
    "ssl_keyfile": "`ssl_key_location`",
    "sasl_mechanism": "`sasl_mechanism`",
    "sasl_plain_username": "`sasl_username`",
    "sasl_plain_password": "`sasl_password`",
    "sasl_oauth_token_provider": "`sasl_oauth_token_file`",
    "group_id": "`group_id`",
    "session_timeout_ms": "`session_timeout_seconds`",
    "auto_offset_reset": "`start` and `on_lost_offsets`",
}
_FIXED = {name.replace(".", "_"): reason for name, reason in GUARANTEES.items()} | {
    "max_block_ms": "an unreachable broker must not block the loop for long",
}
_OBJECTS = {"api_version", "ssl_context"}
"""Settings that take objects; their default, None, does not show it."""


def check(given: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for a name that neither consumer nor producer knows, or a value of the wrong type."""
    defaults = {**KafkaConsumer.DEFAULT_CONFIG, **KafkaProducer.DEFAULT_CONFIG}
    refuse_reserved(_CLIENT, given, _OWN, _FIXED)
    plain = {name for name, default in defaults.items() if _is_plain(name, default)}
    for name, value in given.items():
        if name not in defaults:
            near = plain - set(_OWN) - set(_FIXED)
            raise ConfigError(unknown_name(f"setting of {_CLIENT}", name, sorted(near)))
        if name not in plain:
            raise ConfigError(f"{name!r} of {_CLIENT} is a Python object, and cannot be set")
        _check_type(name, value, defaults[name])


def _is_plain(name: str, default: Any) -> bool:
    """Whether TOML can express the value; other settings take Python objects."""
    if name in _OBJECTS or name.endswith("serializer"):
        return False
    return default is None or isinstance(default, bool | int | float | str)


def _check_type(name: str, value: Any, default: Any) -> None:
    kinds: dict[type, tuple[str, tuple[type, ...]]] = {
        bool: ("true or false", (bool,)),
        int: ("a whole number", (int,)),
        float: ("a number", (int, float)),
        str: ("text", (str,)),
    }
    if default is None:
        return
    wanted, types = kinds[type(default)]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ConfigError(f"{name!r} of {_CLIENT} is {wanted}, not {value!r}")


def known_by(kind: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that this class knows: consumer and producer refuse each other's."""
    known: Mapping[str, Any] = getattr(kind, "DEFAULT_CONFIG", {})
    return {name: value for name, value in given.items() if name in known}
