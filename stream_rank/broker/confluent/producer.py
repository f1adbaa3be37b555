"""Messages sent by confluent-kafka."""

import time
from typing import Any

import confluent_kafka as client
from confluent_kafka import KafkaError, KafkaException

from stream_rank.broker.confluent.connecting import (
    LARGEST_REQUEST,
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


class ConfluentProducer:
    """A `Producer` by confluent-kafka."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._failed: list[tuple[Message, Any]] = []
        self._refused: Any = None
        settings = {
            **settings_of(connection),
            "enable.idempotence": True,
            "linger.ms": 10,
            "message.max.bytes": LARGEST_REQUEST,
            "partitioner": "murmur2_random",  # as Java's and kafka-python's, so that keys stay together
            "error_cb": self._on_error,
        }
        with translated(connection):
            self._client = client.Producer(settings)

    def _on_error(self, error: Any) -> None:
        if error.code() in REFUSALS:
            self._refused = error

    def send(self, message: Message) -> None:
        """Send it, at some time before `flush` is through."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._produce(message)
                self._client.poll(0)
                return
            except BufferError:  # its queue is full
                if time.monotonic() > until:
                    raise BrokerTrouble(
                        f"Kafka at {self._connection.described} takes no messages"
                    ) from None
                self._client.poll(0.1)

    def _produce(self, message: Message) -> None:
        def done(error: Any, _: Any) -> None:
            if error is not None:
                self._failed.append((message, error))

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
            self._failed.append((message, error.args[0]))

    def flush(self, seconds: float) -> None:
        """Wait until everything is with the brokers."""
        left = self._client.flush(seconds)
        if self._refused is not None:
            raise as_ours(self._connection, self._refused)
        failed, self._failed = self._failed, []
        large = [m for m, error in failed if error.code() == KafkaError.MSG_SIZE_TOO_LARGE]
        others = [
            (m, error) for m, error in failed if error.code() != KafkaError.MSG_SIZE_TOO_LARGE
        ]
        for message, _ in others:
            self.send(message)
        if large:
            raise TooLargeError(large, "see max.message.bytes of the topic")
        if others:
            raise as_ours(self._connection, others[0][1])
        if left:
            raise BrokerTrouble(
                f"Kafka at {self._connection.described} did not take {left:,} messages yet"
            )

    def close(self) -> None:
        """Let go, also of what was not flushed."""
        self._client.purge()
        self._client.flush(1)
