"""A producer that retries what may succeed later."""

import math
import time
from collections.abc import Callable

from stream_rank.errors import MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.kafka.port import Producer, ProducerRecord

__all__ = ["RetryingProducer"]

_FLUSH_SECONDS = 5.0
"""For which one attempt to flush waits: between attempts it is looked whether a stop was requested."""
_SLICE = 0.1
"""Seconds of a back-off after which it is looked again."""


class RetryingProducer:
    """Retries with a back-off while messages are delivered now and then, unless a stop is requested, and says why it waits."""

    def __init__(
        self,
        producer: Producer,
        seconds: float,
        stop_requested: Callable[[], bool],
        say: Callable[[str], object],
    ) -> None:
        """`seconds` without a message delivered are too many."""
        self._producer, self._seconds = producer, seconds
        self._stop_requested, self._say = stop_requested, say

    def send(self, message: ProducerRecord) -> None:
        """Take a message, which is sent before `flush` returns."""
        self._retried(lambda: self._producer.send(message))

    def flush(self) -> None:
        """Wait until every message is delivered; the last error if that does not happen in time."""
        self._retried(lambda: self._producer.flush(_FLUSH_SECONDS))

    def _retried(self, attempt: Callable[[], None]) -> None:
        backoff: Backoff | None = None
        fewest, since = math.inf, time.monotonic()
        while True:
            try:
                attempt()
            except MessageTooLargeError:  # no retry makes it smaller
                raise
            except RetriableKafkaError as error:
                if (waiting := self._producer.waiting) < fewest:  # slow, but messages are delivered
                    fewest, since = waiting, time.monotonic()
                if self._stop_requested() or time.monotonic() - since > self._seconds:
                    raise
                backoff = backoff or Backoff("Kafka", self._say)
                self._sleep(backoff.failed(f"{error}; trying again"))
            else:
                if backoff is not None:
                    backoff.succeeded()
                return

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stop_requested() and (left := until - time.monotonic()) > 0:
            time.sleep(min(_SLICE, left))

    def close(self) -> None:
        """Close the client, also with messages that were not delivered."""
        self._producer.close()
