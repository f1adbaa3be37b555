"""Transactions by kafka-python."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaProducer
from kafka import errors as kafka

from stream_rank.errors import RefusedMessagesError
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python.client_settings import PATIENCE_MS, translated
from stream_rank.ingest.kafka.kafka_python.startup import opened
from stream_rank.ingest.kafka.port import LINGER_MS, TRANSACTION_SECONDS, ProducerRecord

__all__ = ["KafkaPythonTransactions"]

_LARGEST_REQUEST = 200_000_000
"""Larger than any broker accepts: the limit is left to the broker."""
_REFUSED = (
    *(kafka.MessageSizeTooLargeError, kafka.RecordListTooLargeError, kafka.InvalidRecordError),
    *(kafka.CorruptRecordError, kafka.InvalidTimestampError),
)


class KafkaPythonTransactions:
    """`Transactions` by kafka-python."""

    def __init__(self, connection: Connection, transactional_id: str) -> None:
        self._connection, self._id = connection, transactional_id
        self._client: Any = None

    def begin(self) -> None:
        """Decide what was left undecided, and fence off whoever else has this id."""
        self.close()
        with translated(self._connection):
            self._client = opened(
                KafkaProducer,
                self._connection,
                transactional_id=self._id,
                transaction_timeout_ms=int(1000 * TRANSACTION_SECONDS),
                linger_ms=LINGER_MS,
                max_request_size=_LARGEST_REQUEST,
                max_block_ms=PATIENCE_MS,
            )
            self._client.init_transactions()

    def send(self, messages: Sequence[ProducerRecord]) -> None:
        """Send all or none."""
        sent: list[Any] = []
        try:
            with translated(self._connection):
                self._within(lambda: self._sent(messages, sent))
        except Exception as error:
            causes = [future.exception for future in sent if future.failed()]
            if any(isinstance(each, _REFUSED) for each in (*causes, error.__cause__)):
                raise RefusedMessagesError(messages, error) from error
            raise

    def _sent(self, messages: Sequence[ProducerRecord], sent: list[Any]) -> None:
        self._client.begin_transaction()
        for each in messages:
            # the client refuses a message with neither key nor value
            value = b"" if each.value is None and each.key is None else each.value
            headers = [(name, content or b"") for name, content in each.headers]
            sent.append(self._client.send(each.topic, value, each.key, headers, each.partition))
        self._client.flush(timeout=TRANSACTION_SECONDS)
        for future in sent:
            if future.failed():
                raise future.exception
        self._client.commit_transaction()

    def _within(self, call: Callable[[], None]) -> None:
        """Call, and raise what it raises; a transaction that nobody decides has no time-out of its own."""
        raised: list[BaseException] = []

        def called() -> None:
            try:
                call()
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=called, daemon=True)
        thread.start()
        thread.join(TRANSACTION_SECONDS)
        if raised:
            raise raised[0]
        if thread.is_alive():
            raise kafka.KafkaTimeoutError("the transaction was not decided in time")

    def close(self) -> None:
        """Close the client; an unfinished transaction is left to the next `begin`, or to its time-out."""
        if self._client is not None:
            # close() would flush first, and leave everything open if that fails
            self._client.flush = lambda _: None
            with suppress(kafka.KafkaError, OSError):
                self._client.close(timeout=1)
            self._client = None
