"""The ids of topics, which consumers of confluent-kafka do not know: an admin client of its own asks for them."""

import time
from collections.abc import Iterable
from math import inf
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from stream_rank.errors import RetriableKafkaError
from stream_rank.ingest.kafka.confluent.client_settings import (
    METADATA_MS,
    PATIENCE,
    as_ours,
    settings_of,
)
from stream_rank.ingest.kafka.confluent.options import for_consumer, opened
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import topic_id

__all__ = ["TopicIds"]

_PERIOD = METADATA_MS / 1000
"""Seconds between two looks whether topics are still the same."""
_STEP_SECONDS = 0.05
_MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)


class TopicIds:
    """Asks what the ids of topics are; describing a topic never makes it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._admin: Any = None
        self._known: dict[str, str] = {}
        self._asked: dict[str, Any] = {}
        self._next_look = inf

    @property
    def admin(self) -> Any:
        """The client, which is made when it is first needed."""
        if self._admin is None:
            settings = settings_of(self._connection)
            settings |= for_consumer(self._connection.client_settings)
            self._admin = opened(AdminClient, self._connection, settings)
        return self._admin

    def _describe(self, topics: Iterable[str]) -> dict[str, Any]:
        collection = TopicCollection(list(topics))
        found: dict[str, Any] = self.admin.describe_topics(collection, request_timeout=PATIENCE)
        return found

    def _collected(self, asked: dict[str, Any]) -> dict[str, str]:
        """The ids that were answered; topics that are missing are left out."""
        found = {}
        for topic, answer in asked.items():
            try:
                told = answer.result(0).topic_id
            except KafkaException as error:
                if error.args[0].code() in _MISSING:
                    continue
                raise as_ours(self._connection, error.args[0]) from error
            if told is not None:
                bits = told.get_most_significant_bits(), told.get_least_significant_bits()
                content = b"".join(each.to_bytes(8, "big", signed=True) for each in bits)
                found[topic] = topic_id(content)
        return {topic: name for topic, name in found.items() if name is not None}

    def ask(self, topics: Iterable[str]) -> dict[str, str]:
        """The ids now, as far as brokers have them."""
        asked, until = self._describe(topics), time.monotonic() + 2 * PATIENCE
        while not all(answer.done() for answer in asked.values()):
            if time.monotonic() > until:
                raise RetriableKafkaError(
                    f"Kafka at {self._connection.described} does not describe its topics"
                )
            self._admin.poll(_STEP_SECONDS)
        found = self._collected(asked)
        self._known |= found
        self._asked, self._next_look = {}, time.monotonic() + _PERIOD
        return found

    def changed(self) -> set[str]:
        """The topics that were deleted and made anew since they were asked for, at most a look ago; it does not wait."""
        if not self._asked:
            if time.monotonic() > self._next_look and self._known:
                self._next_look = time.monotonic() + _PERIOD
                self._asked = self._describe(self._known)
            return set()
        self._admin.poll(0)
        if not all(answer.done() for answer in self._asked.values()):
            return set()
        asked, self._asked = self._asked, {}
        try:
            found = self._collected(asked)
        except RetriableKafkaError:
            return set()  # another look follows
        return {topic for topic, name in found.items() if name != self._known[topic]}
