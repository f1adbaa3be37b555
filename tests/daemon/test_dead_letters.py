"""What cannot be learned is kept whole, told of, and brought back when it is mended."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from stream_rank.ingest.kafka.clients import consumer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ConsumerRecord, ProducerRecord, Subscription
from stream_rank.sinks.dead_letters import origin_of
from tests.cli.conftest import run
from tests.daemon.conftest import Broker, Daemon, Topic
from tests.ingest.kafka.conftest import create, fresh_name, from_the_beginning, wait_for

GOOD = b'{"x": {"a": 1}, "y": 2}'


def hostile() -> list[bytes | None]:
    """Garbage of all kinds: empty, huge, deep, wrong, binary."""
    generator = random.Random(1)
    return [
        b"   ",
        b"garbage",
        b"\xff\xfe\x00",
        b"a" * 10_000_000,
        b'{"x": {"a": ' + b"9" * 5_000_000 + b'}, "y": 1}',
        b"[" * 100_000,
        b'{"x": ' * 50_000,
        b'{"x": {"a": 1e999}, "y": 1}',
        b'{"x": {"a": NaN}, "y": 1}',
        b'{"x": {"a": 1}, "y": 77}',
        b'{"x": {}, "y": 1}',
        b'{"x": {"a": [1]}, "y": 1}',
        b'{"x": {"a": 1}, "y": 1, "z": 1}',
        b'{"x": {"a": 1}, "y": 1}{"x": {"a": 1}, "y": 1}',
        pickled(),
        *(generator.randbytes(generator.randrange(1, 300)) for _ in range(500)),
    ]


def pickled() -> bytes:
    import os
    import pickle

    class Bomb:
        def __reduce__(self) -> Any:
            return os.abort, ()

    return pickle.dumps(Bomb())


def everything(address: str, topic: str, count: int) -> list[ConsumerRecord]:
    reader = consumer_of(
        "kafka-python", Connection((address,)), Subscription([topic]), from_the_beginning
    )
    found: list[ConsumerRecord] = []

    def enough() -> bool:
        found.extend(part.whole(i) for part in reader.poll(0.1) for i in range(len(part.offsets)))
        return len(found) >= count

    wait_for(enough)
    reader.close(5)
    return found


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_hostile_messages_are_dead_letters(client: str, kafka: Broker, tmp_path: Path) -> None:
    topic = Topic(kafka, **{"max.message.bytes": 11_000_000})
    letters = fresh_name("letters")
    create(kafka.address, letters, 2, **{"max.message.bytes": 6_000_000})
    bad = hostile()
    messages = [
        each
        for number, value in enumerate(bad)
        for each in (
            ProducerRecord(
                topic.name, value, f"k{number}".encode(), [("trace", b"1"), ("none", None)], 0
            ),
            ProducerRecord(topic.name, GOOD, partition=0),
        )
    ]
    topic.send(messages)
    with Daemon(
        tmp_path,
        [topic.name],
        topic.address,
        client=client,
        dead_letters=letters,
        max_features=1_000,
    ) as daemon:
        status = daemon.until(lambda status: status["events"] == len(messages), 120)
        assert status["learned"] == len(bad)
        assert status["rejects"] == len(bad)
        assert daemon.end() == 0, daemon.log
        assert "Traceback" not in daemon.log
    found = {}
    for message in everything(kafka.address, letters, len(bad)):
        origin = origin_of(message.headers)
        assert origin is not None
        found[int(origin["stream-rank-offset"])] = message, origin
    assert len(found) == len(bad)
    for number, value in enumerate(bad):
        message, origin = found[2 * number]
        assert origin["stream-rank-reason"]
        assert origin["stream-rank-topic"] == topic.name
        assert origin["stream-rank-partition"] == "0"
        assert int(origin["stream-rank-time"]) > 1.6e12
        assert message.key == f"k{number}".encode()
        assert ("trace", b"1") in [tuple(each) for each in message.headers]
        if value is not None and len(value) > 6_000_000:  # the topic does not take it whole
            assert message.value == value[:100_000]
            assert origin["stream-rank-clipped"] == str(len(value))
        else:
            assert (message.value or b"") == (value or b"")


@pytest.mark.long(40)
def test_mended_ones_come_back(kafka: Broker, tmp_path: Path) -> None:
    topic, letters = Topic(kafka), fresh_name("letters")
    create(kafka.address, letters)
    wrong = [b'{"x": {"a": 1}, "y": 9}', b'{"x": {"a": [1]}, "y": 2}', b'{"x": {"b": 1}, "y": 1']
    topic.send([GOOD, *wrong, GOOD])
    config = ["--config", tmp_path / "stream-rank.toml"]
    with Daemon(tmp_path, [topic.name], topic.address, dead_letters=letters) as daemon:
        daemon.until(lambda status: status["events"] == 5)
        assert daemon.end() == 0
    listed = run("dead-letters", "list", *config)
    assert listed.code == 0, listed.error
    assert listed.out.count(f"{topic.name}[0]@") == 3
    assert "label 9 is not one of the ranks 1..5" in listed.out
    lines = run("dead-letters", "list", "--json", *config).out
    mended = tmp_path / "mended.jsonl"
    mended.write_text(lines.replace(": [1]", ": 1").replace('\\"y\\": 1"', '\\"y\\": 1}"'))
    # as they are, only the first is an event at all
    ran = run("dead-letters", "redrive", *config)
    assert "1 sent to where they came from, 2 left" in ran.error
    ran = run("dead-letters", "redrive", "--from", mended, *config)
    assert "2 sent to where they came from, 0 left" in ran.error, ran.error
    again = run("dead-letters", "redrive", "--from", mended, *config)
    assert "0 sent to where they came from, 0 left" in again.error
    (tmp_path / "odd.jsonl").write_text('{"letter": 1, "topic": "t", "reason": "r"}\n')
    odd = run("dead-letters", "redrive", "--from", tmp_path / "odd.jsonl", *config)
    assert (odd.code, "odd.jsonl:1 is not a line of" in odd.error) == (3, True)
    assert run("dead-letters", "list", *config).out == ""
    assert run("dead-letters", "list", "--all", *config).out.count("\n") == 3
    with Daemon(tmp_path, [topic.name], topic.address, dead_letters=letters) as daemon:
        status = daemon.until(lambda status: status["events"] == 8)
        assert (status["learned"], status["rejects"]) == (4, 4)
        assert daemon.end() == 0


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_headers_that_are_no_text(client: str, topic: Topic, tmp_path: Path) -> None:
    """kafka-python cannot read past them, and says so; librdkafka can."""
    from kafka import KafkaProducer

    class Odd(str):
        def encode(self, *_: Any, **__: Any) -> bytes:
            return b"\xff\xfe"

    producer = KafkaProducer(bootstrap_servers=topic.address)
    producer.send(topic.name, GOOD, headers=[(Odd("x"), b"1")]).get(30)
    producer.send(topic.name, b"no", headers=[(Odd("x"), b"1")]).get(30)
    producer.close()
    topic.send([GOOD])
    letters = fresh_name("letters")
    create(topic.address, letters)
    with Daemon(
        tmp_path, [topic.name], topic.address, client=client, dead_letters=letters
    ) as daemon:
        if client == "kafka-python":
            assert daemon.process.wait(60) == 7
            assert daemon.said("kafka-python cannot read a message")
        else:
            daemon.until(lambda status: status["learned"] == 2 and status["rejects"] == 1)
            assert daemon.end() == 0


@pytest.mark.parametrize("limit", [{"max_reject_ratio": 0.2}, {"max_consecutive_rejects": 50}])
def test_too_many_rejects_stop_it(limit: dict[str, Any], topic: Topic, tmp_path: Path) -> None:
    topic.send([GOOD] * 400 + [b"no"] * 49 + [GOOD])
    with Daemon(tmp_path, [topic.name], topic.address, **limit) as daemon:
        daemon.until(lambda status: status["events"] == 450)
        topic.send([b"no"] * 60)
        assert daemon.process.wait(30) == 5
        assert daemon.said("rejects.jsonl")
    if "max_consecutive_rejects" in limit:
        assert "in a row were rejected" in daemon.log


def test_predictions_go_to_a_topic(kafka: Broker, tmp_path: Path) -> None:
    topic, predictions = Topic(kafka), fresh_name("predictions")
    create(kafka.address, predictions)
    topic.send([GOOD] * 20 + [b'{"x": {"a": 1}, "id": "u7"}', b'{"x": {"a": 1}}'])
    with Daemon(tmp_path, [topic.name], topic.address, predictions=predictions) as daemon:
        daemon.until(lambda status: status["requests"] == 2)
        assert daemon.end() == 0
    found = everything(kafka.address, predictions, 2)
    assert [message.key for message in found] == [b"u7", None]
    assert json.loads(found[0].value or b"") == {"id": "u7", "predictions": {"prank": 2.0}}
