"""A daemon over a broker in memory, and learners that catch up with it."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import ConfigError, FatalKafkaError
from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryConsumer
from stream_rank.ingest.kafka.port import (
    Partition,
    PartitionRecords,
    ProducerRecord,
    ResolveOffsets,
    Subscription,
)
from stream_rank.runtime import pursuit
from stream_rank.runtime.daemon import Daemon
from tests.ingest.kafka.conftest import from_the_beginning
from tests.pipeline.conftest import loop_of, mixed

RIDES, JOINS = "scale | prank", "scale | normalize | oap-bpm:n_members=3"
TOPIC = "ratings"


class Reader(MemoryConsumer):
    """A consumer to whose polls something is done."""

    poll_of: Callable[[Callable[[], list[PartitionRecords]]], list[PartitionRecords]]

    def poll(self, seconds: float) -> list[PartitionRecords]:
        return self.poll_of(lambda: MemoryConsumer.poll(self, seconds))


class Runs:
    """Daemons of one folder on one broker, one after the other."""

    def __init__(self, folder: Path, partitions: int = 1, **given: Any) -> None:
        self.broker, self._folder, self._given = MemoryBroker(), folder, given
        self.broker.create(TOPIC, partitions)
        self.poll_of: Callable[..., list[PartitionRecords]] = lambda poll: poll()

    def send(self, lines: Sequence[bytes], partition: int | None = 0) -> None:
        for line in lines:
            self.broker.append(ProducerRecord(TOPIC, line, partition=partition))

    def _consumer(
        self, client: str, connection: object, reading: Subscription, resolve: ResolveOffsets
    ) -> MemoryConsumer:
        given = self.broker, reading.group_id, reading.topics, resolve
        if reading.group_id is not None:
            return MemoryConsumer(*given)
        reader = Reader(*given)
        reader.poll_of = lambda poll: self.poll_of(poll)  # the one that is there then
        return reader

    @contextmanager
    def __call__(self, *learners: str, **more: Any) -> Iterator["Driven"]:
        config = DaemonConfig.model_validate(
            {
                "topics": [TOPIC],
                "bootstrap_servers": ["nowhere:1"],
                "out": self._folder / "out",
                "n_ranks": 5,
                "port": 0,
                "learners": list(learners),
                "catch_up": "retained",
                **self._given,
                **more,
            }
        )
        with (
            patch("stream_rank.runtime.daemon.consumer_of", self._consumer),
            patch("stream_rank.runtime.daemon_parts.consumer_of", self._consumer),
            patch("stream_rank.runtime.daemon.Server"),
            patch("stream_rank.ingest.kafka.topic_source._POLL_SECONDS", 0.005),
            patch("stream_rank.runtime.catch_up._LEAST_SHARE", 1.0),
            Daemon(config) as daemon,
        ):
            yield Driven(daemon)
            daemon.learning.checkpointer.commit()


class Driven:
    """A daemon that goes on step by step."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon, self._steps = daemon, daemon._steps()
        self.study: Any = None
        """What learners learned in before they joined."""

    def step(self) -> None:
        next(self._steps)
        late = self.daemon._catch_up
        if late is not None and late._pursuit is not None:
            self.study = late._pursuit.study
        self.daemon._between_chunks()

    def until(self, condition: Callable[[], Any]) -> None:
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until, self.daemon.status()
            self.step()

    @property
    def riding(self) -> list[str]:
        return [each.name for each in self.daemon.learning.contestants]

    @property
    def records(self) -> int:
        return self.daemon.learning.progress.counts.records

    def digests(self) -> dict[str, str | None]:
        return {each.name: each.digest() for each in self.daemon.learning.contestants}


def rode(lines: Sequence[bytes], *learners: str, **more: Any) -> dict[str, str | None]:
    """The digests of learners that rode from the first of these events to the last."""
    from stream_rank.ingest.chunk import as_records

    loop = loop_of(list(learners), **more)
    for _ in loop.take(as_records(list(lines), blank_is_nothing=False)):
        pass
    return {each.name: each.digest() for each in loop.contestants}


LINES = mixed(700, seed=3)


