"""Why kafka-python found no broker: it only logs it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import errors as kafka

from stream_rank.broker.connection import Connection
from stream_rank.broker.kafka_python.connecting import REFUSALS
from stream_rank.errors import BrokerError

__all__ = ["watched"]

_CERTIFICATE = "certificate verify failed"


class _Watch(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.why = ""

    def emit(self, record: logging.LogRecord) -> None:
        refusals = [each for each in record.args or () if isinstance(each, REFUSALS)]
        if refusals:
            self.why = f"refuses: {refusals[0]}"
        elif _CERTIFICATE in record.getMessage().lower():
            self.why = f"is not trusted: {record.getMessage()}"


@contextmanager
def watched(connection: Connection) -> Iterator[None]:
    """Make a client in here: where brokers refuse us, that is a `BrokerError`, and not that time is up."""
    watch, log = _Watch(), logging.getLogger("kafka.net")
    log.addHandler(watch)
    try:
        yield
    except kafka.KafkaTimeoutError as error:
        if not watch.why:
            raise
        who = f"; we log in as {connection.username}" if connection.username else ""
        raise BrokerError(f"Kafka at {connection.described} {watch.why}{who}") from error
    finally:
        log.removeHandler(watch)
