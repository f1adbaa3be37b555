"""Transactions by confluent-kafka."""

import time
from collections.abc import Sequence
from typing import Any

import confluent_kafka as client
from confluent_kafka import KafkaError, KafkaException

from stream_rank.errors import RefusedMessagesError, RetriableKafkaError
from stream_rank.ingest.kafka.confluent.client_settings import (
    LARGEST_REQUEST,
    PATIENCE,
    as_ours,
    settings_of,
    translated,
)
from stream_rank.ingest.kafka.confluent.options import for_producer, opened
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import LINGER_MS, TRANSACTION_SECONDS, ProducerRecord

__all__ = ["ConfluentTransactions"]

_REFUSED = (
    *(KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG, KafkaError.INVALID_RECORD),
    *(KafkaError.RECORD_LIST_TOO_LARGE, KafkaError.INVALID_TIMESTAMP),
)


class ConfluentTransactions:
    """`Transactions` by confluent-kafka."""

    def __init__(self, connection: Connection, transactional_id: str) -> None:
        self._connection, self._id = connection, transactional_id
        self._client: Any = None

    def begin(self) -> None:
        """Decide what was left undecided, and fence off whoever else has this id."""
        self.close()
        settings = {
            **settings_of(self._connection),
            "transactional.id": self._id,
            "transaction.timeout.ms": int(1000 * TRANSACTION_SECONDS),
            "linger.ms": LINGER_MS,
            "message.max.bytes": LARGEST_REQUEST,
            "partitioner": "murmur2_random",  # as that of the other producer
            **for_producer(self._connection.client_settings),
        }
        with translated(self._connection):
            self._client = opened(client.Producer, self._connection, settings)
            self._client.init_transactions(TRANSACTION_SECONDS)

    def send(self, messages: Sequence[ProducerRecord]) -> None:
        """Send all or none."""
        failed: list[Any] = []
        until = time.monotonic() + TRANSACTION_SECONDS
        try:
            self._client.begin_transaction()
            for each in messages:
                self._client.produce(
                    each.topic,
                    each.value,
                    each.key,
                    headers=list(each.headers),
                    on_delivery=lambda error, _: failed.append(error) if error else None,
                )
            while self._client.flush(PATIENCE) and not failed:
                if time.monotonic() > until:
                    raise RetriableKafkaError(
                        f"Kafka at {self._connection.described} has not acknowledged {len(messages):,} messages yet"
                    )
            if failed:
                raise KafkaException(failed[0])
            self._client.commit_transaction(PATIENCE)
        except KafkaException as error:
            causes = {each.code() for each in (*failed, error.args[0])}
            if causes & set(_REFUSED):
                raise RefusedMessagesError(messages, error.args[0].str()) from error
            raise as_ours(self._connection, error.args[0]) from error

    def close(self) -> None:
        """Close the client; an unfinished transaction is left to the next `begin`, or to its time-out."""
        producer, self._client = self._client, None
        if producer is not None:
            producer.purge()
            producer.flush(1)
