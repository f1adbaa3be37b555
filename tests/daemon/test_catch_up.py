"""A challenger that catches up is, to the bit, one that rode from the beginning."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from stream_rank.checkpoint.model_file import load, state_digest
from stream_rank.cli.status import lines_of
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.cli.conftest import run, summary_of
from tests.daemon.conftest import Broker, Daemon, Topic
from tests.ingest.kafka.conftest import fresh_name
from tests.pipeline.conftest import mixed

RIDES, FIRST, SECOND = (
    "scale | prank",
    "scale | normalize | oap-bpm:n_members=5",
    "online-mprank:budget=20",
)
LEARNERS = [FIRST, RIDES, SECOND]


def abort(topic: Topic, lines: list[bytes]) -> None:
    """Send messages that nobody is to read."""
    producer = Producer(
        {"bootstrap.servers": topic.address, "transactional.id": fresh_name("aborted")}
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    for line in lines:
        producer.produce(topic.name, line, partition=0)
    producer.flush(30)
    producer.abort_transaction(30)


def rode(folder: Path, lines: list[bytes], learners: list[str], **settings: Any) -> dict[str, Any]:
    """What learners are who rode from the beginning, by name: their digests as files and in the summary."""
    file = folder / "events.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    more = [each for name in learners for each in ("--learner", name)]
    more += [str(each) for name, value in settings.items() for each in (f"--{name}", value)]
    out = folder / "replay"
    ran = run("replay", file, *more, "--n-ranks", 5, "--out", out)
    assert ran.code == 0, ran.error
    return summary_of(out)


@pytest.mark.long(60)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_who_catches_up_rode_from_the_beginning(client: str, topic: Topic, tmp_path: Path) -> None:
    """Through late labels, garbage, aborted transactions, messages that are passed over, and more that come meanwhile."""
    lines = mixed(12_000, seed=5)
    skip = [f"{topic.name}:0:100-149"]
    given: dict[str, Any] = {"client": client, "delay": 50, "skip": skip}
    topic.send(lines[:3_000])
    abort(topic, lines[:40])
    topic.send(lines[3_000:5_000])
    with Daemon(tmp_path, [topic.name], topic.address, learners=[RIDES], **given) as daemon:
        daemon.until(lambda status: status["events"] == 4_950, 180)
        assert daemon.end() == 0
    produced = threading.Event()

    def produce() -> None:
        for begin in range(5_000, 11_000, 500):
            topic.send(lines[begin : begin + 500])
        abort(topic, lines[:3])
        produced.set()

    given |= {"learners": LEARNERS, "catch_up": "retained"}
    with Daemon(tmp_path, [topic.name], topic.address, **given) as daemon:
        producing = threading.Thread(target=produce)
        producing.start()
        daemon.until(lambda status: list(status["learners"]) == LEARNERS, 180)
        assert produced.wait(120)
        producing.join()
        topic.send(lines[11_000:])
        status = daemon.until(lambda status: status["events"] == 11_950, 180)
        assert status["catching_up"] is None
        assert all(status["learners"][name]["since"] > 0 for name in (FIRST, SECOND))
        assert 'stream_rank_failures_total{what="catching_up"} 0.0' in daemon.get("/metrics")[1]
        assert daemon.end() == 0
    whole = rode(tmp_path, lines[:100] + lines[150:], LEARNERS, delay=50)
    for name in LEARNERS:
        kept = state_digest(load(daemon.out, learner=name))
        assert kept == state_digest(load(tmp_path / "replay", learner=name)), name
        digests = [each["learners"][name]["state_sha256"] for each in (status, whole)]
        assert digests[0] == digests[1]
    assert json.dumps(status["learners"][RIDES]) == json.dumps(whole["learners"][RIDES])
    sent = (daemon.out / "rejects.jsonl").read_bytes().splitlines()
    assert len(sent) == status["rejects"] == whole["rejects"]  # none was sent twice


@pytest.mark.long(60)
def test_killed_amid_it_and_among_busy_producers(kafka: Broker, tmp_path: Path) -> None:
    """It begins again at the next start, and nothing of the run is lost; of three partitions each message is learned once."""
    topic = Topic(kafka, 3)
    lines = [json.dumps({"x": {"a": i % 7, "b": i % 5}, "y": 1 + i % 5}) for i in range(60_000)]
    messages = [
        ProducerRecord(topic.name, line.encode(), partition=i % 3) for i, line in enumerate(lines)
    ]
    slow = "oap-bpm:n_members=2000"  # so that it can be killed amid it
    topic.send(messages[:40_000])
    given: dict[str, Any] = {"client": "confluent", "learners": [RIDES], "snapshot_seconds": 1}
    with Daemon(tmp_path, [topic.name], topic.address, **given) as daemon:
        daemon.learned(40_000, 180)
        assert daemon.end() == 0
    given |= {"learners": [slow, RIDES], "catch_up": "retained"}
    with Daemon(tmp_path, [topic.name], topic.address, **given) as daemon:
        topic.send(messages[40_000:40_100])
        status = daemon.until(
            lambda status: status["catching_up"]["records"] > 0 and status["learned"] == 40_100
        )
        assert list(status["learners"]) == [RIDES]
        shown = list(lines_of(status, True, "", ""))
        assert any(line.startswith(f"catching up: {slow}, ") for line in shown)
        daemon.process.kill()
        daemon.process.wait()
    sent = 40_100
    with Daemon(tmp_path, [topic.name], topic.address, **given) as daemon:

        def joined(status: dict[str, Any]) -> bool:
            nonlocal sent
            topic.send(messages[sent : sent + 100])
            sent += 100
            return status["catching_up"] is None

        status = daemon.until(joined, 180)
        assert list(status["learners"]) == [slow, RIDES]
        daemon.learned(sent)
        (line,) = (each for each in daemon.lines() if "have caught up" in each["event"])
        status = daemon.status()
        assert line["records"] == status["learners"][slow]["since"]
        assert status["learners"][slow]["events"] == sent - line["records"]
        assert (status["learned"], sum(status["position"][topic.name].values())) == (sent, sent)
        assert daemon.end() == 0
    with Daemon(tmp_path, [topic.name], topic.address, **given) as daemon:
        again = daemon.until(lambda status: status["assigned"])
        assert again["learners"] == status["learners"]
        assert not daemon.said("catches up")
