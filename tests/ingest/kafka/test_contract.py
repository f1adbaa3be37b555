"""The contract of the port: whatever keeps to it can be what the daemon reads from."""

import threading
import time
from collections.abc import Mapping

import pytest

from stream_rank.errors import LostOffsetsError, MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.kafka.bounded_consumer import BoundedConsumer
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import (
    Consumer,
    OffsetRange,
    Partition,
    PartitionRecords,
    ProducerRecord,
    Subscription,
)
from stream_rank.ingest.kafka.topic_source import TopicSource
from tests.ingest.kafka.conftest import (
    CLIENTS,
    Cluster,
    fresh_name,
    from_the_beginning,
    polled,
    wait_for,
)

pytestmark = pytest.mark.long(60)


def send(cluster: Cluster, topic: str, values: list[bytes | None], partition: int = 0) -> None:
    producer = cluster.producer()
    for value in values:
        producer.send(ProducerRecord(topic, value, b"key", [("name", b"value")], partition))
    producer.flush(30)
    producer.close()


def take(consumer: Consumer, count: int) -> list[PartitionRecords]:
    """Slices with so many messages in all."""
    found: list[PartitionRecords] = []

    def enough() -> bool:
        found.extend(polled(consumer))
        return sum(len(part.offsets) for part in found) >= count

    wait_for(enough)
    return found


def test_the_end_of_an_empty_partition_is_known_once_it_was_fetched(cluster: Cluster) -> None:
    """By that a daemon knows that nothing more comes: `idle_timeout` counts from there."""
    topic = fresh_name("empty")
    cluster.create(topic, 2)
    send(cluster, topic, [b"1"], 1)
    source = TopicSource(
        [topic],
        lambda resolve: cluster.consumer(fresh_name("g"), [topic], resolve),
        Backoff("Kafka", str),
    )
    chunks = source.chunks(None)
    assert not source.assignment
    wait_for(lambda: next(chunks) is None and bool(source.assignment) and source.fetched)
    assert {str(each) for each in source.assignment} == {f"{topic}[0]", f"{topic}[1]"}
    source.close(5)


def test_what_is_sent_comes_whole_and_in_order(cluster: Cluster) -> None:
    topic = fresh_name("whole")
    cluster.create(topic, 2)
    values = [f"{i}".encode() for i in range(1_000)]
    send(cluster, topic, [*values, None, b""], 1)
    consumer = cluster.consumer(fresh_name("g"), [topic], from_the_beginning)
    before = time.time() * 1000
    parts = take(consumer, 1_002)
    consumer.close(5)
    assert {part.partition for part in parts} == {Partition(topic, 1)}
    assert [offset for part in parts for offset in part.offsets] == list(range(1_002))
    assert [value for part in parts for value in part.values][:1_000] == values
    assert [value or b"" for part in parts for value in part.values][1_000:] == [b"", b""]
    first = parts[0].whole(0)
    assert (first.value, first.key, list(first.headers)) == (b"0", b"key", [("name", b"value")])
    assert before - 60_000 < first.timestamp < before + 60_000


