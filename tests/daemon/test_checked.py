"""Whatever happens to daemons and their disks, every offset counts once and in its place, says a checker that knows nothing of them.

The checker does not compare runs. Event number n of a partition has a feature of its own and that of the event before it, so that
Widrow-Hoff makes a chain of them: the weights of the chain are a few lines of Python, and a missing, doubled or exchanged event
changes one. What must not be learned (aborted transactions, what a rollback and a `skip` take back) has features of its own, of which
none may have a weight. A challenger that catches up amid all that makes a chain of its own.

`make soak` does it with 200,000 events and 30 kills; CI does a little of everything.
"""

import itertools
import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.model_file import load
from stream_rank.checkpoint.rule_export import exported
from tests.cli.conftest import run
from tests.daemon.conftest import Broker, Daemon, Topic, wait_for
from tests.faulty_disk import FaultyDisk
from tests.killing import newest

SOAK = bool(os.environ.get("SOAK"))
EVENTS, KILLS = (200_000, 30) if SOAK else (9_000, 2)
PARTITIONS, RATE = 3, 0.25
"""Twice the rate would learn an event of two features at once, and a second time change nothing."""
LATE_RATE = RATE / 2
"""Of a challenger that catches up."""
_CALLS_TO_A_FAULT = 12 if SOAK else 6


class Sent:
    """What was sent to each partition and is to be learned, and the offsets of what is not."""

    def __init__(self, topic: Topic, seed: int) -> None:
        from confluent_kafka import Producer

        self._topic, self._random = topic, random.Random(seed)
        self.labels: list[list[float]] = [[] for _ in range(PARTITIONS)]
        self._producer = Producer(
            {"bootstrap.servers": topic.address, "transactional.id": topic.name}
        )
        self._producer.init_transactions(30)

    @property
    def count(self) -> int:
        """The number of events that are to be learned."""
        return sum(map(len, self.labels))

    def good(self, count: int) -> None:
        """Send so many more, in transactions of many sizes, and some that are aborted."""
        until = self.count + count
        while self.count < until:
            self._producer.begin_transaction()
            size = self._random.choice([1, 3, 50, 400])
            if self._random.random() < 0.15:
                for _ in range(size):
                    self._send(self._random.randrange(PARTITIONS), '{"x": {"aborted": 1}, "y": 9}')
                self._producer.flush(30)
                self._producer.abort_transaction(30)
                continue
            for _ in range(min(size, until - self.count)):
                partition = self._random.randrange(PARTITIONS)
                labels = self.labels[partition]
                number, label = len(labels), self._random.choice([-1, 1, 2, 3])
                before = f', "p{partition}n{number - 1}": 1' if number else ""
                self._send(
                    partition, f'{{"x": {{"p{partition}n{number}": 1{before}}}, "y": {label}}}'
                )
                labels.append(label)
            self._producer.commit_transaction(30)

    def bad(self, count: int) -> list[str]:
        """Send so many that should not be learned; the offsets of each partition, as `skip` takes them."""
        first = self._topic.ends()
        self._producer.begin_transaction()
        for number in range(count):
            self._send(number % PARTITIONS, f'{{"x": {{"bad{number}": 1}}, "y": 5}}')
        self._producer.commit_transaction(30)

        def written() -> list[tuple[int, int]]:
            """What each partition has now: brokers mark the end of a transaction after they have said that it is over."""
            return list(zip(first, self._topic.ends(), strict=True))

        each = count // PARTITIONS
        wait_for(lambda: all(end - start >= each for start, end in written()))
        return [
            f"{self._topic.name}:{partition}:{start}-{end - 1}"
            for partition, (start, end) in enumerate(written())
        ]

    def _send(self, partition: int, value: str) -> None:
        self._producer.produce(self._topic.name, value.encode(), partition=partition)
        self._producer.poll(0)

    def weights(self, rate: float) -> dict[str, float]:
        """What Widrow-Hoff makes of each partition's events, once each and in order."""
        found: dict[str, float] = {}
        for partition, labels in enumerate(self.labels):
            found |= chain(f"p{partition}", labels, range(len(labels)), rate)
        return found


