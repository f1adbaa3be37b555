"""What goes wrong around a daemon: it comes through by itself, or stops with a sentence. Nothing is lost, nothing learned twice."""

import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from simulators.broker import Kafka, NoKafkaError
from stream_rank.checkpoint.model_file import load
from stream_rank.checkpoint.rule_export import exported
from stream_rank.ingest.kafka.clients import consumer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import (
    Consumer,
    OffsetRange,
    Partition,
    ProducerRecord,
    Subscription,
)
from tests.cli.test_memory import resident
from tests.daemon.conftest import Broker, Daemon, Topic, wait_for
from tests.disks import resize, small_disk
from tests.ingest.kafka.conftest import admin, until_led

COUNTING: dict[str, Any] = {"learners": ["widrow-hoff:learning_rate=0.5"], "n_ranks": None}
"""Each event's own feature weighs 0.5 if it was learned once, more if it was again."""


def counted(first: int, count: int, topic: Topic) -> Iterator[ProducerRecord]:
    for number in range(first, first + count):
        value = b'{"x": {"e%d": 1}, "y": 1}' % number
        yield ProducerRecord(topic.name, value, partition=number % topic.partitions)


def assert_once(out: Path, count: int) -> None:
    weights = exported(load(out))["weights"]
    assert len(weights) == count
    assert set(weights.values()) == {0.5}


@pytest.fixture(scope="session")
def ill_treated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    try:
        kafka = Kafka(tmp_path_factory.mktemp("kafka"))
    except NoKafkaError as error:
        pytest.skip(str(error))
    with kafka:
        yield kafka


@pytest.fixture
def own_kafka(ill_treated: Kafka) -> Iterator[Kafka]:
    """A broker that may be ill-treated: no other process uses it, and the next test finds it well."""
    yield ill_treated
    ill_treated.heal()


@pytest.mark.long(40)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_the_broker_is_killed_and_comes_back(client: str, own_kafka: Kafka, tmp_path: Path) -> None:
    topic = Topic(own_kafka, 2)
    topic.send(counted(0, 2_000, topic))
    with Daemon(tmp_path, [topic.name], topic.address, client=client, **COUNTING) as daemon:
        daemon.learned(2_000)
        own_kafka.kill()
        killed = time.monotonic()
        time.sleep(8)  # longer than the session
        assert daemon.get("/livez")[0] == 200
        silence = daemon.until(lambda status: True)["kafka_silence_seconds"]
        assert 3 < silence < time.monotonic() - killed + 2
        before = _seconds_of(daemon)
        time.sleep(3)
        assert _seconds_of(daemon) - before < 1.5  # it does not spin
        assert len(daemon.log.splitlines()) < 80
        wait_for(lambda: "Kafka has not answered for" in daemon.get("/readyz")[1])
        assert daemon.get("/readyz")[0] == 503
        assert daemon.until(lambda status: status["kafka_silence_seconds"] > 15)
        own_kafka.start()
        topic.send(counted(2_000, 2_000, topic))
        assert daemon.learned(4_000)["kafka_silence_seconds"] < 5
        assert daemon.get("/readyz")[0] == 200
        assert daemon.end() == 0, daemon.log
    assert_once(daemon.out, 4_000)


def test_a_frozen_broker_is_silent(own_kafka: Kafka) -> None:
    """Connections stay open, and no client raises anything."""
    topic = Topic(own_kafka)
    connection = Connection((own_kafka.address,))
    with ExitStack() as stack:
        consumers = {}
        for client in ("kafka-python", "confluent"):
            subscription = Subscription([topic.name], f"{topic.name}-{client}", 6.0)
            consumers[client] = consumer_of(client, connection, subscription, _from_first)
            stack.callback(consumers[client].close, 1.0)

        def turned(condition: Callable[[Consumer], bool]) -> bool:
            for each in consumers.values():
                each.poll(0.05)
            return all(map(condition, consumers.values()))

        wait_for(lambda: turned(lambda each: bool(each.ends()) and each.silence < 1.5))
        own_kafka.freeze(True)
        wait_for(lambda: turned(lambda each: each.silence > 3), 10)
        own_kafka.freeze(False)
        wait_for(lambda: turned(lambda each: each.silence < 1.5), 10)
        topic.send([b"1", b"2"])
        wait_for(lambda: turned(lambda each: each.ends() == {Partition(topic.name, 0): 2}), 10)


