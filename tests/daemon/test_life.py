"""A daemon's life: it begins, learns, tells, and stops."""

import json
import signal
import time
from pathlib import Path

import pytest

from stream_rank.checkpoint.model_file import load, state_digest
from tests.daemon.conftest import Broker, Daemon, Topic, wait_for
from tests.pipeline.conftest import mixed

pytestmark = pytest.mark.long(30)


@pytest.mark.long(22)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_it_learns_what_a_replay_learns(client: str, topic: Topic, tmp_path: Path) -> None:
    """One loop: the daemon and the replay differ in their source only."""
    from tests.cli.conftest import run, summary_of

    lines = [line for line in mixed(3_000) if line.strip()]
    topic.send(lines)
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    learners = ["oap-bpm:n_members=9", "online-mprank:budget=20"]
    more = [each for name in learners for each in ("--learner", name)]
    ran = run("replay", file, *more, "--n-ranks", 5, "--delay", 50, "--out", tmp_path / "replay")
    assert ran.code == 0, ran.error
    whole = summary_of(tmp_path / "replay")
    with Daemon(
        tmp_path, [topic.name], topic.address, learners=learners, delay=50, client=client
    ) as daemon:
        status = daemon.until(lambda status: status["events"] == 3_000)
        for name in ("learned", "requests", "labels", "rejects", "waiting", "features", "learners"):
            assert status[name] == whole[name], name
        assert status["position"] == {topic.name: {"0": 3_000}}
        assert status["lag"] == {f"{topic.name}[0]": 0}
        assert set(whole) - {"comparison", "recommendation"} <= set(status)  # which are of an end
        assert daemon.get("/livez")[0] == 200
        assert daemon.get("/readyz")[0] == 200
        assert daemon.get("/nothing")[0] == 404
        metrics = daemon.get("/metrics")[1]
        assert (
            f'stream_rank_records_total{{outcome="learned"}} {float(whole["learned"])}' in metrics
        )
        assert f'stream_rank_position{{partition="0",topic="{topic.name}"}} 3000.0' in metrics
        assert daemon.end() == 0
        assert daemon.lines()[-1]["event"] == "stopped"
    for name, found in whole["learners"].items():
        assert state_digest(load(daemon.out, learner=name)) == found["state_sha256"]
    rejects = (daemon.out / "rejects.jsonl").read_text().splitlines()
    assert len(rejects) == whole["rejects"]
    assert json.loads(rejects[0])["place"].startswith(f"{topic.name}[0]@")


@pytest.mark.long(19)
def test_it_goes_on_where_it_was(topic: Topic, tmp_path: Path) -> None:
    lines = [line for line in mixed(600, seed=3) if b'"y"' in line and b'"x"' in line]
    topic.send(lines[:200])
    with Daemon(tmp_path, [topic.name], topic.address) as daemon:
        before = daemon.until(lambda status: status["events"] == 200)
        assert daemon.end() == 0
    topic.send(lines[200:])
    with Daemon(tmp_path, [topic.name], topic.address, flags=["--idle-timeout", 3]) as daemon:
        assert daemon.process.wait(60) == 0
        assert "resumed" in daemon.log
        (given,) = [each for each in daemon.lines() if each["event"] == "partitions assigned"]
        assert given["partitions"] == f"{topic.name}[0]"
        assert daemon.said("learners take up to ")
    with Daemon(tmp_path, [topic.name], topic.address) as daemon:
        after = daemon.until(lambda status: status["assigned"])
        assert after["events"] == len(lines)
        assert after["learned"] > before["learned"]
        assert after["resumed_after"] == len(lines)


@pytest.mark.long(20)
def test_it_stops_when_it_has_enough_or_nothing_comes(topic: Topic, tmp_path: Path) -> None:
    topic.send([b'{"x": {"a": 1}, "y": 2}'] * 50)
    with Daemon(tmp_path / "a", [topic.name], topic.address, flags=["--max-events", 30]) as daemon:
        assert daemon.process.wait(60) == 0
        assert daemon.lines()[-1]["records"] == 30
    with Daemon(
        tmp_path / "b", [topic.name], topic.address, group_id=f"b-{topic.name}", idle_timeout=4
    ) as daemon:
        assert daemon.process.wait(60) == 0
        assert daemon.lines()[-1]["records"] == 50


