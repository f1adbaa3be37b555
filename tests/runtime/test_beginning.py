"""A daemon, over a broker in memory, whose learner begins as a model."""

import json
from pathlib import Path

import pytest

import stream_rank
from stream_rank.errors import ConfigError
from tests.runtime.test_catch_up import Runs

LEARNER = "scale | oap-bpm:n_members=3"
LINES = [
    json.dumps({"x": {"a": i % 7, "b": i * i % 5, "new": i % 3}, "y": 1 + i * i % 5}).encode()
    for i in range(60)
]


def test_a_daemon_begins_as_an_average_and_goes_on_with_its_own(tmp_path: Path) -> None:
    """It is, to the bit, the average that learned the topic; after a restart it does not begin again."""
    shards = [
        stream_rank.Scale() | stream_rank.OAPBPM(n_ranks=5, n_members=3, seed=1) for _ in range(2)
    ]
    for number, shard in enumerate(shards):
        for i in range(50):
            shard.learn_one({"a": float(i % 6), f"b{number}": float(i % 4)}, 1 + i % 5)
    expected = stream_rank.average(shards)
    stream_rank.save(expected, tmp_path / "model")
    begin = {"begin_with": str(tmp_path / "model"), "catch_up": "no"}
    runs = Runs(tmp_path)
    runs.send(LINES[:40])
    with runs(LEARNER, **begin) as run:
        run.until(lambda: run.records == 40)
    runs.send(LINES[40:])
    with runs(LEARNER, **begin) as run:
        run.until(lambda: run.records == 60)
        (found,) = run.daemon.learning.contestants
        for line in LINES:
            event = json.loads(line)
            expected.learn_one(event["x"], event["y"])
        assert found.model.n_events == 160
        assert found.model.features == expected.learner.features
        assert found.model.weights == expected.learner.weights
        assert found.model.thresholds == expected.learner.thresholds


def test_what_has_no_learner_of_its_own_cannot_begin_as_one(tmp_path: Path) -> None:
    stream_rank.save(stream_rank.Hedge([stream_rank.PRank(n_ranks=5)]), tmp_path / "model")
    with (
        pytest.raises(ConfigError, match="model is Hedge of"),
        Runs(tmp_path)("raw | prank", begin_with=str(tmp_path / "model"), catch_up="no"),
    ):
        pass
