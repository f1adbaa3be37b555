"""Of daemons that share their snapshots one leads, and the others go on where it ends, however it ends."""

import json
import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from stream_rank.checkpoint.model_file import load, state_digest
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.ingest.kafka.clients import consumer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord, Subscription
from tests.cli.conftest import run
from tests.daemon.conftest import Broker, Daemon, Topic, wait_for

SESSION_SECONDS = 6
LEARNERS = ["scale | oap-bpm:n_members=5", "online-mprank:budget=20"]


def metric(daemon: Daemon, name: str) -> float | None:
    found = re.search(rf"^stream_rank_{name}(?:{{.*}})? (\S+)$", daemon.get("/metrics")[1], re.M)
    return None if found is None else float(found[1])


class Pair:
    """A topic whose messages come in a known order, and daemons that learn it with the same snapshots and other folders."""

    def __init__(self, topic: Topic, folder: Path, stack: ExitStack, **settings: Any) -> None:
        self.topic, self.folder, self.stack, self.settings = topic, folder, stack, settings
        self.sent: list[bytes] = []

    def start(self, name: str) -> Daemon:
        daemon = Daemon(
            self.folder / name,
            [self.topic.name],
            self.topic.address,
            snapshots=str(self.folder / "snapshots"),
            session_timeout_seconds=SESSION_SECONDS,
            snapshot_seconds=0.5,
            learners=LEARNERS,
            **self.settings,
        )
        return self.stack.enter_context(daemon)

    def teach(self, daemon: Daemon, seconds: float = 90.0) -> None:
        """Have a daemon learn some more messages of one partition, with a reject, and have it say so."""
        first = len(self.sent)
        some = [
            json.dumps({"x": {"a": i % 7, "b": i % 5}, "y": 1 + i % 5}).encode()
            for i in range(first, first + 99)
        ] + [b"garbage"]
        self.sent += some
        partition = first // 100 % 2
        self.topic.send(
            [ProducerRecord(self.topic.name, each, partition=partition) for each in some]
        )
        daemon.until(lambda status: status.get("events") == len(self.sent), seconds)

    def stands_by(self, daemon: Daemon, other: Daemon) -> None:
        """It says so everywhere, is ready, and leaves all partitions where they are."""
        wait_for(lambda: daemon.get("/readyz")[0] == 200)
        line = next(line for line in daemon.lines() if line["event"] == "standing by")
        assert f"process {other.process.pid} on" in line["leader"]
        assert daemon.get("/readyz")[1].startswith(f"standing by; {line['leader']} leads since ")
        assert daemon.get("/livez")[0] == 200
        assert (metric(daemon, "leading"), metric(other, "leading")) == (0.0, 1.0)
        assert daemon.status()["leading"] is False
        assert len(other.status()["assigned"]) == 2
        said = run("status", daemon.url)
        assert (said.code, said.out.startswith("ready: standing by; process ")) == (0, True)
        wait_for(lambda: daemon.status()["snapshot"] == other.status()["snapshot"])  # it is hot

    def leads(self, daemon: Daemon, seconds: float) -> None:
        begun = time.monotonic()
        wait_for(lambda: daemon.said('"event": "leading"'), 60)
        assert time.monotonic() - begun < seconds


@pytest.mark.long(60)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_whoever_stood_by_goes_on(client: str, kafka: Broker, tmp_path: Path) -> None:
    with ExitStack() as stack:
        pair = Pair(Topic(kafka, 2), tmp_path, stack, client=client)
        one = pair.start("one")
        pair.teach(one)
        rebalances = one.status()["rebalances"]
        other = pair.start("other")
        pair.stands_by(other, one)
        pair.teach(one)
        assert one.status()["rebalances"] == rebalances

        # stopped for longer than the lease lasts: others go on, and it cannot overwrite what they write
        one.process.send_signal(signal.SIGSTOP)
        pair.leads(other, 2 * SESSION_SECONDS)
        pair.teach(other)
        one.process.send_signal(signal.SIGCONT)
        assert one.process.wait(60) == 9, one.log
        assert one.said(f"process {other.process.pid} on")
        assert one.said("as number 2")
        store = SnapshotStore(str(tmp_path / "snapshots"))
        latest = wait_for(store.latest)
        assert {each.name: each.number for each in store.kept()}[latest] == 2
        pair.teach(other)

        # killed
        one = pair.start("one")
        pair.stands_by(one, other)
        other.process.kill()
        pair.leads(one, 2 * SESSION_SECONDS)
        pair.teach(one)

        # stopped as is usual
        other = pair.start("other")
        pair.stands_by(other, one)
        assert one.end() == 0
        pair.leads(other, 4.0)  # earlier than if it had not been given back
        pair.teach(other)
        assert metric(other, "lease_number") == 4.0
        assert other.end() == 0
    rejects = [(tmp_path / each / "out/rejects.jsonl").read_text() for each in ("one", "other")]
    places = {
        f"{pair.topic.name}[{batch % 2}]@{batch // 2 * 100 + 99}"
        for batch in range(len(pair.sent) // 100)
    }
    assert all(any(json.dumps(place) in lines for lines in rejects) for place in places)
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(pair.sent) + b"\n")
    more = [each for name in LEARNERS for each in ("--learner", name)]
    ran = run("replay", file, *more, "--n-ranks", 5, "--out", tmp_path / "replay")
    assert ran.code == 0, ran.error
    for name in LEARNERS:
        kept = state_digest(load(tmp_path / "snapshots", learner=name))
        assert kept == state_digest(load(tmp_path / "replay", learner=name))


@contextmanager
def foreign_member(topic: Topic) -> Iterator[None]:
    """Somebody else's consumer that was given the group of the daemon."""
    member = Subscription([topic.name], f"group-{topic.name}", SESSION_SECONDS)
    consumer = consumer_of(
        *("kafka-python", Connection((topic.address,)), member),
        lambda bounds: {partition: each.first for partition, each in bounds.items()},
    )
    ended = Event()

    def poll() -> None:
        while not ended.is_set():
            consumer.poll(0.1)

    thread = Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        consumer.close(5.0)


@pytest.mark.long(25)
def test_somebody_else_in_the_group_is_told_of(kafka: Broker, tmp_path: Path) -> None:
    with ExitStack() as stack:
        pair = Pair(Topic(kafka, 2), tmp_path, stack, client="confluent")
        daemon = pair.start("one")
        pair.teach(daemon)
        with foreign_member(pair.topic):
            daemon.until(lambda status: status["missing_partitions"] == 1)
            code, words = daemon.get("/readyz")
            assert (code, "others of the group have 1, which are not learned" in words) == (
                503,
                True,
            )
            assert metric(daemon, "missing_partitions") == 1.0
            assert daemon.said("1 of 2 partitions are given to others of the consumer group")
        daemon.until(
            lambda status: status["missing_partitions"] == 0 and len(status["assigned"]) == 2
        )
        assert daemon.get("/readyz")[0] == 200
        pair.teach(daemon)
