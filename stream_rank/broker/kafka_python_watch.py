"""Why kafka-python found no broker: it only logs it."""

import logging
from typing import Any

from kafka import errors as kafka

from stream_rank.broker.connection import Connection
from stream_rank.errors import BrokerError

__all__ = ["Watch"]


class Watch(logging.Handler):
    """Finds out why no broker was found: the client itself only logs it.

    A broker that does not know who asks says so and hangs up, and the client, which reads both at once, keeps the latter
    alone. So where brokers answer, and do nothing but hang up while we say who we are, they refuse us.
    """

    _HUNG_UP, _ENOUGH = "socket disconnected", 2
    _CERTIFICATE = "certificate verify failed"

    def __init__(self, connection: Connection) -> None:
        super().__init__(logging.WARNING)
        self._connection = connection
        self._hung_up, self._others, self._certificate = 0, 0, ""

    def emit(self, record: logging.LogRecord) -> None:
        """Take what the client logs."""
        said = record.getMessage().lower()
        if self._CERTIFICATE in said:
            self._certificate = record.getMessage()
        if "connection lost" in said or "connection failed" in said:
            if self._HUNG_UP in said:
                self._hung_up += 1
            else:
                self._others += 1

    def __enter__(self) -> None:
        """Several times, if nothing but hanging up was seen before: one try may be too short for a second."""
        if self._others or self._certificate:
            self._hung_up, self._others, self._certificate = 0, 0, ""
        logging.getLogger("kafka.net").addHandler(self)

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        logging.getLogger("kafka.net").removeHandler(self)
        if not isinstance(error, kafka.KafkaTimeoutError):
            return
        where, who = self._connection.described, self._connection.username
        if self._certificate:
            raise BrokerError(f"Kafka at {where} is not trusted: {self._certificate}") from error
        if self._connection.sasl and self._hung_up >= self._ENOUGH and not self._others:
            raise BrokerError(
                f"Kafka at {where} refuses: authentication failed, or so it seems, for it hangs up while "
                f"{who or 'a token'} logs in by {self._connection.sasl}; check username, password and mechanism"
            ) from error