def test_a_slow_stream_is_learned_soon(topic: Topic, tmp_path: Path) -> None:
    with Daemon(tmp_path, [topic.name], topic.address) as daemon:
        daemon.until(lambda status: status["assigned"])
        topic.send([b'{"x": {"a": 1}, "y": 2}'])
        daemon.learned(1)  # what is compiled is compiled now
        turns = []
        for count in range(2, 5):
            topic.send([b'{"x": {"a": 1}, "y": 2}'])
            start = time.monotonic()
            daemon.learned(count)
            turns.append(time.monotonic() - start)
    assert min(turns) < 1.0  # the machine may have been elsewhere in one of them


def test_snapshots_on_demand_and_the_second_signal(topic: Topic, tmp_path: Path) -> None:
    topic.send([b'{"x": {"a": 1}, "y": 2}'] * 10)
    with Daemon(tmp_path, [topic.name], topic.address, snapshot_seconds=3600) as daemon:
        daemon.learned(10)
        before = daemon.status()["snapshot"]
        daemon.process.send_signal(signal.SIGUSR1)
        daemon.until(lambda status: status["snapshot"] != before)
        daemon.process.send_signal(signal.SIGSTOP)  # so that both come at once
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.send_signal(signal.SIGCONT)
        time.sleep(0.005)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(30) in (0, -signal.SIGTERM)


@pytest.mark.long(14)
def test_two_in_one_folder_and_ports_that_are_taken(topic: Topic, tmp_path: Path) -> None:
    with Daemon(tmp_path, [topic.name], topic.address) as daemon:
        port = int(daemon.url.rpartition(":")[2])
        with Daemon(tmp_path, [topic.name], topic.address) as other:
            assert other.process.wait(90) == 2
            assert other.said("another run is writing to")
        with Daemon(tmp_path / "b", [topic.name], topic.address, port=port) as other:
            assert other.process.wait(90) == 2
            assert other.said("port 0 takes a free one")


def test_others_learners_are_refused(topic: Topic, tmp_path: Path) -> None:
    learners = ["river.linear_model.LinearRegression"]
    with Daemon(tmp_path, [topic.name], topic.address, learners=learners) as daemon:
        assert daemon.process.wait(90) == 2
        assert daemon.said("it is not a learner of stream-rank")


def test_a_topic_that_is_made_later(kafka: Broker, tmp_path: Path) -> None:
    from tests.ingest.kafka.conftest import create, fresh_name

    name = fresh_name("later")
    with Daemon(tmp_path, [name], kafka.address) as daemon:
        wait_for(lambda: daemon.said(f"there is no topic '{name}'"))
        assert daemon.get("/livez")[0] == 200
        assert daemon.get("/readyz")[0] == 503
        create(kafka.address, name)
        daemon.until(lambda status: status["assigned"] == [f"{name}[0]"])
        assert daemon.log.count("there is no topic") == 1
        wait_for(lambda: daemon.said("Kafka: recovered"))


@pytest.mark.parametrize("lost", ["fail", "earliest", "latest"])
def test_what_retention_deleted(lost: str, topic: Topic, tmp_path: Path) -> None:
    from kafka import TopicPartition

    from tests.ingest.kafka.conftest import admin

    event = b'{"x": {"a": 1}, "y": 2}'
    topic.send([event] * 20)
    with Daemon(tmp_path, [topic.name], topic.address, max_events=10) as daemon:
        assert daemon.process.wait(60) == 0
    client = admin(topic.address)
    client.delete_records({TopicPartition(topic.name, 0): 15})
    client.close()
    with Daemon(tmp_path, [topic.name], topic.address, on_lost_offsets=lost) as daemon:
        if lost == "fail":
            assert daemon.process.wait(60) == 7
            assert daemon.said("its retention was too short")
            return
        status = daemon.until(lambda status: status["position"] == {topic.name: {"0": 20}})
        assert status["learned"] == (15 if lost == "earliest" else 10)
        assert daemon.said(f"since `on_lost_offsets` = {lost}")
