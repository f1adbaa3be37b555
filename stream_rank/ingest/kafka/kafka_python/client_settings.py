"""Connection settings of kafka-python, and the translation of its errors."""

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka import errors as kafka
from kafka.net.sasl.oauth import AbstractTokenProvider

from stream_rank.errors import FatalKafkaError, RetriableKafkaError
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python.final_response import listen_to_the_end

__all__ = ["PATIENCE_MS", "refused", "settings_of", "translated"]

PATIENCE_MS = 5_000
"""Milliseconds that a request to a broker may take."""
_METADATA_MS = 10_000
"""Milliseconds until new topics and partitions are discovered."""
_REFUSALS = (
    kafka.SaslAuthenticationFailedError,
    kafka.UnsupportedSaslMechanismError,
    kafka.IllegalSaslStateError,
    kafka.AuthorizationError,
    kafka.KafkaConfigurationError,
    kafka.UnsupportedCodecError,
    kafka.UnsupportedVersionError,
    kafka.FencedInstanceIdError,
    ssl.SSLError,
)
"""Errors that retrying does not help ..."""
_HANGING_UP = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""... except these, which also occur when a broker is shutting down."""
logging.getLogger("kafka").addHandler(logging.NullHandler())
listen_to_the_end()


class _Token(AbstractTokenProvider):
    def __init__(self, path: Path) -> None:
        self._path = path

    def token(self) -> str:
        return self._path.read_text().strip()


def settings_of(connection: Connection) -> dict[str, Any]:
    """Settings of both consumers and producers."""
    settings: dict[str, Any] = {
        "bootstrap_servers": list(connection.bootstrap_servers),
        "bootstrap_timeout_ms": PATIENCE_MS,
        "security_protocol": connection.security_protocol,
        "metadata_max_age_ms": _METADATA_MS,
        "client_id": "stream-rank",
        "metrics_enabled": False,
        "reconnect_backoff_max_ms": PATIENCE_MS,
    }
    paths = {
        "ssl_cafile": connection.ssl_ca_location,
        "ssl_certfile": connection.ssl_certificate_location,
        "ssl_keyfile": connection.ssl_key_location,
    }
    settings |= {name: str(path) for name, path in paths.items() if path is not None}
    if connection.sasl_mechanism:
        settings["sasl_mechanism"] = connection.sasl_mechanism
        if connection.sasl_oauth_token_file is not None:
            settings["sasl_oauth_token_provider"] = _Token(connection.sasl_oauth_token_file)
        else:
            settings["sasl_plain_username"] = connection.sasl_username
            settings["sasl_plain_password"] = connection.sasl_password
    return settings


def refused(connection: Connection, error: BaseException) -> FatalKafkaError | None:
    """A `FatalKafkaError` if the error, or its cause, is one that retrying does not help."""
    where = f"Kafka at {connection.described}"
    for each in (error, error.__cause__, error.__context__, *error.args):
        if not isinstance(each, _REFUSALS) or isinstance(each, _HANGING_UP):
            continue
        if isinstance(each, ssl.SSLCertVerificationError):
            return FatalKafkaError(f"{where} is not trusted: {each}; see `ssl_ca_location`")
        if isinstance(each, ssl.SSLError):
            return FatalKafkaError(
                f"no TLS with {where}: {each}; see `security_protocol`, `ssl_certificate_location` and `ssl_key_location`"
            )
        who = f"; we log in as {connection.sasl_username}" if connection.sasl_username else ""
        return FatalKafkaError(f"{where} refuses: {each}{who}")
    return None


@contextmanager
def translated(connection: Connection) -> Iterator[None]:
    """Raise the client's errors as the port's, fatal or retriable."""
    try:
        yield
    except (kafka.KafkaError, OSError) as error:
        fatal = refused(connection, error)
        retriable = RetriableKafkaError(f"Kafka at {connection.described}: {error}")
        raise fatal or retriable from error