def chain(
    partition: str, labels: Sequence[float], order: Iterable[int], rate: float = RATE
) -> dict[str, float]:
    """The weights after a partition's events in some order."""
    found: dict[str, float] = {}
    for number in order:
        names = [f"{partition}n{number}", f"{partition}n{number - 1}"][: 1 + bool(number)]
        error = labels[number] - sum(found.get(name, 0.0) for name in names)
        for name in names:
            found[name] = found.get(name, 0.0) + rate * error
    return found


def learner(rate: float) -> str:
    """A learner of the chain."""
    return f"raw | widrow-hoff:learning_rate={rate}"


def assert_learned(out: Path, sent: Sent, rate: float) -> None:
    """Every event once, and in order; nothing else."""
    expected, weights = sent.weights(rate), exported(load(out, learner(rate)))["weights"]
    missing = [name for name in expected if name not in weights]
    more = [name for name in weights if name not in expected]
    wrong = [
        name for name in expected.keys() & weights.keys()
        if abs(expected[name] - weights[name]) > 1e-9
    ]  # fmt: skip
    assert (missing, more, wrong) == ([], [], [])


def test_the_checker_finds_whatever_is_wrong() -> None:
    labels = [1, 2, -1, 3, 3]
    expected = chain("p", labels, range(5))
    for place in range(5):
        assert chain("p", labels, [number for number in range(5) if number != place]) != expected
        assert chain("p", labels, [*range(5), place]) != expected
    for place in range(4):
        exchanged = list(range(5))
        exchanged[place : place + 2] = place + 1, place
        assert chain("p", labels, exchanged) != expected


class Life:
    """A daemon's, through whatever is done to it: it is started again whenever it has ended, with either client."""

    def __init__(self, folder: Path, topic: Topic, seed: int) -> None:
        self.folder, self.topic, self.random = folder, topic, random.Random(seed)
        self.disk = FaultyDisk(folder / "disk", folder / "daemon/out", _CALLS_TO_A_FAULT)
        self.skip: list[str] = []
        self.learners = [learner(RATE)]
        self.starts = 0
        self.daemon: Daemon | None = None

    def started(self) -> Daemon:
        """The daemon, which runs."""
        if self.daemon is not None:
            if self.daemon.process.poll() is None:
                return self.daemon
            assert self.daemon.process.returncode in (0, 6, 9, -9), self.daemon.log
            self.daemon.__exit__(None)
        self.starts += 1
        self.daemon = self.another("daemon", variables=self.disk.variables(self.starts))
        return self.daemon

    def another(self, name: str, **more: Any) -> Daemon:
        """A daemon in a folder of its own."""
        settings: dict[str, Any] = {
            "learners": self.learners,
            "catch_up": "retained",
            "n_ranks": None,
            "client": self.random.choice(["kafka-python", "confluent"]),
            "max_features": 2 * EVENTS,
            "snapshot_events": EVENTS // 60,
            "snapshot_seconds": 1.0,
            "snapshots_kept": 30,  # one is gone back to, some seconds after it was written
            "skip": self.skip,
        }
        return Daemon(self.folder / name, [self.topic.name], self.topic.address, **more, **settings)

    def until(self, condition: Callable[[dict[str, Any]], bool], seconds: float = 120.0) -> Daemon:
        """The daemon once its status is as wanted, through as many starts as it takes."""

        def met() -> Daemon | None:
            daemon = self.started()
            status = daemon.status() if daemon.said('"http"') else {}
            return daemon if status.get("leading") and condition(status) else None

        found: Daemon = wait_for(met, seconds, lambda: self.started().log[-3_000:])
        return found

    def learned(self, count: int) -> None:
        """Wait until so many were learned."""
        self.until(lambda status: status["learned"] >= count)

    def assigned(self) -> Daemon:
        """The daemon, which has all partitions."""
        return self.until(lambda status: len(status["assigned"]) == PARTITIONS)

    def end(self) -> None:
        """Stop it, and let it take its last snapshot."""
        while self.started().end() != 0:
            pass
        assert self.daemon is not None
        self.daemon.__exit__(None)
        self.daemon = None


def _kill(life: Life, sent: Sent) -> None:
    """It is killed, somewhere in its start, in learning, or in a snapshot."""
    daemon = life.started()
    time.sleep(life.random.uniform(0, 4))
    daemon.process.kill()
    daemon.process.wait()


