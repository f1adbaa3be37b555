"""Sending through what passes by itself."""

import math
import time
from collections.abc import Callable

from stream_rank.errors import MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.port import Producer, ProducerRecord

__all__ = ["RetryingProducer"]

_MOMENT = 5.0
"""Seconds that a flush is given: whoever wants us to stop, or to know what we wait for, waits no longer."""
_REST = 0.1
"""Seconds between two attempts, lest errors that come at once come without end."""


class RetryingProducer:
    """A producer that tries again while anything is sent within so many seconds, unless it is told to stop, and says why."""

    def __init__(
        self,
        producer: Producer,
        seconds: float,
        stop_requested: Callable[[], bool],
        say: Callable[[str], object],
    ) -> None:
        self._producer, self._seconds = producer, seconds
        self._to_stop, self._say = stop_requested, say

    def send(self, message: ProducerRecord) -> None:
        """Take it, to be sent at some time before `flush` is through."""
        self._through(lambda: self._producer.send(message))

    def flush(self) -> None:
        """Wait until everything is with the brokers; the trouble itself where it does not pass."""
        self._through(lambda: self._producer.flush(_MOMENT))

    def _through(self, attempt: Callable[[], None]) -> None:
        least, since, said = math.inf, time.monotonic(), ""
        while True:
            try:
                return attempt()
            except MessageTooLargeError:  # which no waiting mends
                raise
            except RetriableKafkaError as trouble:
                if (waiting := self._producer.waiting) < least:  # slow, but it goes on
                    least, since = waiting, time.monotonic()
                if self._to_stop() or time.monotonic() - since > self._seconds:
                    raise
                if str(trouble) != said:
                    said = str(trouble)
                    self._say(f"{said}; trying again")
                time.sleep(_REST)

    def close(self) -> None:
        """Let go, also of what was not flushed."""
        self._producer.close()
