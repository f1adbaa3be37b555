"""Making one of kafka-python's clients, which looks for a broker at once."""

import logging
from collections.abc import Callable
from typing import Any

from kafka import errors as kafka
from kafka.net.compat import KafkaNetClient

from stream_rank.errors import ConfigError, FatalKafkaError
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python.client_settings import refused, settings_of
from stream_rank.ingest.kafka.kafka_python.options import known_by

__all__ = ["opened"]


class _Watch(logging.Handler):
    """Looks for refusals in what is logged on the way: the error in the end is only that time is up."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(logging.WARNING)
        self._connection = connection
        self.found: FatalKafkaError | None = None

    def emit(self, record: logging.LogRecord) -> None:
        for each in record.args or ():
            if isinstance(each, BaseException):
                self.found = refused(self._connection, each) or self.found


def opened(kind: Callable[..., Any], connection: Connection, **settings: Any) -> Any:
    """A client of a kind, or a `BrokerError` where brokers refuse us.

    A client that finds no broker leaves its thread and its sockets behind: they are closed here, since there is
    another one every few seconds for as long as there is no broker.
    """
    networks: list[Any] = []

    def network(**given: Any) -> Any:
        networks.append(KafkaNetClient(**given))
        return networks[-1]

    watch, log = _Watch(connection), logging.getLogger("kafka.net")
    log.addHandler(watch)
    try:
        given = {**settings_of(connection), **settings}
        given |= known_by(kind, connection.client_settings)
        return kind(**given, kafka_client=network)
    except BaseException as error:
        for each in networks:
            each.close()
        if isinstance(error, kafka.KafkaConfigurationError) and connection.client_settings:
            raise ConfigError(f"`kafka`: kafka-python: {error}") from error
        if isinstance(error, kafka.KafkaTimeoutError) and watch.found is not None:
            raise watch.found from error
        raise
    finally:
        log.removeHandler(watch)
