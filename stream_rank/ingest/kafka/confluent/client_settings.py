"""Connection settings of confluent-kafka, and the translation of its errors."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from stream_rank.errors import FatalKafkaError, RetriableKafkaError
from stream_rank.ingest.kafka.connection import Connection

__all__ = [
    "LARGEST_REQUEST",
    "METADATA_MS",
    "PATIENCE",
    "REFUSALS",
    "as_ours",
    "settings_of",
    "translated",
]

PATIENCE = 5.0
"""Seconds that a request to a broker may take."""
METADATA_MS = 10_000
"""Milliseconds until new topics and partitions are discovered; a topic still unknown then does not exist."""
LARGEST_REQUEST = 200_000_000
"""Larger than any broker accepts: the limit is left to the broker."""
REFUSALS = {
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError._SSL,
    KafkaError._INVALID_ARG,
    KafkaError._UNSUPPORTED_FEATURE,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError.UNSUPPORTED_VERSION,
    KafkaError._FATAL,
}
"""Errors that retrying does not help."""
_LOG = logging.getLogger("confluent")
_LOG.addHandler(logging.NullHandler())
_TOKEN_SECONDS = 300.0
"""Seconds after which the token file is read again."""


def settings_of(connection: Connection) -> dict[str, Any]:
    """Settings of both consumers and producers."""
    settings: dict[str, Any] = {
        "bootstrap.servers": ",".join(connection.bootstrap_servers),
        "security.protocol": connection.security_protocol,
        "client.id": "stream-rank",
        "topic.metadata.refresh.interval.ms": METADATA_MS,
        "reconnect.backoff.max.ms": 5_000,
        "log_level": 4,
        "logger": _LOG,
    }
    paths = {
        "ssl.ca.location": connection.ssl_ca_location,
        "ssl.certificate.location": connection.ssl_certificate_location,
        "ssl.key.location": connection.ssl_key_location,
    }
    settings |= {name: str(path) for name, path in paths.items() if path is not None}
    if connection.sasl_mechanism:
        settings["sasl.mechanism"] = connection.sasl_mechanism
        path = connection.sasl_oauth_token_file
        if path is not None:
            settings["oauth_cb"] = lambda _: (
                path.read_text().strip(),
                time.time() + _TOKEN_SECONDS,
            )
        else:
            settings["sasl.username"] = connection.sasl_username
            settings["sasl.password"] = connection.sasl_password
    return settings


@contextmanager
def translated(connection: Connection) -> Iterator[None]:
    """Raise the client's errors as the port's, fatal or retriable."""
    try:
        yield
    except KafkaException as error:
        raise as_ours(connection, error.args[0]) from error


def as_ours(connection: Connection, error: Any) -> FatalKafkaError | RetriableKafkaError:
    """The port's error for the client's."""
    if error.code() in REFUSALS or error.fatal():
        return FatalKafkaError(f"Kafka at {connection.described} refuses: {error.str()}")
    return RetriableKafkaError(f"Kafka at {connection.described}: {error.str()}")
