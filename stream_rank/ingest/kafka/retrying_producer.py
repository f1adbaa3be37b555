"""A producer that retries retriable errors."""

import math
import time
from collections.abc import Callable

from stream_rank.errors import MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.port import Producer, ProducerRecord

__all__ = ["RetryingProducer"]

_FLUSH_SECONDS = 5.0
"""Seconds of one flush attempt: stop requests and errors are handled at least this often."""
_RETRY_SECONDS = 0.1
"""Seconds between two attempts, against a busy loop on errors that return at once."""


class RetryingProducer:
    """Retries until no message was acknowledged for `seconds`, or a stop is requested; `say` gets every new reason."""

    def __init__(
        self,
        producer: Producer,
        seconds: float,
        stop_requested: Callable[[], bool],
        say: Callable[[str], object],
    ) -> None:
        self._producer, self._seconds = producer, seconds
        self._stop_requested, self._say = stop_requested, say

    def send(self, message: ProducerRecord) -> None:
        """Accept a message, to be sent before `flush` returns."""
        self._retried(lambda: self._producer.send(message))

    def flush(self) -> None:
        """Wait until all messages are acknowledged; raises the last error when retrying ends."""
        self._retried(lambda: self._producer.flush(_FLUSH_SECONDS))

    def _retried(self, attempt: Callable[[], None]) -> None:
        least, since, reported = math.inf, time.monotonic(), ""
        while True:
            try:
                return attempt()
            except MessageTooLargeError:  # retrying does not help
                raise
            except RetriableKafkaError as error:
                if (
                    waiting := self._producer.waiting
                ) < least:  # slow, but messages are acknowledged
                    least, since = waiting, time.monotonic()
                if self._stop_requested() or time.monotonic() - since > self._seconds:
                    raise
                if str(error) != reported:
                    reported = str(error)
                    self._say(f"{reported}; trying again")
                time.sleep(_RETRY_SECONDS)

    def close(self) -> None:
        """Close the producer; messages that were not flushed are dropped."""
        self._producer.close()