@settings(max_examples=12, deadline=None)
@given(
    first=st.integers(1, 550),
    more=st.lists(st.integers(0, 40), max_size=12),
    chunk=st.sampled_from([2_000, 1 << 20]),
    tail=st.sampled_from([1, 6_000, 1 << 20]),
    slow=st.sampled_from([0.0, 0.002]),
)
@example(first=500, more=[], chunk=1 << 20, tail=1 << 20, slow=0.0)  # 436 of 500 were missing once
def test_however_they_run_beside_each_other(
    first: int, more: list[int], chunk: int, tail: int, slow: float
) -> None:
    """Whatever is produced when, whatever pieces it is fetched in, and however often it falls behind."""

    def poll_of(poll: Callable[[], list[PartitionRecords]]) -> list[PartitionRecords]:
        time.sleep(slow)
        return poll()

    with TemporaryDirectory() as folder:
        runs = Runs(Path(folder), delay=20)
        runs.poll_of = poll_of
        runs.send(LINES[:first])
        with runs(RIDES) as run:
            run.until(lambda: run.records == first)
        with (
            patch("stream_rank.ingest.kafka.topic_source._CHUNK_BYTES", chunk),
            patch.object(pursuit, "_MOST_BYTES", tail),
            runs(JOINS, RIDES) as run,
        ):
            sent = first
            for count in more:
                runs.send(LINES[sent : sent + count])
                sent += count
                run.step()
            run.until(lambda: run.riding == [JOINS, RIDES])
            runs.send(LINES[sent:])
            run.until(lambda: run.records == len(LINES))
            assert run.digests() == rode(LINES, JOINS, RIDES, delay=20)


def test_what_is_gone_was_learned_by_those_who_stay_alone(tmp_path: Path) -> None:
    """A challenger is who rode from what is left, behind stages of its own; those that stay do not notice, nor does a restart."""
    lines = [  # with the same features all the time: those that a learner never met are no part of it
        json.dumps({"x": {"a": i % 7, "b": i * i % 5, "c": i}, "y": 1 + i * i % 5}).encode()
        for i in range(700)
    ]
    runs = Runs(tmp_path)
    runs.send(lines[:400])
    with runs(RIDES) as run:
        run.until(lambda: run.records == 400)
    runs.broker.drop_before(Partition(TOPIC, 0), 250)
    with runs(RIDES, JOINS) as run:
        run.until(lambda: run.riding == [RIDES, JOINS])
        assert run.digests()[JOINS] == rode(lines[250:400], JOINS)[JOINS]
        chains = run.daemon.status()["preparation"]
        assert chains == {RIDES: "scale", JOINS: "#2 scale | normalize"}
        runs.send(lines[400:500])
        run.until(lambda: run.records == 500)
    third = "scale | normalize | prank"  # as one joins that does not catch up: with what is there
    with runs(RIDES, JOINS, third, catch_up="no") as run:
        assert run.daemon.status()["preparation"] == {**chains, third: "scale | normalize"}
        runs.send(lines[500:])
        run.until(lambda: run.records == len(lines))
        found = run.digests()
        assert found[RIDES] == rode(lines, RIDES)[RIDES]
        assert found[JOINS] == rode(lines[250:], JOINS)[JOINS]


def test_a_committee_joins_those_who_vote_in_it(tmp_path: Path) -> None:
    """One of its members rides already, and goes on as it did."""
    runs = Runs(tmp_path)
    runs.send(LINES[:400])
    with runs(RIDES) as run:
        run.until(lambda: run.records == 400)
    committee, other = "scale | hedge(prank, oap-bpm:n_members=3)", "scale | oap-bpm:n_members=3"
    with runs(committee, RIDES) as run:
        run.until(lambda: run.riding == [committee, other, RIDES])
        runs.send(LINES[400:])
        run.until(lambda: run.records == len(LINES))
        assert run.digests() == rode(LINES, committee, RIDES)


def names_in(contestant: Any) -> set[str]:
    """The features that a learner without stages knows."""
    return set(contestant.model.weights)


@pytest.mark.parametrize("begun", [0, 300, 590])
def test_features_that_one_of_them_knows(begun: int, tmp_path: Path) -> None:
    """A run that knows others, since it has seen more or less, and gives the places of features away later."""

    def events(first: int, end: int) -> list[bytes]:
        many = ({"a": i % 7 - 3, f"n{i // 20}": 1, f"n{i // 50}": 1} for i in range(first, end))
        return [json.dumps({"x": x, "y": 1 + i % 5}).encode() for i, x in enumerate(many)]

    def send(first: int, end: int) -> None:
        runs.send(events(first, end))

    runs = Runs(tmp_path, max_features=20, expire_after=160, preparation="raw", start="latest")
    send(0, begun)
    with runs("prank") as run:
        run.until(lambda: run.daemon.learning.progress.position is not None)
        send(begun, 600)
        run.until(lambda: run.records == 600 - begun)
    runs.broker.drop_before(Partition(TOPIC, 0), 0 if begun else 350)
    with runs("prank", "oap-bpm:n_members=3") as run:
        run.until(lambda: len(run.riding) == 2)
        index = run.daemon.learning.loop.decoder.index
        for end in range(610, 1_400, 10):
            send(end - 10, end)
            run.until(lambda end=end: run.records == end - begun)  # type: ignore[misc]
            for each in run.daemon.learning.contestants:
                assert names_in(each) <= set(index.names)
            assert len(index) <= 20
        assert index.admission.expiry.expired > 20


