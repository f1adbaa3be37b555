"""Killed again and again, a daemon learns every event exactly once.

`make soak` kills 50 times during 500,000 events; CI does the same a few times.
"""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_rank.checkpoint.model_file import load
from stream_rank.checkpoint.rule_export import exported
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.daemon.conftest import Broker, Daemon, Topic
from tests.killing import kill

SOAK = bool(os.environ.get("SOAK"))
KILLS, EVENTS = (50, 500_000) if SOAK else (4, 60_000)


def _through_kills(folder: Path, topic: Topic, settings: dict[str, Any]) -> Iterator[None]:
    """A run through so many kills; whenever it comes to its end, and at last, it is looked at."""
    generator, kills, finished = random.Random(5), 0, False
    settings = {"snapshot_events": 1, "snapshots_kept": 2, **settings}
    while kills < KILLS or not finished:
        with Daemon(folder, [topic.name], topic.address, **settings) as daemon:
            if kills < KILLS:
                kill(daemon.process, daemon.out, generator)
            else:
                daemon.process.wait(900)
            if daemon.process.returncode == 0:
                yield
                finished = True
                shutil.rmtree(daemon.out)
            else:
                assert daemon.process.returncode == -9, daemon.log
                kills += 1


@pytest.mark.long(50)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_on_one_partition_to_the_bit(client: str, topic: Topic, tmp_path: Path) -> None:
    events = EVENTS if client == "kafka-python" else 60_000
    generator = np.random.default_rng(1)
    names = [f"f{i}" for i in range(20)]

    def lines() -> Iterator[bytes]:
        """Ratings, preferences, ties, rankings, and requests with their labels, and some garbage."""
        for number, row in enumerate(generator.normal(size=(events, 20)).round(4).tolist()):
            if number % 1_000 == 999:
                yield b"garbage"
                continue
            x, rank = dict(zip(names, row, strict=True)), min(max(round(row[0] + row[1] + 3), 1), 5)
            other = {names[0]: 0.5, names[number % 20]: 1.0}
            yield json.dumps(
                [
                    {"preferred": x, "other": other, "magnitude": 1.5},
                    {"preferred": x, "other": other, "tie": True},
                    {"ranking": [x, [other, {names[1]: 1.0}], {names[2]: 1.0}]},
                    {"x": x, "id": number},
                    {"id": number - 1, "y": rank},
                    *[{"x": x, "y": rank}] * 5,
                ][number % 10]
            ).encode()

    topic.send(lines())
    settings: dict[str, Any] = {"learners": ["oap-bpm", "prank"], "client": client}
    rejects = events // 1_000
    settings |= {"delay": 10, "max_events": events - rejects - events // 10}  # labels of requests
    with Daemon(
        tmp_path / "whole", [topic.name], topic.address, group_id="whole", **settings
    ) as daemon:
        assert daemon.process.wait(300) == 0, daemon.log
    whole = _known(daemon.out)
    for _ in _through_kills(tmp_path / "killed", topic, settings):
        assert _known(tmp_path / "killed/out") == whole
        found = (tmp_path / "killed/out/rejects.jsonl").read_bytes()
        assert found == (tmp_path / "whole/out/rejects.jsonl").read_bytes()
        assert found.count(b"\n") in (
            rejects,
            rejects - 1,
        )  # the last one comes after the last event


def _known(out: Path) -> dict[str, Any]:
    """All that a snapshot says of what was learned."""
    from stream_rank.checkpoint.model_file import open_snapshot
    from stream_rank.learners.base.state import digest_of

    snapshot = open_snapshot(str(out))
    known = {
        name: value
        for name, value in snapshot.metadata.items()
        if name not in ("settings", "folder")
    }
    progress = snapshot.part("progress").metadata
    return {
        "position": progress["position"],
        "counts": progress["counts"],
        "all": digest_of(known, snapshot.arrays),
    }


@pytest.mark.long(50)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_on_four_partitions_every_offset_once(client: str, kafka: Broker, tmp_path: Path) -> None:
    """Every event has a feature of its own, whose weight tells how often it was learned: each time goes half of the way to 1."""
    events = EVENTS if client == "kafka-python" else 40_000
    topic = Topic(kafka, 4)
    topic.send(
        ProducerRecord(
            topic.name,
            b'{"x": {"p%do%d": 1}, "y": 1}' % (number % 4, number // 4),
            partition=number % 4,
        )
        for number in range(events)
    )
    settings: dict[str, Any] = {
        "learners": ["widrow-hoff:learning_rate=0.5"],
        "n_ranks": None,
        "max_features": events,
        "max_events": events,
        "client": client,
        "snapshot_events": max(1, events // 40),  # each has the names of all features
    }
    for _ in _through_kills(tmp_path, topic, settings):
        weights = exported(load(tmp_path / "out"))["weights"]
        assert len(weights) == events
        assert set(weights.values()) == {0.5}
        position = json.loads(json.dumps(_known(tmp_path / "out")["position"]))
        (offsets,) = position.values()
        assert offsets.pop("ids")
        assert position == {topic.name: {str(number): events // 4 for number in range(4)}}
