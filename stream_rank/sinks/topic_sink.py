"""A sink that sends items to a topic."""

from collections.abc import Callable
from typing import Generic, TypeVar

from stream_rank.errors import MessageTooLargeError
from stream_rank.ingest.kafka.port import Producer, ProducerRecord

__all__ = ["TopicSink"]

Item = TypeVar("Item")

_FLUSH_SECONDS = 5.0
"""Seconds that a snapshot waits for messages to be acknowledged; if that is too short, the snapshot is retried."""


class TopicSink(Generic[Item]):
    """One message per item, at least once: after a kill, those after the last mark are sent again. A mark is a number of messages."""

    unit = "messages"

    def __init__(
        self,
        producer: Producer,
        as_message: Callable[[Item], ProducerRecord],
        smaller: Callable[[ProducerRecord], ProducerRecord],
    ) -> None:
        """`smaller` clips a message that is too large for the broker, or raises an error if it cannot."""
        self._producer, self._as_message, self._smaller = producer, as_message, smaller
        self._mark = self.sent = 0
        """Messages sent by the run, and by this process."""
        self._too_large: list[ProducerRecord] = []

    def put(self, item: Item) -> None:
        """Send an item."""
        self._send(self._as_message(item))
        self._mark += 1
        self.sent += 1

    def push(self) -> None:
        """Send without waiting for acknowledgements."""
        self._producer.push()

    def flush(self) -> None:
        """Wait until all messages are acknowledged."""
        while True:
            while self._too_large:
                self._send(self._smaller(self._too_large[0]))
                del self._too_large[0]
            try:
                return self._producer.flush(_FLUSH_SECONDS)
            except MessageTooLargeError as error:
                self._too_large += error.messages

    def _send(self, message: ProducerRecord) -> None:
        while True:
            try:
                return self._producer.send(message)
            except (
                MessageTooLargeError
            ) as error:  # of earlier messages: send() flushes when its buffer is full
                self._too_large += error.messages

    def mark(self) -> int:
        """The number of messages sent by the run."""
        return self._mark

    def restore(self, mark: int | None) -> None:
        """Continue to count."""
        self._mark = mark or 0

    def close(self) -> None:
        """Close the producer."""
        self._producer.close()
