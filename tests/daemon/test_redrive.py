"""Dead letters go back once, to topics of ours alone, and none of them stops the others."""

import json
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from simulators.broker import Kafka, NoKafkaError
from stream_rank.ingest.kafka.clients import producer_of, transactions_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ConsumerRecord, Partition, ProducerRecord, Subscription
from stream_rank.sinks.dead_letters import REDRIVEN, dead_letter_topic
from stream_rank.sinks.sink import Rejected
from tests.cli.conftest import Ran, command, run
from tests.daemon.conftest import Broker
from tests.ingest.kafka.conftest import create, fresh_name, from_the_beginning, polled, wait_for

CLIENTS = ["kafka-python", "confluent"]


def event(number: int, features: int = 1) -> bytes:
    x = {f"feature {i}": number for i in range(features)}
    return json.dumps({"x": x, "y": 2}).encode()


def write_letters(address: str, letters: str, origins: list[tuple[str, bytes]]) -> None:
    """Dead letters as a daemon writes them, of topics and values."""
    sink = dead_letter_topic(producer_of("confluent", Connection((address,))), letters)
    for offset, (topic, value) in enumerate(origins):
        message = ConsumerRecord(value, b"key", [("trace", b"1")], 5)
        origin = Partition(topic, 0), offset, message
        sink.put(Rejected("a setting was wrong", "schema", f"{topic}[0]@{offset}", value, origin))
    sink.flush()
    sink.close()


def settings_file(folder: Path, address: str, client: str, letters: str, topics: list[str]) -> Path:
    file = folder / "stream-rank.toml"
    file.write_text(
        f'bootstrap_servers = ["{address}"]\nclient = "{client}"\ndead_letters = "{letters}"\n'
        f"topics = {json.dumps(topics)}\nout = \"{folder / 'out'}\"\nlearners = ['prank']\nn_ranks = 5\n"
    )
    return file


def redrive(config: Path, *more: Any) -> Ran:
    return run("dead-letters", "redrive", "--config", config, *more)


def committed(address: str, topic: str, count: int) -> list[bytes]:
    """All that whoever reads what is committed gets, of which there is so much."""
    from stream_rank.ingest.kafka.clients import consumer_of

    reader = consumer_of(
        "confluent", Connection((address,)), Subscription([topic]), from_the_beginning
    )
    found: list[bytes] = []

    def everything() -> bool:
        found.extend(value or b"" for part in polled(reader) for value in part.values)
        return len(found) >= count

    wait_for(everything)
    for _ in range(5):
        everything()
    reader.close(5)
    return found


@pytest.mark.long(30)
@pytest.mark.parametrize("client", CLIENTS)
def test_letters_go_to_our_topics_alone_and_a_bad_one_stops_nobody(
    client: str, kafka: Broker, tmp_path: Path
) -> None:
    ours, others, letters = fresh_name("ours"), fresh_name("others"), fresh_name("letters")
    create(kafka.address, ours, **{"max.message.bytes": 5_000})
    create(kafka.address, others)
    create(kafka.address, letters)
    origins = [(ours, event(i)) for i in range(5)]
    origins += [
        (others, event(5)),
        (ours, b"no event"),
        (ours, event(7, 1_000)),
        ("no", event(8)),
    ]
    origins += [(ours, event(9))]
    write_letters(kafka.address, letters, origins)
    config = settings_file(tmp_path, kafka.address, client, letters, [ours])
    ran = redrive(config)
    assert ran.code == 0, ran.error
    assert "6 sent to where they came from, 4 left" in ran.error
    assert f"{others}[0]@5: {others} is none of `topics`" in ran.error
    assert "@6: not a valid event" in ran.error
    assert f"{ours}[0]@7: the broker does not take" in ran.error
    assert sorted(committed(kafka.address, ours, 6)) == sorted(event(i) for i in (*range(5), 9))
    assert committed(kafka.address, others, 0) == []
    again = redrive(config)
    assert "0 sent to where they came from, 4 left" in again.error, again.error
    file = tmp_path / "some.jsonl"
    listed = run("dead-letters", "list", "--json", "--config", config)
    file.write_text(
        "nonsense\n" + listed.out.replace("no event", event(6).decode().replace('"', '\\"'))
    )
    mended = redrive(config, "--from", file)
    assert (mended.code, "some.jsonl:1 is not a line of" in mended.error) == (3, True)
    assert "1 sent to where they came from, 3 left" in mended.error
    assert event(6) in committed(kafka.address, ours, 7)
    config.write_text(config.read_text().replace(json.dumps([ours]), "[]"))
    assert "to which topics?" in redrive(config).error


def leave_undecided(address: str, letters: str, topic: str) -> None:
    """What a process leaves that is killed in a transaction: a letter and its mark, which count for nothing."""
    from confluent_kafka import Producer

    name = f"stream-rank-redrive-{letters}"
    producer = Producer({"bootstrap.servers": address, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, event(0))
    producer.produce(letters, None, headers=[(REDRIVEN, f"{topic}[0]@0".encode())])
    producer.flush(30)


@pytest.mark.long(60)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_killed_redrive_and_a_broker_that_goes_away(client: str, tmp_path: Path) -> None:
    """Every letter is there once for whoever reads what is committed, as daemons do."""
    try:
        broker = Kafka(tmp_path / "kafka", 1)
    except NoKafkaError as error:
        pytest.skip(str(error))
    count, ours, letters = 1_500, fresh_name("ours"), fresh_name("letters")
    with broker:
        create(broker.address, ours)
        create(broker.address, letters)
        write_letters(broker.address, letters, [(ours, event(i)) for i in range(count)])
        config = settings_file(tmp_path, broker.address, client, letters, [ours])
        leave_undecided(broker.address, letters, ours)
        redriving = command("dead-letters", "redrive", "--config", config)
        # one that is killed: before, between or in transactions, but hardly after all of them
        process = subprocess.Popen(redriving, stderr=subprocess.PIPE, text=True)
        time.sleep(2.0)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # one that loses the broker, and goes on when it is back
        process = subprocess.Popen(redriving, stderr=subprocess.PIPE, text=True)
        time.sleep(2.5)
        broker.kill()
        time.sleep(1)
        broker.start()
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        ran = redrive(config)
        assert "0 sent to where they came from, 0 left" in ran.error
        found = Counter(committed(broker.address, ours, count))
        assert found == {event(i): 1 for i in range(count)}


@pytest.mark.parametrize("client", CLIENTS)
def test_what_was_left_undecided_is_decided_by_the_next(client: str, kafka: Broker) -> None:
    """And whoever was first is fenced off."""
    topic = fresh_name("undecided")
    create(kafka.address, topic)
    first, second = (transactions_of(client, Connection((kafka.address,)), topic) for _ in range(2))
    first.begin()
    first.send([ProducerRecord(topic, b"one"), ProducerRecord(topic, b"two")])
    second.begin()
    with pytest.raises(Exception, match=r".+"):
        first.send([ProducerRecord(topic, b"lost")])
    second.send([ProducerRecord(topic, b"three")])
    first.close()
    second.close()
    assert sorted(committed(kafka.address, topic, 3)) == [b"one", b"three", b"two"]
