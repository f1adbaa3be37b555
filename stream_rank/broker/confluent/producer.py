"""Messages sent by confluent-kafka."""

import time
from itertools import count
from typing import Any, NamedTuple

import confluent_kafka as client
from confluent_kafka import KafkaError, KafkaException

from stream_rank.broker.confluent.connecting import (
    LARGEST_REQUEST,
    METADATA_MS,
    PATIENCE,
    REFUSALS,
    as_ours,
    settings_of,
    translated,
)
from stream_rank.broker.connection import Connection
from stream_rank.broker.port import Message
from stream_rank.errors import BrokerTrouble, TooLargeError

__all__ = ["ConfluentProducer"]

_NO_TOPIC = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)
_MOST_HELD, _OVERHEAD = 1 << 26, 100
"""Bytes that wait behind messages that failed, and how many a message has beside its value."""


class _Sent(NamedTuple):
    """A message with its number, that those that failed can be told in their order, and why it failed, or is behind one that did."""

    number: int
    message: Message
    error: Any = None


class ConfluentProducer:
    """A `Producer` by confluent-kafka."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers = count()
        self._failed: list[_Sent] = []
        self._held = 0
        self._refused: Any = None
        settings = {
            **settings_of(connection),
            "enable.idempotence": True,
            "linger.ms": 10,
            "message.max.bytes": LARGEST_REQUEST,
            "topic.metadata.propagation.max.ms": METADATA_MS,
            "partitioner": "murmur2_random",  # as Java's and kafka-python's, so that keys stay together
            "error_cb": self._on_error,
        }
        with translated(connection):
            self._client = client.Producer(settings)

    def _on_error(self, error: Any) -> None:
        if error.code() in REFUSALS:
            self._refused = error

    def send(self, message: Message) -> None:
        """Take it, to be sent at some time before `flush` is through."""
        sent, until = _Sent(next(self._numbers), message), time.monotonic() + PATIENCE
        self._client.poll(0)
        while True:
            if self._failed and self._held < _MOST_HELD:
                return self._hold(sent)  # what failed goes first
            if self._failed:
                self.flush(PATIENCE)
            try:
                return self._produce(sent)
            except BufferError:  # its queue is full
                if time.monotonic() > until:
                    raise BrokerTrouble(
                        f"Kafka at {self._connection.described} takes no messages"
                    ) from None
                self._client.poll(0.1)

    def _hold(self, sent: _Sent) -> None:
        self._failed.append(sent)
        self._held += len(sent.message.value or b"") + _OVERHEAD

    def _produce(self, sent: _Sent) -> None:
        def done(error: Any, _: Any) -> None:
            if error is not None:
                self._hold(sent._replace(error=error))

        message = sent.message
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
        left = self._client.flush(seconds)
        if self._refused is not None:
            raise as_ours(self._connection, self._refused)
        if self._failed and not left:  # none of what was behind them can overtake them any more
            self._send_again()
        if left:
            raise self._not_yet(left)

    def _send_again(self) -> None:
        """Send what failed, and what was behind it; say why it failed."""
        failed, self._failed, self._held = sorted(self._failed), [], 0
        large = [sent for sent in failed if _too_large(sent.error)]
        others = [sent for sent in failed if not _too_large(sent.error)]
        for sent in others:
            if self._failed:  # at once, or for want of room
                self._hold(sent)
                continue
            try:
                self._produce(sent)
            except BufferError:
                self._hold(sent)
        if large:
            raise TooLargeError(
                [sent.message for sent in large], "see max.message.bytes of the topic"
            )
        first = next((sent for sent in failed if sent.error is not None), None)
        if first is None:
            raise self._not_yet(len(failed))
        if first.error.code() in _NO_TOPIC:
            raise self._connection.lacks(first.message.topic)
        raise as_ours(self._connection, first.error)

    def _not_yet(self, count: int) -> BrokerTrouble:
        return BrokerTrouble(
            f"Kafka at {self._connection.described} did not take {count:,} messages yet"
        )

    def close(self) -> None:
        """Let go, also of what was not flushed."""
        self._client.purge()
        self._client.flush(1)


def _too_large(error: Any) -> bool:
    return error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE
