"""Validation of the settings that are passed on to confluent-kafka."""

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

import confluent_kafka as client
from confluent_kafka import KafkaError, KafkaException

from stream_rank.errors import ConfigError, unknown_name
from stream_rank.ingest.kafka.client_options import GUARANTEES, refuse_reserved
from stream_rank.ingest.kafka.confluent.option_names import ANY, CONSUMER, PRODUCER
from stream_rank.ingest.kafka.connection import Connection

__all__ = ["check", "for_consumer", "for_producer", "opened"]

_CLIENT = "confluent-kafka"
_OWN = {
    "bootstrap.servers": "`bootstrap_servers`",
    "metadata.broker.list": "`bootstrap_servers`",
    "security.protocol": "`security_protocol`",
    "ssl.ca.location": "`ssl_ca_location`",
    "ssl.certificate.location": "`ssl_certificate_location`",
    "ssl.key.location": "`ssl_key_location`",
    "sasl.mechanism": "`sasl_mechanism`",
    "sasl.mechanisms": "`sasl_mechanism`",
    "sasl.username": "`sasl_username`",
    "sasl.password": "`sasl_password`",
    "oauth_cb": "`sasl_oauth_token_file`",
    "group.id": "`group_id`",
    "group.protocol": "`group_protocol`",
    "session.timeout.ms": "`session_timeout_seconds`",
    "auto.offset.reset": "`start` and `on_lost_offsets`",
}
_FIXED = GUARANTEES | {
    "request.required.acks": GUARANTEES["acks"],
    "message.send.max.retries": GUARANTEES["retries"],
    "message.timeout.ms": GUARANTEES["delivery.timeout.ms"],
    "delivery.report.only.error": "messages are kept until their delivery is reported",
    "enable.auto.offset.store": GUARANTEES["enable.auto.commit"],
    "offset.store.method": GUARANTEES["enable.auto.commit"],
    "offset.store.path": GUARANTEES["enable.auto.commit"],
    "enable.partition.eof": "it reports how far a partition was read",
    "queuing.strategy": "messages must be sent in their order",
    "statistics.interval.ms": "it tells how long ago a broker answered",
    "logger": "what the client logs goes into the daemon's log",
}
_UNKNOWN = re.compile(r'No such configuration property: "([^"]*)"')
_SILENT = logging.getLogger("confluent.check")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


def check(given: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for what the client refuses on construction, which needs no broker."""
    refuse_reserved(_CLIENT, given, _OWN, _FIXED)
    for name in given:
        if name.endswith("_cb") or name == "default.topic.config":
            raise ConfigError(f"{name!r} of {_CLIENT} is a Python object, and cannot be set")
    try:
        # librdkafka validates the names of consumers and producers alike, in either
        client.Producer({**given, "logger": _SILENT, "log_level": 0})
    except KafkaException as error:
        message = error.args[0].str()
        unknown = _UNKNOWN.search(message)
        if unknown is None:
            raise ConfigError(f"{_CLIENT}: {message.strip()}") from None
        near = [name for name in (*ANY, *CONSUMER, *PRODUCER) if name not in {*_OWN, *_FIXED}]
        raise ConfigError(unknown_name(f"setting of {_CLIENT}", unknown[1], near)) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{_CLIENT}: {error}") from None


def for_consumer(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for a consumer, which would log a warning about a producer's."""
    return {name: value for name, value in given.items() if name not in PRODUCER}


def for_producer(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for a producer."""
    return {name: value for name, value in given.items() if name not in CONSUMER}


def opened(kind: Callable[..., Any], connection: Connection, settings: Mapping[str, Any]) -> Any:
    """A client of this class; raises `ConfigError` if the passed settings conflict with others."""
    try:
        return kind(settings)
    except KafkaException as error:
        reason = error.args[0]
        if connection.client_settings and reason.code() == KafkaError._INVALID_ARG:
            raise ConfigError(f"`kafka`: {_CLIENT}: {reason.str().strip()}") from error
        raise