def test_whatever_fails_leaves_the_run_alone(tmp_path: Path) -> None:
    """It is said, counted and tried again: a broken consumer, and memory that is not there."""
    runs, polls = Runs(tmp_path), 0
    runs.send(LINES[:400])
    with runs(RIDES) as run:
        run.until(lambda: run.records == 400)

    def poll_of(poll: Callable[[], list[PartitionRecords]]) -> list[PartitionRecords]:
        nonlocal polls
        polls += 1
        if polls in (1, 3):
            raise FatalKafkaError("nobody may read") if polls == 1 else MemoryError
        return [] if polls == 2 else poll()

    runs.poll_of = poll_of
    with (
        patch("stream_rank.ingest.kafka.topic_source._CHUNK_BYTES", 2_000),
        runs(RIDES, JOINS) as run,
    ):
        late = run.daemon._catch_up
        assert late is not None
        run.until(lambda: late.failures == 1)
        assert run.daemon.status()["catching_up"] == {
            "learners": [JOINS],
            "records": 0,
            "behind": None,
            "failures": 1,
            "failed": "nobody may read",
        }
        runs.send(LINES[400:600])
        run.until(lambda: late.failures == 2)
        with patch("stream_rank.runtime.joining.contestants_in", side_effect=MemoryError):
            run.until(lambda: late.failures == 3)
        run.until(lambda: run.riding == [RIDES, JOINS])
        assert run.daemon.observer.readings()["stream_rank_failures_total"]["catching_up",] == 3
        run.until(lambda: run.records == 600)
        assert run.digests() == rode(LINES[:600], RIDES, JOINS)


def test_one_that_hangs_keeps_no_daemon_from_ending(tmp_path: Path) -> None:
    runs, hangs, begun = Runs(tmp_path), threading.Event(), threading.Event()
    runs.send(LINES[:50])
    with runs(RIDES) as run:
        run.until(lambda: run.records == 50)

    def poll_of(poll: Callable[[], list[PartitionRecords]]) -> list[PartitionRecords]:
        begun.set()
        hangs.wait()
        return poll()

    runs.poll_of = poll_of
    with patch("stream_rank.runtime.catch_up._CLOSE_SECONDS", 0.1), runs(RIDES, JOINS) as run:
        run.until(begun.is_set)
        runs.send(LINES[50:90])
        run.until(lambda: run.records == 90)
        before = time.monotonic()
        run.daemon._catch_up.close(0.1)  # type: ignore[union-attr]
        assert time.monotonic() - before < 5
    hangs.set()


def test_partitions_that_are_read_by_others_or_added_and_topics_that_are_gone(
    tmp_path: Path,
) -> None:
    """Only what the run has learned is learned, and each message once."""
    runs = Runs(tmp_path, partitions=3, group_id="both")
    runs.broker.create("other")
    for line in LINES[:30]:
        runs.broker.append(ProducerRecord("other", line))
    for number in range(3):
        runs.send(LINES[:100], number)
    with runs(RIDES, topics=[TOPIC, "other"]) as run:
        run.until(lambda: run.records == 330)
    MemoryConsumer(runs.broker, "both", [TOPIC], from_the_beginning)  # has some of them now
    with runs(RIDES, JOINS) as run:
        run.until(lambda: len(run.daemon.source.assignment) == 1)
        (mine,) = run.daemon.source.assignment
        for number in range(3):
            runs.send(LINES[100:150], number)
        run.until(lambda: run.riding == [RIDES, JOINS])
        assert run.study.records == 300 + run.records - 330
        run.until(lambda: run.records == 380)
        assert run.daemon.status()["position"][TOPIC] == {
            str(number): 150 if number == mine.number else 100 for number in range(3)
        }


def test_somebody_has_to_stay(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.send(LINES[:20])
    with runs(RIDES) as run:
        run.until(lambda: run.records == 20)
    with pytest.raises(ConfigError, match=r"one learner at least has to stay.*: scale \| prank"):
        runs(JOINS).__enter__()