def _rebalance(life: Life, sent: Sent) -> None:
    """Somebody else joins the group, takes partitions away, and leaves."""
    from confluent_kafka import Consumer

    life.assigned()
    other = Consumer(
        {
            "bootstrap.servers": life.topic.address,
            "group.id": f"group-{life.topic.name}",
            "enable.auto.commit": False,
            "session.timeout.ms": 6_000,
        }
    )
    other.subscribe([life.topic.name])
    wait_for(lambda: other.poll(0.1) is not None or other.assignment())
    sent.good(50)
    other.close()
    life.assigned()


def _freeze(life: Life, sent: Sent) -> None:
    """It sleeps for longer than its session lasts."""
    daemon = life.assigned()
    daemon.process.send_signal(signal.SIGSTOP)
    sent.good(50)
    time.sleep(8)
    daemon.process.send_signal(signal.SIGCONT)


def _fail(life: Life, sent: Sent) -> None:
    """The disk fails in one of so many calls for some seconds, in a write too; the daemon may end, and is started again."""
    life.disk.on = True
    before = sum(life.disk.faults.values())
    for _ in range(60):
        life.started()
        sent.good(max(1, EVENTS // 2_000))
        time.sleep(0.5)
        faults = life.disk.faults
        if sum(faults.values()) >= before + 3 and any("write" in each for each in faults):
            break
    life.disk.on = False


def _roll_back(life: Life, sent: Sent) -> None:
    """Bad data is learned, and taken back: the snapshot from before it, and its offsets skipped."""
    life.learned(sent.count)
    life.end()
    sound = newest(life.folder / "daemon/out")
    bad = sent.bad(30)
    life.learned(sent.count + 30)
    life.end()
    assert any(
        "bad" in name
        for name in exported(load(life.folder / "daemon/out", learner(RATE)))["weights"]
    )
    rolled = run("rollback", "--to", sound, "--config", life.folder / "daemon/stream-rank.toml")
    assert rolled.code == 0, rolled.error
    life.skip += bad


def _take_over(life: Life, sent: Sent) -> None:
    """It is stopped in the middle of something, another that stood by leads, and it wakes up; then the other ends."""
    daemon, snapshots = life.assigned(), str(life.folder / "daemon/out/snapshots")
    with life.another("other", snapshots=snapshots) as other:
        wait_for(lambda: other.get("/readyz")[0] == 200)
        # one that is stopped while it loads compiled code keeps the lock of that code, for which all others wait
        sent.good(50)
        life.learned(sent.count)
        sent.good(50)
        daemon.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: other.said('"event": "leading"'))
        sent.good(50)
        other.learned(sent.count)
        daemon.process.send_signal(signal.SIGCONT)
        assert daemon.process.wait(60) == 9, daemon.log
        life.started()  # and stands by
        sent.good(50)
        other.process.send_signal(life.random.choice([signal.SIGTERM, signal.SIGKILL]))
        other.process.wait(60)
    life.learned(sent.count)


_ACTIONS: list[Callable[[Life, Sent], None]] = [_rebalance, _fail, _freeze, _take_over, _roll_back]


@pytest.mark.long(110)
def test_every_offset_counts_once_and_in_order(kafka: Broker, tmp_path: Path) -> None:
    topic = Topic(kafka, PARTITIONS)
    sent, life = Sent(topic, 1), Life(tmp_path, topic, 2)
    others = itertools.cycle(_ACTIONS)
    turns = max(KILLS, len(_ACTIONS))
    for turn in range(turns):
        sent.good(EVENTS // turns)
        if turn == 1:
            life.end()
            life.learners = [learner(LATE_RATE), learner(RATE)]
        if turn < KILLS:
            _kill(life, sent)
        next(others)(life, sent)
    life.until(lambda status: status["learned"] >= sent.count and not status["catching_up"])
    life.end()
    for rate in (RATE, LATE_RATE):
        assert_learned(tmp_path / "daemon/out", sent, rate)
    kinds = {fault.partition(" ")[0] for fault in life.disk.faults}
    assert kinds >= ({"write", "fsync", "rename", "unlink"} if SOAK else {"write"}), (
        life.disk.faults
    )
