"""A topic that items are sent to."""

from collections.abc import Callable
from typing import Generic, TypeVar

from stream_rank.errors import MessageTooLargeError
from stream_rank.ingest.kafka.port import Producer, ProducerRecord

__all__ = ["TopicSink"]

Item = TypeVar("Item")

_FLUSH_SECONDS = 5.0
"""For which a snapshot waits for the messages that it passes; it is tried again where that is too short."""


class TopicSink(Generic[Item]):
    """A message for every item. A mark is a number of messages; after a kill, those after the last one come twice."""

    def __init__(
        self,
        producer: Producer,
        as_message: Callable[[Item], ProducerRecord],
        smaller: Callable[[ProducerRecord], ProducerRecord],
    ) -> None:
        """`smaller` makes less of a message that is too large for the broker, or raises an error that says so."""
        self._producer, self._as_message, self._smaller = producer, as_message, smaller
        self._mark = self.sent = 0
        """Messages of the run, and of this process."""
        self._too_large: list[ProducerRecord] = []

    def put(self, item: Item) -> None:
        """Send an item."""
        self._send(self._as_message(item))
        self._mark += 1
        self.sent += 1

    def flush(self) -> None:
        """Make sure that all messages are with the broker."""
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
            except MessageTooLargeError as error:  # of those before, for which there was no room
                self._too_large += error.messages

    def mark(self) -> int:
        """How many messages there were."""
        return self._mark

    def restore(self, mark: int) -> None:
        """Count on."""
        self._mark = mark

    def close(self) -> None:
        """Let go of the broker."""
        self._producer.close()
