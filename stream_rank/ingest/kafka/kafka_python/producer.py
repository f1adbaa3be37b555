"""The producer implemented with kafka-python."""

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
from stream_rank.ingest.kafka.port import LINGER_MS, ProducerRecord

__all__ = ["KafkaPythonProducer"]

_LARGEST_REQUEST = 200_000_000
"""Larger than any broker accepts: the limit is left to the broker."""
_NO_TIMEOUT_MS = 2**31 - 1
"""No delivery timeout: `flush` has its own. After a message expired, the client was seen to send nothing any more."""
_HAND_OVER_COUNT, _MOST_WAITING, _MOST_BYTES = 1_000, 100_000, 1 << 26
"""Messages handed to the client at a time; and the most messages and bytes that may wait before `send` flushes."""
_CHECK_SECONDS = 0.01
"""Seconds between two checks for acknowledgements."""
_TOO_LARGE = (kafka.MessageSizeTooLargeError, kafka.RecordListTooLargeError)


class KafkaPythonProducer:
    """A `Producer` by kafka-python. Messages are buffered here while no broker is reachable."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client: Any = None
        self._unsent: deque[ProducerRecord] = deque()
        self._sent: list[tuple[ProducerRecord, Any]] = []
        self._bytes = 0
        self._hand_over_failed = False
        """The last hand-over timed out: only `flush` tries the next one, since it may block for seconds."""

    @property
    def waiting(self) -> int:
        """Messages that were accepted by `send` and are not acknowledged yet."""
        return len(self._unsent) + sum(not future.succeeded() for _, future in self._sent)

    def send(self, message: ProducerRecord) -> None:
        """Accept a message, to be sent before `flush` returns."""
        if len(self._unsent) + len(self._sent) >= _MOST_WAITING or self._bytes >= _MOST_BYTES:
            self.flush(PATIENCE_MS / 1000)
        self._unsent.append(message)
        self._bytes += _size(message)
        if len(self._unsent) >= _HAND_OVER_COUNT:
            self.push()

    def push(self) -> None:
        """Hand over to the client, which sends by itself."""
        if self._unsent and not self._hand_over_failed:
            with suppress(RetriableKafkaError):  # what was not handed over stays in the buffer
                self._hand_over()

    def _hand_over(self) -> None:
        self._hand_over_failed = True
        with translated(self._connection):
            if self._client is None:
                self._client = opened(
                    KafkaProducer,
                    self._connection,
                    acks="all",
                    enable_idempotence=True,
                    linger_ms=LINGER_MS,
                    batch_size=1 << 17,
                    max_request_size=_LARGEST_REQUEST,
                    max_block_ms=PATIENCE_MS,
                    delivery_timeout_ms=_NO_TIMEOUT_MS,
                )
            while self._unsent:
                each = self._unsent[0]
                # the client refuses a message with neither key nor value
                value = b"" if each.value is None and each.key is None else each.value
                headers = [(name, content or b"") for name, content in each.headers]
                try:
                    sent = self._client.send(each.topic, value, each.key, headers, each.partition)
                except kafka.KafkaTimeoutError as error:
                    # the only error that it raises for a topic that does not exist
                    raise RetriableKafkaError(
                        f"Kafka at {self._connection.described} has no metadata of topic {each.topic!r}: does it exist?"
                    ) from error
                self._sent.append((self._unsent.popleft(), sent))
        self._hand_over_failed = False

    def flush(self, seconds: float) -> None:
        """Wait until all messages are acknowledged."""
        large = self._flushed(seconds)
        self._bytes = 0
        if large:
            raise MessageTooLargeError(large, "see max.message.bytes of the topic")

    def _flushed(self, seconds: float) -> list[ProducerRecord]:
        """Send everything; returns the messages that are too large."""
        if not self._unsent and not self._sent:
            return []
        self._hand_over()
        self._wait(seconds)
        sent, self._sent = self._sent, []
        failed = [(message, future.exception) for message, future in sent if future.failed()]
        if any(isinstance(error, _TOO_LARGE) for _, error in failed):
            self.close()  # after this error the client sends nothing more
            messages = [message for message, _ in failed]
            return messages if len(messages) == 1 else self._isolate_too_large(messages, seconds)
        self._unsent.extend(message for message, _ in failed)
        if failed:
            with translated(self._connection):
                raise failed[0][1]
        return []

    def _wait(self, seconds: float) -> None:
        """Wait until every message that was handed over is acknowledged or has failed.

        The client splits a batch that is too large for the broker, and its `flush` then does not wait for the messages in it.
        """
        until = time.monotonic() + seconds
        while True:
            with translated(self._connection):
                with suppress(kafka.UnknownError):
                    self._client.flush(timeout=max(0.0, until - time.monotonic()))
                if all(future.is_done for _, future in self._sent):
                    return
                if time.monotonic() > until:
                    raise kafka.KafkaTimeoutError(
                        f"{self.waiting:,} messages are not acknowledged yet"
                    )
            time.sleep(_CHECK_SECONDS)

    def _isolate_too_large(
        self, messages: list[ProducerRecord], seconds: float
    ) -> list[ProducerRecord]:
        """Send failed messages in smaller groups, since one that is too large fails its batch; returns the too large ones."""
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
        """Close the client; messages that were not flushed are dropped."""
        if self._client is not None:
            # close() would flush first, and leave everything open if that fails
            self._client.flush = lambda _: None
            with suppress(kafka.KafkaError, OSError):
                self._client.close(timeout=1)
            self._client = None


def _size(message: ProducerRecord) -> int:
    return len(message.value or b"")
