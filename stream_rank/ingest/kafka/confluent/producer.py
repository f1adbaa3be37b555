"""The producer implemented with confluent-kafka."""

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
from stream_rank.ingest.kafka.port import LINGER_MS, ProducerRecord

__all__ = ["ConfluentProducer"]

_NO_TOPIC = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)
_BATCH = 1 << 17
"""Bytes of a batch: an eighth of the default max.message.bytes of topics."""
_MOST_BYTES = 1 << 26
"""The most bytes queued here after a failed message before `send` flushes."""
_OVERHEAD = 500
"""Approximate bytes of a queued message without its value and key."""
_RETRY_SECONDS = 0.1
"""Seconds between two attempts, against a busy loop on errors that return at once."""


class _Numbered(NamedTuple):
    """A message with its sequence number, the order of `send`."""

    number: int
    message: ProducerRecord


class ConfluentProducer:
    """A `Producer` by confluent-kafka. Messages after a failed one are queued here, so that they do not overtake it.

    A broker refuses all messages of a batch that is too large, and accepts smaller batches after it. So batches are small, and
    after the first refusal each message is sent in a batch of its own.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers = count()
        self._failed: list[tuple[_Numbered, Any]] = []
        self._queued: deque[_Numbered] = deque()
        self._bytes = 0
        self._refused: Any = None
        self._one_per_batch = False
        self._client = self._opened()

    def _opened(self) -> Any:
        settings = {
            **settings_of(self._connection),
            "enable.idempotence": True,
            "linger.ms": LINGER_MS,
            "batch.size": _BATCH,
            "message.max.bytes": LARGEST_REQUEST,
            "message.timeout.ms": 0,  # no delivery timeout: `flush` has its own
            "topic.metadata.propagation.max.ms": METADATA_MS,
            "partitioner": "murmur2_random",  # as in the Java client and kafka-python, so that a key keeps its partition
            "error_cb": self._on_error,
            **for_producer(self._connection.client_settings),
        }
        if self._one_per_batch:
            settings["batch.num.messages"] = 1
        with translated(self._connection):
            return opened(client.Producer, self._connection, settings)

    def _on_error(self, error: Any) -> None:
        if error.code() in REFUSALS:
            self._refused = error

    @property
    def waiting(self) -> int:
        """Messages that were accepted by `send` and are not acknowledged yet."""
        return len(self._client) + len(self._failed) + len(self._queued)

    def send(self, message: ProducerRecord) -> None:
        """Accept a message, to be sent before `flush` returns."""
        self._client.poll(0)
        if (self._failed or self._queued) and self._bytes >= _MOST_BYTES:
            self.flush(PATIENCE)
        numbered, until = _Numbered(next(self._numbers), message), time.monotonic() + PATIENCE
        while not (self._failed or self._queued):
            try:
                self._produce(numbered)
                return
            except BufferError:  # the client's queue is full
                self._look_for_refusal()
                if time.monotonic() > until:
                    raise self._unacknowledged() from None
                self._client.poll(_RETRY_SECONDS)
        self._bytes += _size(message)
        self._queued.append(numbered)

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

    def push(self) -> None:
        """Do nothing: librdkafka sends by itself."""

    def flush(self, seconds: float) -> None:
        """Wait until all messages are acknowledged."""
        until, last_error = time.monotonic() + seconds, None
        while True:
            left = self._client.flush(max(0.0, until - time.monotonic()))
            self._look_for_refusal()
            if left:  # queued messages must not overtake these
                raise last_error or self._unacknowledged()
            last_error = self._take_back() or last_error
            if not self._queued:
                return
            self._hand_over()
            if time.monotonic() > until:
                raise last_error or self._unacknowledged()
            if self._failed:
                time.sleep(_RETRY_SECONDS)

    def _take_back(self) -> RetriableKafkaError | None:
        """Requeue failed messages before all others; returns the first error."""
        if not self._failed:
            return None
        failed, self._failed = sorted(self._failed, key=lambda each: each[0].number), []
        large = [each for each, error in failed if error.code() == KafkaError.MSG_SIZE_TOO_LARGE]
        if large and not self._one_per_batch:
            self._one_per_batch, large = True, []
            self._client = self._opened()
        self._queued.extendleft(each for each, _ in reversed(failed) if each not in large)
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
        """Produce the queued messages, up to the first that fails at once."""
        while self._queued and not self._failed:
            try:
                self._produce(self._queued[0])
            except BufferError:
                return
            self._bytes -= _size(self._queued.popleft().message)

    def _look_for_refusal(self) -> None:
        if self._refused is not None:
            raise as_ours(self._connection, self._refused)

    def _unacknowledged(self) -> RetriableKafkaError:
        return RetriableKafkaError(
            f"Kafka at {self._connection.described} has not acknowledged {self.waiting:,} messages yet"
        )

    def close(self) -> None:
        """Close the client; messages that were not flushed are dropped."""
        self._client.purge()
        self._client.flush(1)


def _size(message: ProducerRecord) -> int:
    return len(message.value or b"") + len(message.key or b"") + _OVERHEAD