def _from_first(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
    return {partition: each.first for partition, each in bounds.items()}


def _seconds_of(daemon: Daemon) -> float:
    """Of a processor, that the daemon has used."""
    fields = Path(f"/proc/{daemon.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@pytest.mark.long(25)
def test_it_is_begun_before_the_broker(own_kafka: Kafka, tmp_path: Path) -> None:
    topic = Topic(own_kafka)
    topic.send(counted(0, 10, topic))
    own_kafka.kill()
    with Daemon(tmp_path, [topic.name], topic.address, **COUNTING) as daemon:
        wait_for(lambda: daemon.said("Kafka: "))
        assert daemon.get("/livez")[0] == 200
        assert daemon.get("/readyz")[0] == 503
        own_kafka.start()
        daemon.learned(10)
        assert daemon.end() == 0


@pytest.mark.long(45)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_leader_is_killed(client: str, tmp_path: Path) -> None:
    with Kafka(tmp_path / "kafka", nodes=3, memory=384) as kafka:
        topic = Topic(kafka, 3, replicas=3)
        topic.send(counted(0, 3_000, topic))
        with Daemon(tmp_path, [topic.name], topic.address, client=client, **COUNTING) as daemon:
            daemon.learned(3_000)
            kafka.kill(_leader_of(topic))
            topic.send(counted(3_000, 3_000, topic))
            daemon.learned(6_000, 90)
            assert daemon.end() == 0, daemon.log
        assert_once(daemon.out, 6_000)


def _leader_of(topic: Topic) -> int:
    """The node, from 0, that leads the first partition."""
    from confluent_kafka.admin import AdminClient

    known = AdminClient({"bootstrap.servers": topic.address}).list_topics(topic.name, timeout=10)
    return int(known.topics[topic.name].partitions[0].leader) - 1


@pytest.mark.long(18)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_it_sleeps_for_longer_than_its_session(client: str, kafka: Broker, tmp_path: Path) -> None:
    topic = Topic(kafka, 2)
    topic.send(counted(0, 1_000, topic))
    with Daemon(tmp_path, [topic.name], topic.address, client=client, **COUNTING) as daemon:
        daemon.learned(1_000)
        daemon.process.send_signal(signal.SIGSTOP)
        topic.send(counted(1_000, 1_000, topic))
        time.sleep(10)  # the session is 6
        daemon.process.send_signal(signal.SIGCONT)
        daemon.learned(2_000)
        assert daemon.end() == 0, daemon.log
    assert_once(daemon.out, 2_000)


@pytest.mark.long(30)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_members_come_and_go(client: str, kafka: Broker, tmp_path: Path) -> None:
    """A storm of rebalances: others of the group take partitions and drop dead. Ours learns all there is in the end."""
    topic = Topic(kafka, 4)
    settings = {**COUNTING, "client": client, "group_id": f"storm-{topic.name}"}
    with Daemon(tmp_path / "one", [topic.name], topic.address, **settings) as daemon:
        daemon.until(lambda status: len(status["assigned"]) == 4)
        for turn in range(3):
            with Daemon(
                tmp_path / f"other-{turn}", [topic.name], topic.address, **settings
            ) as other:
                topic.send(counted(turn * 1_000, 1_000, topic))
                other.until(lambda status: status["assigned"])
                if turn == 1:
                    other.end()
        status = daemon.learned(3_000)
        assert status["rebalances"] > 3
        of = {
            event: [each for each in daemon.lines() if each["event"] == f"partitions {event}"]
            for event in ("assigned", "revoked")
        }
        assert len(of["assigned"]) > 1
        assert topic.name in of["revoked"][0]["partitions"]
        assert daemon.end() == 0, daemon.log
    assert_once(daemon.out, 3_000)


@pytest.mark.long(20)
def test_the_disk_is_full_under_the_snapshots(kafka: Broker, tmp_path: Path) -> None:
    topic = Topic(kafka)
    with small_disk(tmp_path / "disk", "700k") as disk:
        with Daemon(tmp_path, [topic.name], topic.address, snapshots=str(disk), snapshot_events=1, snapshots_kept=1, **COUNTING) as daemon:  # fmt: skip
            daemon.until(lambda status: status["snapshot"])
            (disk / "ballast").write_bytes(bytes(420_000))
            topic.send(counted(0, 5_000, topic))
            wait_for(lambda: daemon.said("no snapshot could be written"))
            status = daemon.learned(5_000)
            assert daemon.get("/livez")[0] == 200
            assert len(daemon.log.splitlines()) < 60
            resize(disk, "50m")
            daemon.until(lambda now: now["snapshot"] != status["snapshot"])
            wait_for(lambda: daemon.said("snapshots: recovered"))
            assert daemon.end() == 0
        shutil.copytree(disk, tmp_path / "kept")
    assert_once(tmp_path / "kept", 5_000)


@pytest.mark.long(20)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_stopping_while_the_broker_is_down(client: str, own_kafka: Kafka, tmp_path: Path) -> None:
    """It keeps what it knows, and does not wait for those who do not answer."""
    topic = Topic(own_kafka)
    topic.send(counted(0, 100, topic))
    with Daemon(
        tmp_path, [topic.name], topic.address, stop_seconds=8, client=client, **COUNTING
    ) as daemon:
        daemon.learned(100)
        own_kafka.freeze(True)
        start = time.monotonic()
        assert daemon.end() == 0, daemon.log
        assert time.monotonic() - start < 9
        own_kafka.freeze(False)
    assert_once(daemon.out, 100)


@pytest.mark.long(30)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_the_broker_answers_nothing_for_a_while(
    client: str, own_kafka: Kafka, tmp_path: Path
) -> None:
    """It neither spins nor fills its memory, and goes on."""
    topic = Topic(own_kafka)
    topic.send(counted(0, 100, topic))
    with Daemon(tmp_path, [topic.name], topic.address, client=client, **COUNTING) as daemon:
        daemon.learned(100)
        own_kafka.freeze(True)
        seconds, memory = _seconds_of(daemon), resident(daemon.process.pid)
        time.sleep(15)
        assert _seconds_of(daemon) - seconds < 3
        assert resident(daemon.process.pid) - memory < 10e6
        assert daemon.get("/livez")[0] == 200
        assert len(daemon.log.splitlines()) < 100
        own_kafka.freeze(False)
        topic.send(counted(100, 100, topic))
        daemon.learned(200)
        assert daemon.end() == 0, daemon.log
    assert_once(daemon.out, 200)


@pytest.mark.long(30)
def test_it_stops_in_its_time_with_letters_that_cannot_be_sent(
    own_kafka: Kafka, tmp_path: Path
) -> None:
    from kafka.admin import ConfigResource, ConfigResourceType

    # the broker takes no letter, of which it would need a second copy
    few = {"min.insync.replicas": 2}
    topic, letters, many = Topic(own_kafka), Topic(own_kafka, **few), 20_000
    topic.send(counted(0, 100, topic))
    with Daemon(
        tmp_path,
        [topic.name],
        topic.address,
        stop_seconds=4,
        dead_letters=letters.name,
        snapshot_seconds=3600,
        **COUNTING,
    ) as daemon:
        daemon.learned(100)
        topic.send([b"no event"] * many)
        daemon.until(lambda status: status["rejects"] > 0)
        own_kafka.freeze(True)
        start = time.monotonic()
        assert daemon.end() == 143
        assert time.monotonic() - start < 8
        assert daemon.said("stopping took longer than stop_seconds 4")
        own_kafka.freeze(False)
    with closing(admin(own_kafka.address)) as client:
        enough = ConfigResource(
            ConfigResourceType.TOPIC, letters.name, configs={"min.insync.replicas": "1"}
        )
        client.alter_configs([enough])
    with Daemon(
        tmp_path, [topic.name], topic.address, dead_letters=letters.name, **COUNTING
    ) as daemon:
        status = daemon.until(lambda status: status["events"] == 100 + many)
        assert (status["learned"], status["rejects"]) == (100, many)
        assert daemon.end() == 0
    assert_once(daemon.out, 100)


@pytest.mark.long(20)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_partitions_that_are_added(client: str, kafka: Broker, tmp_path: Path) -> None:
    """Where a topic was begun at its end, a partition that is added is new, and begun at its beginning."""
    from kafka.admin import NewPartitions

    topic = Topic(kafka)
    topic.send(counted(0, 10, topic))
    with Daemon(
        tmp_path, [topic.name], topic.address, client=client, start="latest", **COUNTING
    ) as daemon:
        daemon.until(lambda status: status["assigned"])
        boss = admin(kafka.address)
        boss.create_partitions({topic.name: NewPartitions(2)})
        boss.close()
        until_led(topic.address, topic.name, 2)
        topic.partitions = 2
        topic.send(counted(10, 20, topic))
        daemon.learned(20)
        assert daemon.end() == 0, daemon.log
    assert_once(daemon.out, 20)
