"""Opening a kafka-python client, whose constructor connects to a broker."""

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
    """Finds refusals in the client's log: the exception that it raises is only a timeout."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(logging.WARNING)
        self._connection = connection
        self.found: FatalKafkaError | None = None

    def emit(self, record: logging.LogRecord) -> None:
        for each in record.args or ():
            if isinstance(each, BaseException):
                self.found = refused(self._connection, each) or self.found


def _note_answers(manager: Any, heard: Callable[[], object]) -> None:
    """Patch a client's connections to call `heard` for whatever a broker sends: it counts nothing of it but with its metrics on,
    and their time is of requests, not of answers."""
    connect = manager.get_connection

    def get_connection(*args: Any, **given: Any) -> Any:
        connection = connect(*args, **given)
        if "data_received" not in vars(connection):
            received = connection.data_received

            def data_received(data: Any) -> None:
                heard()
                received(data)

            connection.data_received = data_received
        return connection

    manager.get_connection = get_connection


def opened(
    kind: Callable[..., Any],
    connection: Connection,
    heard: Callable[[], object] | None = None,
    **settings: Any,
) -> Any:
    """A client of this class; raises `FatalKafkaError` if brokers refuse the connection. `heard` is called, on the client's thread,
    for whatever a broker sends.

    A constructor that finds no broker leaks its thread and its sockets: they are closed here, since it is called again every
    few seconds while no broker is reachable.
    """
    networks: list[Any] = []

    def network(**given: Any) -> Any:
        networks.append(KafkaNetClient(**given))
        # KafkaNetClient drops this setting, and every request for metadata would make the topics that it names
        creates = given.get("allow_auto_create_topics", True)
        networks[-1].cluster.config["allow_auto_create_topics"] = creates
        if heard is not None:
            _note_answers(networks[-1]._manager, heard)  # noqa: SLF001 - it has no public name in kafka-python
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
