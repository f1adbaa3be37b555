"""What may come between messages that are taken from confluent-kafka some at a time."""

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.confluent.consumer import ConfluentConsumer
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import Partition, ProducerRecord, Subscription
from tests.ingest.kafka.conftest import Broker, create, fresh_name, wait_for

_MESSAGES = 5_000


class Interrupted:
    """A client to which something happens once, after some messages of a poll were taken and before the others are."""

    def __init__(self, client: Any, happening: Callable[[], None]) -> None:
        self._client, self._happening, self.interrupted = client, happening, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def consume(self, count: int, seconds: float) -> list[Any]:
        if seconds == 0 and not self.interrupted:
            self.interrupted = True
            self._happening()
        found: list[Any] = self._client.consume(count, seconds)
        return found


def _given_out(kafka: Broker, happening: Callable[[ConfluentConsumer, str], None]) -> list[int]:
    """The offsets of all messages, of a reader that is interrupted while it takes them."""
    topic = fresh_name("ratings")
    create(kafka.address, topic)
    connection = Connection((kafka.address,))
    producer = producer_of("confluent", connection)
    for number in range(_MESSAGES):
        producer.send(ProducerRecord(topic, b"%d" % number, partition=0))
    producer.flush(60)
    producer.close()
    found: list[int] = []
    reader = ConfluentConsumer(
        connection, Subscription((topic,), None), lambda bounds: dict.fromkeys(bounds, len(found))
    )
    client = Interrupted(reader._open(), lambda: happening(reader, topic))
    reader._client = client

    def all_of_them() -> bool:
        found.extend(offset for each in reader.poll(0.1) for offset in each.offsets)
        return len(found) >= _MESSAGES

    wait_for(all_of_them)
    reader.close(5)
    assert client.interrupted
    return found


def test_what_is_placed_anew_meanwhile_comes_once(kafka: Broker) -> None:
    def placed(reader: ConfluentConsumer, topic: str) -> None:
        reader._on_assign(reader._client, [TopicPartition(topic, 0)])
        assert reader.assignment == {Partition(topic, 0)}

    assert _given_out(kafka, placed) == list(range(_MESSAGES))


@pytest.mark.parametrize("code", [KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN])
def test_what_was_taken_before_trouble_is_not_lost(kafka: Broker, code: int) -> None:
    def trouble(_: ConfluentConsumer, topic: str) -> None:
        raise KafkaException(KafkaError(code))

    assert _given_out(kafka, trouble) == list(range(_MESSAGES))
