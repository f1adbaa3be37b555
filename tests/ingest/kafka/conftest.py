"""A real broker for the tests that are about one, and the clients that must all do the same."""

import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Protocol

import pytest

import stream_rank.ingest.kafka.kafka_python.producer  # noqa: F401 - with its patience, which some tests shorten elsewhere
from stream_rank.errors import RetriableKafkaError
from stream_rank.ingest.kafka.clients import consumer_of, producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryConsumer, MemoryProducer
from stream_rank.ingest.kafka.port import (
    Consumer,
    OffsetRange,
    Partition,
    PartitionRecords,
    Producer,
    ResolveOffsets,
    Subscription,
)
from tests.shared import SharedError, shared

_NAMES = itertools.count()


def admin(address: str, **more: Any) -> Any:
    from kafka.admin import KafkaAdminClient

    return KafkaAdminClient(bootstrap_servers=address.split(","), **more)


def create(
    address: str, name: str, partitions: int = 1, replicas: int = 1, **settings: Any
) -> None:
    """Make a topic, and wait until its partitions have leaders."""
    from kafka.admin import NewTopic

    client = admin(address)
    client.create_topics([NewTopic(name, partitions, replicas, topic_configs=settings)])
    client.close()
    until_led(address, name, partitions)


def until_led(address: str, name: str, partitions: int) -> None:
    """Wait until a topic's partitions have leaders."""
    from kafka import KafkaConsumer, TopicPartition
    from kafka.errors import KafkaError

    until = time.monotonic() + 30
    while True:
        try:
            with closing(KafkaConsumer(bootstrap_servers=address.split(","))) as reader:
                parts = [TopicPartition(name, number) for number in range(partitions)]
                reader.beginning_offsets(parts, timeout_ms=2_000)
            return
        except KafkaError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def fresh_name(stem: str) -> str:
    return f"{stem}-{next(_NAMES)}-{os.getpid()}-{time.monotonic_ns()}"


class Broker(Protocol):
    """A broker, as most tests need one."""

    @property
    def address(self) -> str:
        """For clients."""


class Shared(NamedTuple):
    """The broker that all tests share: nobody stops it, and topics and groups are everyone's own."""

    address: str


@pytest.fixture(scope="session")
def kafka() -> Shared:
    try:
        return Shared(shared("kafka", "tests.ingest.kafka.keeper")["address"])
    except SharedError as error:
        pytest.skip(str(error))


class Cluster:
    """What the contract is tested on."""

    def __init__(self, client: str, kafka: Broker | None) -> None:
        self.client, self._kafka, self._memory = client, kafka, MemoryBroker()

    @property
    def address(self) -> str:
        assert self._kafka is not None
        return self._kafka.address

    def create(self, topic: str, partitions: int = 1, **settings: Any) -> None:
        if self._kafka is None:
            self._memory.create(topic, partitions)
        else:
            create(self._kafka.address, topic, partitions, **settings)

    def consumer(self, group: str | None, topics: Sequence[str], place: ResolveOffsets) -> Consumer:
        if self._kafka is None:
            return MemoryConsumer(self._memory, group, topics, place)
        client, _, protocol = self.client.partition(":")
        connection = Connection((self._kafka.address,))
        member = Subscription(topics, group, 6.0, protocol or "classic")
        return consumer_of(client, connection, member, place)

    def producer(self) -> Producer:
        if self._kafka is None:
            return MemoryProducer(self._memory)
        return producer_of(self.client.partition(":")[0], Connection((self._kafka.address,)))

    def drop_before(self, topic: str, offset: int) -> None:
        """What retention does."""
        if self._kafka is None:
            self._memory.drop_before(Partition(topic, 0), offset)
            return
        from kafka import TopicPartition

        client = admin(self._kafka.address)
        client.delete_records({TopicPartition(topic, 0): offset})
        client.close()


CLIENTS = ["memory", "kafka-python", "confluent", "confluent:consumer"]


@pytest.fixture(params=CLIENTS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    real = None if request.param == "memory" else request.getfixturevalue("kafka")
    return Cluster(request.param, real)


def from_the_beginning(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
    return {partition: each.first for partition, each in bounds.items()}


def polled(consumer: Consumer) -> list[PartitionRecords]:
    """What has come; nothing where the broker is too busy to answer."""
    try:
        return consumer.poll(0.1)
    except RetriableKafkaError:
        return []


def wait_for(
    condition: Callable[[], Any],
    seconds: float = 60.0,
    otherwise: Callable[[], str] = lambda: "",
) -> Any:
    """What a condition gives once it holds; `otherwise` says how things stood in the end."""
    until, pause = time.monotonic() + seconds, 0.02
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < until, f"it took too long; {otherwise()}"
        time.sleep(pause)
        pause = min(0.1, 1.1 * pause)  # asking is work for who is asked
