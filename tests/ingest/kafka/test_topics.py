"""Topics that are missing are never made by reading them, and those that are made anew are known as others."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulators.broker import STEADY, Kafka, NoKafkaError
from stream_rank.errors import LostOffsetsError
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryConsumer
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import (
    Partition,
    ProducerRecord,
    ResolveOffsets,
)
from stream_rank.ingest.kafka.topic_source import Policy, TopicSource
from tests.daemon.conftest import Daemon, Topic
from tests.daemon.test_rollback import events
from tests.ingest.kafka.conftest import (
    Broker,
    Cluster,
    admin,
    create,
    fresh_name,
    from_the_beginning,
    polled,
    until_led,
    wait_for,
)


@pytest.fixture(scope="module")
def inviting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker that makes topics that clients ask for."""
    try:
        broker = Kafka(
            tmp_path_factory.mktemp("inviting"), 1, {"auto.create.topics.enable": True, **STEADY}
        )
    except NoKafkaError as error:
        pytest.skip(str(error))
    with broker:
        yield broker


@pytest.mark.long(60)
@pytest.mark.parametrize("client", ["kafka-python", "confluent", "confluent:consumer"])
@pytest.mark.parametrize("alone", [False, True], ids=["in a group", "alone"])
def test_reading_makes_no_topic(client: str, alone: bool, inviting: Kafka) -> None:
    """Beside one that is there, which is read; and it is read when it comes."""
    cluster, topic, there = Cluster(client, inviting), fresh_name("typo"), fresh_name("there")
    group = None if alone else fresh_name("g")
    topics = [topic] if alone else [there, topic]
    create(inviting.address, there)
    asking = admin(inviting.address)
    consumer = cluster.consumer(group, topics, from_the_beginning)
    if not alone:
        wait_for(lambda: polled(consumer) or consumer.assignment)
    until = time.monotonic() + 3  # it is asked for at once, and then again and again
    while time.monotonic() < until:
        polled(consumer)
        assert topic not in asking.list_topics()
    if not alone:
        assert consumer.topic_ids([topic, there]).keys() == {there}
    assert topic not in asking.list_topics()
    create(inviting.address, topic)
    producer = cluster.producer()
    producer.send(ProducerRecord(topic, b"x"))
    producer.flush(30)
    producer.close()
    assert wait_for(lambda: polled(consumer))[0].values == [b"x"]
    consumer.close(5)
    asking.close()


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_daemon_waits_for_a_mistyped_topic(client: str, inviting: Kafka, tmp_path: Path) -> None:
    name, asking = fresh_name("mistyped"), admin(inviting.address)
    with Daemon(tmp_path, [name], inviting.address, client=client) as daemon:
        wait_for(lambda: daemon.said(f"there is no topic '{name}'"))
        assert name not in asking.list_topics()
        assert daemon.end() == 0
    assert name not in asking.list_topics()
    asking.close()


def make_anew(address: str, name: str) -> None:
    """Delete a topic, and make another of its name."""
    from kafka.admin import NewTopic
    from kafka.errors import TopicAlreadyExistsError

    asking = admin(address)
    asking.delete_topics([name])

    def made() -> bool:
        try:
            asking.create_topics([NewTopic(name, 1, 1)])
        except TopicAlreadyExistsError:  # it is still being deleted
            return False
        return True

    wait_for(made)
    asking.close()
    until_led(address, name, 1)


def test_ids_tell_topics_of_one_name_apart(cluster: Cluster) -> None:
    """And all clients say the same, so that one may go on where another was."""
    topic = fresh_name("anew")
    cluster.create(topic)
    consumer = cluster.consumer(fresh_name("g"), [topic], from_the_beginning)
    wait_for(lambda: polled(consumer) or consumer.assignment)
    before = consumer.topic_ids([topic])
    assert before.keys() == {topic}
    assert consumer.topic_ids([topic]) == before
    if cluster.client == "memory":
        cluster.create(topic)
    else:
        for client in ("kafka-python", "confluent"):
            other = Cluster(client, cluster).consumer(None, [topic], from_the_beginning)
            assert other.topic_ids([topic]) == before
            other.close(5)
        make_anew(cluster.address, topic)
    assert wait_for(lambda: consumer.topic_ids([topic])) != before
    consumer.close(5)


@pytest.mark.parametrize("policy", ["fail", "earliest", "latest"])
def test_the_policy_decides_where_a_topic_that_is_made_anew_is_read(policy: Policy) -> None:
    broker, said = MemoryBroker(), list[str]()

    def source() -> TopicSource:
        def consumer(resolve: ResolveOffsets) -> MemoryConsumer:
            return MemoryConsumer(broker, None, ["t"], resolve)

        return TopicSource(
            *(["t"], consumer, Backoff("Kafka", said.append)),
            on_lost_offsets=policy,
            say=said.append,
        )

    def fill(count: int) -> None:
        broker.create("t")
        for _ in range(count):
            broker.append(ProducerRecord("t", b"x"))

    def read(position: Offsets | None, until: int) -> Offsets:
        for chunk in source().chunks(position):
            if chunk is not None:
                after = chunk.position_after(len(chunk))
                assert isinstance(after, Offsets)
                if after.get(Partition("t", 0)) == until:
                    return Offsets.from_json(after.to_json())
        raise AssertionError

    fill(10)
    position = read(None, 10)
    assert read(position, 10) == position
    fill(30)
    if policy == "fail":
        with pytest.raises(LostOffsetsError, match="it was deleted and created again"):
            read(position, 30)
        return
    first = next(each for each in source().chunks(position) if each is not None)
    begun = first.position_after(0)
    assert isinstance(begun, Offsets)
    assert begun == {Partition("t", 0): 0 if policy == "earliest" else 30}
    assert "it was deleted and created again; continuing at" in said[-1]
    position, said[:] = read(position, 30), []
    assert read(position, 30) == position
    assert not said


@pytest.mark.long(60)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_daemon_knows_a_longer_topic_that_was_made_anew(
    client: str, kafka: Broker, tmp_path: Path
) -> None:
    """While it was stopped, and while it runs."""
    topic = Topic(kafka)
    topic.send(events(20))
    with Daemon(tmp_path, [topic.name], topic.address, client=client) as daemon:
        daemon.learned(20)
        assert daemon.end() == 0
    make_anew(topic.address, topic.name)
    topic.send(events(50))
    with Daemon(tmp_path, [topic.name], topic.address, client=client) as daemon:
        assert daemon.process.wait(90) == 7
        assert daemon.said("it was deleted and created again")
    flags = ["--on-lost-offsets", "earliest"]
    with Daemon(tmp_path, [topic.name], topic.address, flags=flags, client=client) as daemon:
        daemon.learned(70)
        make_anew(topic.address, topic.name)
        # brokers are asked for the id now and then: what came until then would be learned from where the old one ended
        wait_for(lambda: daemon.log.count("it was deleted and created again") == 2)
        topic.send(events(90))
        status = daemon.until(lambda status: status["position"] == {topic.name: {"0": 90}})
        assert status["learned"] == 160
        assert daemon.end() == 0
