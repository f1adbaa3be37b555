"""Messages sent by kafka-python."""

import time
from collections import deque
from contextlib import suppress
from typing import Any

from kafka import KafkaProducer
from kafka import errors as kafka

from stream_rank.errors import MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python.client_settings import PATIENCE_MS, translated
from stream_rank.ingest.kafka.kafka_python.startup import opened
from stream_rank.ingest.kafka.port import ProducerRecord

__all__ = ["KafkaPythonProducer"]

_LARGEST_REQUEST = 200_000_000
"""No limit of ours: the broker has one, and knows it."""
_NEVER_MS = 2**31 - 1
"""Whoever flushes says how long. After messages of its own expired, the client was seen to send nothing any more."""
_UNSENT, _MOST_UNSENT, _MOST_BYTES = 1_000, 100_000, 1 << 26
"""Messages are handed over so many at a time; where so many wait, or so many bytes of them, there is no room for one more."""
_REST = 0.01
"""Seconds between two looks at how it went."""
_TOO_LARGE = (kafka.MessageSizeTooLargeError, kafka.RecordListTooLargeError)


class KafkaPythonProducer:
    """A `Producer` by kafka-python. Messages wait here for as long as there is no broker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client: Any = None
        self._unsent: deque[ProducerRecord] = deque()
        self._sent: list[tuple[ProducerRecord, Any]] = []
        self._bytes = 0
        self._stuck = False
        """The last attempt to hand messages over took seconds, and failed: the next is for whoever flushes."""

    @property
    def waiting(self) -> int:
        """Messages that were taken, and are not with the brokers yet."""
        return len(self._unsent) + sum(not future.succeeded() for _, future in self._sent)

    def send(self, message: ProducerRecord) -> None:
        """Take it, to be sent at some time before `flush` is through."""
        if len(self._unsent) + len(self._sent) >= _MOST_UNSENT or self._bytes >= _MOST_BYTES:
            self.flush(PATIENCE_MS / 1000)
        self._unsent.append(message)
        self._bytes += _size(message)
        if len(self._unsent) >= _UNSENT and not self._stuck:
            with suppress(RetriableKafkaError):  # there is room until there is none
                self._hand_over()

    def _hand_over(self) -> None:
        self._stuck = True
        with translated(self._connection):
            if self._client is None:
                self._client = opened(
                    KafkaProducer,
                    self._connection,
                    acks="all",
                    enable_idempotence=True,
                    linger_ms=10,
                    batch_size=1 << 17,
                    max_request_size=_LARGEST_REQUEST,
                    max_block_ms=PATIENCE_MS,
                    delivery_timeout_ms=_NEVER_MS,
                )
            while self._unsent:
                each = self._unsent[0]
                # the client takes no message that is nothing at all
                value = b"" if each.value is None and each.key is None else each.value
                headers = [(name, content or b"") for name, content in each.headers]
                try:
                    sent = self._client.send(each.topic, value, each.key, headers, each.partition)
                except kafka.KafkaTimeoutError as error:
                    # which is all that it says of a topic that is not there
                    raise RetriableKafkaError(
                        f"Kafka at {self._connection.described} tells nothing about topic {each.topic!r}: is there one?"
                    ) from error
                self._sent.append((self._unsent.popleft(), sent))
        self._stuck = False

    def flush(self, seconds: float) -> None:
        """Wait until everything is with the brokers."""
        large = self._flushed(seconds)
        self._bytes = 0
        if large:
            raise MessageTooLargeError(large, "see max.message.bytes of the topic")

    def _flushed(self, seconds: float) -> list[ProducerRecord]:
        """Send everything; the messages that are too large."""
        if not self._unsent and not self._sent:
            return []
        self._hand_over()
        self._wait(seconds)
        sent, self._sent = self._sent, []
        failed = [(message, future.exception) for message, future in sent if future.failed()]
        if any(isinstance(error, _TOO_LARGE) for _, error in failed):
            self.close()  # it is of no use any more
            messages = [message for message, _ in failed]
            return messages if len(messages) == 1 else self._sort_out(messages, seconds)
        self._unsent.extend(message for message, _ in failed)
        if failed:
            with translated(self._connection):
                raise failed[0][1]
        return []

    def _wait(self, seconds: float) -> None:
        """Wait until it is known of all that was handed over how it went.

        A batch that a broker finds too large is split by the client, which then waits no longer for what was in it.
        """
        until = time.monotonic() + seconds
        while True:
            with translated(self._connection):
                with suppress(kafka.UnknownError):
                    self._client.flush(timeout=max(0.0, until - time.monotonic()))
                if all(future.is_done for _, future in self._sent):
                    return
                if time.monotonic() > until:
                    raise kafka.KafkaTimeoutError(f"{self.waiting:,} messages are not there yet")
            time.sleep(_REST)

    def _sort_out(self, messages: list[ProducerRecord], seconds: float) -> list[ProducerRecord]:
        """Send messages of which one is too large, which takes those beside it with it; those that are too large."""
        most = max(map(_size, messages))
        suspects = [message for message in messages if 2 * _size(message) >= most]
        parts = deque([[each] for each in suspects])
        parts.append([message for message in messages if 2 * _size(message) < most])
        large: list[ProducerRecord] = []
        try:
            while parts:
                self._unsent.extend(parts.popleft())
                large += self._flushed(seconds)
        except RetriableKafkaError:
            self._unsent.extend(message for part in (*parts, large) for message in part)
            raise
        return large

    def close(self) -> None:
        """Let go, also of what was not flushed."""
        if self._client is not None:
            # which it would begin with, and where that fails it lets go of nothing
            self._client.flush = lambda _: None
            with suppress(kafka.KafkaError, OSError):
                self._client.close(timeout=1)
            self._client = None


def _size(message: ProducerRecord) -> int:
    return len(message.value or b"")