def test_reading_begins_where_it_is_told(cluster: Cluster) -> None:
    topic, told = fresh_name("told"), []
    cluster.create(topic, 2)
    for partition in (0, 1):
        send(cluster, topic, [b"x"] * 20, partition)

    def place(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        told.append((threading.current_thread(), dict(bounds)))
        return {p: 5 + p.number for p in bounds}

    consumer = cluster.consumer(fresh_name("g"), [topic], place)
    parts = take(consumer, 29)
    found = {part.partition.number: part.offsets[0] for part in reversed(parts)}
    assert found == {0: 5, 1: 6}
    assert consumer.assignment == {Partition(topic, 0), Partition(topic, 1)}
    assert consumer.ends() == {Partition(topic, 0): 20, Partition(topic, 1): 20}
    assert consumer.rebalances >= 1
    for thread, bounds in told:  # whoever polls may ask brokers and touch learners
        assert thread is threading.current_thread()
        assert set(bounds.values()) == {OffsetRange(0, 20)}
    consumer.close(5)


def test_what_was_committed_can_be_seen_and_does_not_matter(cluster: Cluster) -> None:
    topic, group = fresh_name("committed"), fresh_name("g")
    cluster.create(topic)
    send(cluster, topic, [b"x"] * 10)
    consumer = cluster.consumer(group, [topic], from_the_beginning)
    take(consumer, 10)
    partition = Partition(topic, 0)

    def told() -> bool:
        consumer.commit({partition: 7})
        consumer.poll(0.05)
        return consumer.committed([partition]) == {partition: 7}

    wait_for(told)
    consumer.close(5)
    again = cluster.consumer(group, [topic], from_the_beginning)
    assert take(again, 10)[0].offsets[0] == 0
    again.close(5)


def test_a_second_member_takes_partitions_and_gives_them_back(cluster: Cluster) -> None:
    """Whoever keeps the positions misses nothing and sees nothing twice but at changes of hands."""
    topic, group = fresh_name("shared"), fresh_name("g")
    cluster.create(topic, 4)
    nexts: dict[Partition, int] = {}
    seen: dict[Partition, list[int]] = {}

    def place(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        return {p: nexts.get(p, each.first) for p, each in bounds.items()}

    def note(parts: list[PartitionRecords]) -> bool:
        for part in parts:
            expected = nexts.get(part.partition, 0)
            fresh = [offset for offset in part.offsets if offset >= expected]
            seen.setdefault(part.partition, []).extend(fresh)
            nexts[part.partition] = part.offsets[-1] + 1
        return False

    one = cluster.consumer(group, [topic], place)
    wait_for(lambda: one.poll(0.05) or len(one.assignment) == 4)
    for partition in range(4):
        send(cluster, topic, [b"x"] * 50, partition)
    wait_for(lambda: note(one.poll(0.05)) or sum(map(len, seen.values())) == 200)
    other = cluster.consumer(group, [topic], place)

    def both() -> bool:
        note(one.poll(0.05))
        note(other.poll(0.05))
        return len(one.assignment) == len(other.assignment) == 2

    wait_for(both)
    assert not one.assignment & other.assignment
    assert other.partition_counts([topic, fresh_name("none")]) == {topic: 4}
    for partition in range(4):
        send(cluster, topic, [b"x"] * 50, partition)
    wait_for(lambda: both() and sum(map(len, seen.values())) == 400)
    other.close(5)
    for partition in range(4):
        send(cluster, topic, [b"x"] * 50, partition)
    wait_for(
        lambda: note(one.poll(0.05)) or sum(map(len, seen.values())) == 600, 40
    )  # below the usual session
    assert len(one.assignment) == 4
    assert all(offsets == list(range(150)) for offsets in seen.values())
    one.close(5)


def test_without_a_group_all_partitions_are_read(cluster: Cluster) -> None:
    topic = fresh_name("alone")
    cluster.create(topic, 3)
    for partition in range(3):
        send(cluster, topic, [b"x"] * 5, partition)
    readers = [cluster.consumer(None, [topic], from_the_beginning) for _ in range(2)]
    for reader in readers:
        assert sum(len(part.offsets) for part in take(reader, 15)) == 15
        reader.close(5)


def test_what_place_raises_comes_out_of_poll(cluster: Cluster) -> None:
    topic = fresh_name("raise")
    cluster.create(topic)
    send(cluster, topic, [b"x"])

    def place(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        raise LostOffsetsError("it is gone")

    consumer = cluster.consumer(fresh_name("g"), [topic], place)
    with pytest.raises(LostOffsetsError, match="it is gone"):
        wait_for(lambda: consumer.poll(0.1))
    consumer.close(5)


@pytest.mark.parametrize("cluster", [name for name in CLIENTS if name != "memory"], indirect=True)
@pytest.mark.parametrize("alone", [False, True], ids=["in a group", "alone"])
def test_where_to_read_is_asked_again_after_a_fault(cluster: Cluster, alone: bool) -> None:
    """Whoever knows may be away for a while: that ends nothing, and no message is passed over."""
    topic, asked = fresh_name("later"), 0
    cluster.create(topic)
    send(cluster, topic, [b"%d" % number for number in range(10)])

    def place(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        nonlocal asked
        asked += 1
        if asked < 3:
            send(cluster, topic, [b"meanwhile"])
            raise RetriableKafkaError("nobody knows")
        return from_the_beginning(bounds)

    consumer = cluster.consumer(None if alone else fresh_name("g"), [topic], place)
    values = [value for part in take(consumer, 12) for value in part.values]
    assert values == [*(b"%d" % number for number in range(10)), b"meanwhile", b"meanwhile"]
    assert asked == 3
    consumer.close(5)


@pytest.mark.parametrize("cluster", [name for name in CLIENTS if name != "memory"], indirect=True)
@pytest.mark.parametrize("alone", [False, True], ids=["in a group", "alone"])
def test_a_topic_that_is_not_there_yet(cluster: Cluster, alone: bool) -> None:
    topic = fresh_name("late")
    group = None if alone else fresh_name("g")
    consumer = cluster.consumer(group, [topic], from_the_beginning)
    with pytest.raises(RetriableKafkaError):
        wait_for(lambda: consumer.poll(0.1))
    cluster.create(topic)
    send(cluster, topic, [b"x"])

    assert wait_for(lambda: polled(consumer))[0].values == [b"x"]
    consumer.close(5)


@pytest.mark.parametrize("cluster", [name for name in CLIENTS if name != "memory"], indirect=True)
def test_what_is_gone_is_asked_about_again(cluster: Cluster) -> None:
    """Retention deletes what comes next while it is being read: the reader is asked where to go on."""
    topic, asked = fresh_name("gone"), []
    cluster.create(topic)
    send(cluster, topic, [b"x"] * 100)
    cluster.drop_before(topic, 60)

    def place(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        asked.append(dict(bounds))
        return {p: 10 if len(asked) == 1 else each.first for p, each in bounds.items()}

    consumer = cluster.consumer(fresh_name("g"), [topic], place)
    assert take(consumer, 40)[0].offsets[0] == 60
    assert [bounds[Partition(topic, 0)] for bounds in asked] == [OffsetRange(60, 100)] * 2
    consumer.close(5)


@pytest.mark.parametrize("cluster", [name for name in CLIENTS if name != "memory"], indirect=True)
def test_large_messages_come_and_those_too_large_are_told(cluster: Cluster) -> None:
    topic = fresh_name("large")
    cluster.create(topic, **{"max.message.bytes": 11_000_000})
    producer = cluster.producer()
    producer.send(ProducerRecord(topic, b"a" * 10_000_000))
    producer.send(ProducerRecord(topic, b"b"))
    producer.flush(30)
    producer.send(ProducerRecord(topic, b"c" * 12_000_000))
    producer.send(ProducerRecord(topic, b"d"))
    with pytest.raises(MessageTooLargeError) as told:
        producer.flush(30)
    assert [len(message.value) for message in told.value.messages] == [12_000_000]
    producer.flush(30)
    producer.close()
    consumer = cluster.consumer(fresh_name("g"), [topic], from_the_beginning)
    values = [value for part in take(consumer, 3) for value in part.values]
    consumer.close(5)
    assert [len(value or b"") for value in values] == [10_000_000, 1, 1]


@pytest.mark.parametrize("cluster", [name for name in CLIENTS if name != "memory"], indirect=True)
def test_only_what_was_committed_by_transactions(cluster: Cluster) -> None:
    """And what was aborted, and the markers, are behind us: nothing is left to wait for."""
    from confluent_kafka import Producer

    topic = fresh_name("transactions")
    cluster.create(topic)
    producer = Producer({"bootstrap.servers": cluster.address, "transactional.id": topic})
    producer.init_transactions(30)
    for value, commits in ((b"good", True), (b"bad", False), (b"good", True), (b"bad", False)):
        producer.begin_transaction()
        for _ in range(5):
            producer.produce(topic, value, partition=0)
        producer.flush(30)
        (producer.commit_transaction if commits else producer.abort_transaction)(30)
    consumer = cluster.consumer(fresh_name("g"), [topic], from_the_beginning)
    parts = take(consumer, 10)
    assert [value for part in parts for value in part.values] == [b"good"] * 10

    def everything() -> bool:
        assert not consumer.poll(0.05)
        return consumer.reached() == {Partition(topic, 0): 24}

    wait_for(everything)
    consumer.close(5)


def test_no_message_comes_from_its_bound_on(cluster: Cluster) -> None:
    """Of those before it all come, however they are fetched; and it is known that they have."""
    topic = fresh_name("bounded")
    cluster.create(topic, 3)
    parts = [Partition(topic, number) for number in range(3)]
    for each in parts:
        send(cluster, topic, [b"x"] * 300, each.number)
    bounds = {parts[0]: 120, parts[1]: 300}
    consumer = BoundedConsumer(
        lambda resolve: cluster.consumer(None, [topic], resolve), from_the_beginning, bounds
    )
    found: dict[Partition, list[int]] = {each: [] for each in parts}

    def there() -> bool:
        for part in polled(consumer):
            found[part.partition] += part.offsets
        reached = consumer.reached()
        return all(reached.get(each) == bound for each, bound in bounds.items())

    wait_for(there)
    send(cluster, topic, [b"y"] * 50, 0)
    send(cluster, topic, [b"y"] * 50, 1)
    wait_for(lambda: [polled(consumer), consumer.reached().get(parts[2])] == [[], 0])
    assert there()
    assert found == {
        parts[0]: list(range(120)),
        parts[1]: list(range(300)),
        parts[2]: [],
    }
    consumer.close(5)


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_broker_that_is_not_there(client: str) -> None:
    from stream_rank.ingest.kafka.clients import consumer_of, producer_of

    nowhere = Connection(("127.0.0.1:1",))
    consumer = consumer_of(
        client, nowhere, Subscription(["t"], fresh_name("g")), from_the_beginning
    )
    start = time.monotonic()
    with pytest.raises(RetriableKafkaError):
        wait_for(lambda: consumer.poll(0.1))
    assert time.monotonic() - start < 20
    consumer.close(2)
    producer = producer_of(client, nowhere)
    producer.send(ProducerRecord("t", b"x"))
    with pytest.raises(RetriableKafkaError):
        producer.flush(1)
    producer.close()
    assert time.monotonic() - start < 40
