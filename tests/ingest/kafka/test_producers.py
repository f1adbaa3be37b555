"""The contract of producers where brokers are slow to come: there is room for so much, and nothing is lost or sent twice."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulators.broker import Kafka, NoKafkaError
from stream_rank.errors import MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.clients import consumer_of, producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord, Subscription
from stream_rank.ingest.kafka.retrying_producer import RetryingProducer
from tests.ingest.kafka.conftest import (
    Broker,
    create,
    fresh_name,
    from_the_beginning,
    polled,
    wait_for,
)

pytestmark = pytest.mark.long(40)

_FULL = {"kafka-python": (8, 10_000_000), "confluent": (100_001, 10)}
"""So many messages, and how many bytes each has, are more than there is room for."""


@pytest.fixture
def late(tmp_path: Path) -> Kafka:
    """A broker that is not running yet."""
    try:
        return Kafka(tmp_path, 1, {"auto.create.topics.enable": True})
    except NoKafkaError as error:
        pytest.skip(str(error))


def received(client: str, address: str, topic: str, count: int) -> Iterator[bytes | None]:
    member = Subscription([topic], fresh_name("g"))
    reader = consumer_of(client, Connection((address,)), member, from_the_beginning)
    found: list[bytes | None] = []
    while len(found) < count:
        parts = wait_for(lambda: polled(reader))
        found += [value for part in parts for value in part.values]
    assert not [part for _ in range(10) for part in polled(reader)]
    reader.close(5)
    return iter(found)


@pytest.mark.long(18)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_what_there_is_no_room_for_is_not_taken(client: str, late: Kafka) -> None:
    producer, topic = producer_of(client, Connection((late.address,))), fresh_name("room")
    count, size = _FULL[client]
    messages = [ProducerRecord(topic, f"{i:<{size}}".encode(), partition=0) for i in range(count)]
    for each in messages[:-1]:
        producer.send(each)
    for _ in range(2):
        with pytest.raises(RetriableKafkaError):
            producer.send(messages[-1])
    with late:
        patient = RetryingProducer(producer, 60, bool, print)
        patient.send(messages[-1])
        patient.flush()
        producer.close()
        found = received(client, late.address, topic, count)
        assert [int(value or b"") for value in found] == list(range(count))


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_what_failed_is_not_overtaken(client: str, kafka: Broker) -> None:
    producer, topic = producer_of(client, Connection((kafka.address,))), fresh_name("unmade")
    messages = [ProducerRecord(topic, b"%d" % i, partition=0) for i in range(300)]
    for each in messages[:100]:
        producer.send(each)

    def said() -> bool:
        with pytest.raises(RetriableKafkaError) as told:
            producer.flush(1)
        return topic in str(told.value)

    wait_for(said)
    for each in messages[100:200]:
        producer.send(each)
    create(kafka.address, topic)
    for each in messages[200:]:
        producer.send(each)
    RetryingProducer(producer, 60, bool, print).flush()
    producer.close()
    found = received(client, kafka.address, topic, len(messages))
    assert [int(value or b"") for value in found] == list(range(len(messages)))


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_what_comes_beside_a_large_one_is_not_blamed(client: str, kafka: Broker) -> None:
    """Brokers refuse whole batches, also where none of the messages in one is too large."""
    producer, topic = producer_of(client, Connection((kafka.address,))), fresh_name("small")
    create(kafka.address, topic, **{"max.message.bytes": 100_000})
    small = [ProducerRecord(topic, f"{i:200}".encode(), partition=0) for i in range(2_000)]
    large = ProducerRecord(topic, b"1" * 200_000, partition=0)
    for each in small[:1_000]:
        producer.send(each)
    producer.flush(30)
    for each in [*small[1_000:1_500], large, *small[1_500:]]:
        producer.send(each)
    with pytest.raises(MessageTooLargeError) as told:
        producer.flush(30)
    assert told.value.messages == [large]
    producer.flush(30)
    assert producer.waiting == 0
    producer.close()
    found = received(client, kafka.address, topic, len(small))
    assert sorted(int(value or b"") for value in found) == list(range(len(small)))


def test_sending_does_not_wait_where_there_is_room() -> None:
    """For a broker that is not there, or a topic: only whoever flushes waits."""
    producer = producer_of("kafka-python", Connection(("127.0.0.1:1",)))
    begun = time.monotonic()
    for _ in range(50_000):
        producer.send(ProducerRecord("t", b"x"))
    assert time.monotonic() - begun < 50  # fifty attempts at a broker would take 250
    assert producer.waiting == 50_000
    producer.close()


class Reluctant:
    """A producer that takes what it is given at the n-th attempt."""

    def __init__(self, attempts: int, error: RetriableKafkaError) -> None:
        self._attempts, self._error = attempts, error
        self.asked, self.flushed, self.waiting = 0, False, 1

    def send(self, message: ProducerRecord) -> None:
        self.asked += 1
        if self.asked < self._attempts:
            raise self._error

    def push(self) -> None:
        """All is sent by `flush`."""

    def flush(self, seconds: float) -> None:
        self.send(ProducerRecord("t", b""))
        self.flushed = True

    def close(self) -> None:
        """There is nothing to let go of."""


def test_patience_says_once_what_it_waits_for() -> None:
    said: list[str] = []
    producer = Reluctant(4, RetriableKafkaError("it is gone"))
    RetryingProducer(producer, 60, bool, said.append).flush()
    assert producer.flushed
    assert said[0] == "Kafka: it is gone; trying again"
    assert said[1].startswith("Kafka: recovered after")
    assert len(said) == 2


def test_patience_ends() -> None:
    producer = Reluctant(10**9, RetriableKafkaError("it is gone"))
    begun = time.monotonic()
    with pytest.raises(RetriableKafkaError, match="it is gone"):
        RetryingProducer(producer, 0.3, bool, print).send(ProducerRecord("t", b""))
    assert time.monotonic() - begun >= 0.3
    assert producer.asked > 1
    before = producer.asked
    with pytest.raises(RetriableKafkaError):
        RetryingProducer(producer, 60, lambda: True, print).flush()
    assert producer.asked == before + 1
    large = Reluctant(10**9, MessageTooLargeError([ProducerRecord("t", b"")], "see the topic"))
    with pytest.raises(MessageTooLargeError):
        RetryingProducer(large, 60, bool, print).flush()
    assert large.asked == 1


def produce(kafka: Broker, client: str, topic: str, *more: str) -> "subprocess.Popen[str]":
    where = f"--bootstrap-servers={kafka.address}"
    command = [sys.executable, "-m", "stream_rank", "produce", where]
    return subprocess.Popen(
        [*command, f"--client={client}", f"--topic={topic}", *more],
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long(15)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_produce_waits_for_a_topic_and_says_so(client: str, kafka: Broker) -> None:
    topic = fresh_name("unmade")
    with produce(kafka, client, topic, "synthetic:1000") as sending:
        assert sending.stderr is not None
        said = ""
        while topic not in said:
            said += (line := sending.stderr.readline())
            assert line, said
        assert "trying again" in said
        assert sending.poll() is None
        create(kafka.address, topic)
        rest = sending.stderr.read()
    assert sending.returncode == 0, said + rest
    assert f"1,000 events to {topic}" in rest
    assert len(list(received(client, kafka.address, topic, 1_000))) == 1_000


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_produce_can_be_stopped_while_it_waits(client: str, kafka: Broker) -> None:
    with produce(kafka, client, fresh_name("unmade"), "synthetic:10") as sending:
        assert sending.stderr is not None
        assert "trying again" in sending.stderr.readline()
        sending.terminate()
        said = sending.communicate(timeout=30)[1]
    assert sending.returncode == 7
    assert "Traceback" not in said


@pytest.mark.long(17)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_produce_can_be_stopped_with_messages_under_way(client: str, late: Kafka) -> None:
    with late, produce(late, client, "t", "synthetic:1000000", "--rate=2000") as sending:
        assert sending.stderr is not None
        assert "events" in sending.stderr.readline()
        late.freeze(True)
        time.sleep(1)
        sending.terminate()
        said = sending.communicate(timeout=60)[1]
        late.freeze(False)
    assert sending.returncode == 7
    assert "Traceback" not in said


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_produce_leaves_nothing_out_because_of_its_size(
    client: str, kafka: Broker, tmp_path: Path
) -> None:
    topic, events = fresh_name("small"), tmp_path / "events.jsonl"
    create(kafka.address, topic, **{"max.message.bytes": 100_000})
    words = '"' + "a" * 200_000 + '"'
    events.write_text(f'{{"x": {{"a": 1}}, "y": 1}}\n{{"x": {{"a": 1}}, "y": 2, "id": {words}}}\n')
    with produce(kafka, client, topic, str(events)) as sending:
        said = sending.communicate(timeout=60)[1]
    assert sending.returncode == 7, said
    assert "too large" in said
    assert "max.message.bytes" in said
