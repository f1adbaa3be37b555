"""Messages sent by confluent-kafka."""

import time
from collections import deque
from itertools import count
from typing import Any, NamedTuple

import confluent_kafka as client
from confluent_kafka import KafkaError, KafkaException

from stream_rank.errors import FatalKafkaError, MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.confluent.client_settings import (
    LARGEST_REQUEST,
    METADATA_MS,
    PATIENCE,
    REFUSALS,
    as_ours,
    settings_of,
    translated,
)
from stream_rank.ingest.kafka.confluent.options import for_producer, opened
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord

__all__ = ["ConfluentProducer"]

_NO_TOPIC = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)
_BATCH = 1 << 17
"""Bytes, an eighth of what topics take that nobody set a limit for."""
_MOST_BYTES = 1 << 26
"""Bytes that wait here at most, behind what failed, before there is no room."""
_OVERHEAD = 500
"""Bytes that a message takes here beside its value and its key, about."""
_REST = 0.1
"""Seconds between two attempts at what fails at once."""


class _Numbered(NamedTuple):
    """A message, and when it was sent: after all of lower numbers."""

    number: int
    message: ProducerRecord


class ConfluentProducer:
    """A `Producer` by confluent-kafka. What comes after a message that failed waits here, and does not overtake it.

    A broker that finds a batch too large refuses all that is in it, and takes smaller ones behind it. So batches are
    not as large as they might be, and from the first that was refused on, each message is a batch of its own.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers = count()
        self._failed: list[tuple[_Numbered, Any]] = []
        self._behind: deque[_Numbered] = deque()
        self._bytes = 0
        self._refused: Any = None
        self._alone = False
        self._client = self._opened()

    def _opened(self) -> Any:
        settings = {
            **settings_of(self._connection),
            "enable.idempotence": True,
            "linger.ms": 10,
            "batch.size": _BATCH,
            "message.max.bytes": LARGEST_REQUEST,
            "message.timeout.ms": 0,  # none: whoever flushes says how long
            "topic.metadata.propagation.max.ms": METADATA_MS,
            "partitioner": "murmur2_random",  # as Java's and kafka-python's, so that keys stay together
            "error_cb": self._on_error,
            **for_producer(self._connection.client_settings),
        }
        if self._alone:
            settings["batch.num.messages"] = 1
        with translated(self._connection):
            return opened(client.Producer, self._connection, settings)

    def _on_error(self, error: Any) -> None:
        if error.code() in REFUSALS:
            self._refused = error

    @property
    def waiting(self) -> int:
        """Messages that were taken, and are not with the brokers yet."""
        return len(self._client) + len(self._failed) + len(self._behind)

    def send(self, message: ProducerRecord) -> None:
        """Take it, to be sent at some time before `flush` is through."""
        self._client.poll(0)
        if (self._failed or self._behind) and self._bytes >= _MOST_BYTES:
            self.flush(PATIENCE)
        numbered, until = _Numbered(next(self._numbers), message), time.monotonic() + PATIENCE
        while not (self._failed or self._behind):
            try:
                self._produce(numbered)
                return
            except BufferError:  # its queue is full
                self._look_for_refusal()
                if time.monotonic() > until:
                    raise self._not_yet() from None
                self._client.poll(_REST)
        self._bytes += _size(message)
        self._behind.append(numbered)

    def _produce(self, numbered: _Numbered) -> None:
        def done(error: Any, _: Any) -> None:
            if error is not None:
                self._failed.append((numbered, error))
                self._bytes += _size(message)

        message = numbered.message
        more: dict[str, Any] = {} if message.partition is None else {"partition": message.partition}
        try:
            self._client.produce(
                message.topic,
                message.value,
                message.key,
                headers=list(message.headers),
                on_delivery=done,
                **more,
            )
        except KafkaException as error:
            done(error.args[0], None)

    def flush(self, seconds: float) -> None:
        """Wait until everything is with the brokers."""
        until, trouble = time.monotonic() + seconds, None
        while True:
            left = self._client.flush(max(0.0, until - time.monotonic()))
            self._look_for_refusal()
            if left:  # which must not be overtaken by what waits here
                raise trouble or self._not_yet()
            trouble = self._take_back() or trouble
            if not self._behind:
                return
            self._hand_over()
            if time.monotonic() > until:
                raise trouble or self._not_yet()
            if self._failed:
                time.sleep(_REST)

    def _take_back(self) -> RetriableKafkaError | None:
        """Put what failed before all that waits, and say why it failed."""
        if not self._failed:
            return None
        failed, self._failed = sorted(self._failed, key=lambda each: each[0].number), []
        large = [each for each, error in failed if error.code() == KafkaError.MSG_SIZE_TOO_LARGE]
        if large and not self._alone:
            self._alone, large = True, []
            self._client = self._opened()
        self._behind.extendleft(each for each, _ in reversed(failed) if each not in large)
        self._bytes -= sum(_size(each.message) for each in large)
        if large:
            messages = [each.message for each in large]
            raise MessageTooLargeError(messages, "see max.message.bytes of the topic")
        (_, message), error = failed[0]
        if error.code() in _NO_TOPIC:
            return self._connection.lacks(message.topic)
        ours = as_ours(self._connection, error)
        if isinstance(ours, FatalKafkaError):
            raise ours
        return ours

    def _hand_over(self) -> None:
        """Give the client what waits, up to the first that fails at once."""
        while self._behind and not self._failed:
            try:
                self._produce(self._behind[0])
            except BufferError:
                return
            self._bytes -= _size(self._behind.popleft().message)

    def _look_for_refusal(self) -> None:
        if self._refused is not None:
            raise as_ours(self._connection, self._refused)

    def _not_yet(self) -> RetriableKafkaError:
        return RetriableKafkaError(
            f"Kafka at {self._connection.described} did not take {self.waiting:,} messages yet"
        )

    def close(self) -> None:
        """Let go, also of what was not flushed."""
        self._client.purge()
        self._client.flush(1)


def _size(message: ProducerRecord) -> int:
    return len(message.value or b"") + len(message.key or b"") + _OVERHEAD
