"""A challenger that catches up is, to the bit, one that rode from the beginning."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.model_file import load, state_digest
from tests.cli.conftest import run, summary_of
from tests.daemon.conftest import Daemon, Topic
from tests.pipeline.conftest import mixed

RIDES, JOINS = (
    "scale | prank",
    ["scale | normalize | oap-bpm:n_members=5", "online-mprank:budget=20"],
)


@pytest.mark.long(60)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_who_catches_up_rode_from_the_beginning(client: str, topic: Topic, tmp_path: Path) -> None:
    """Late labels, garbage, events that come meanwhile, and messages that were passed over before."""
    lines = mixed(12_000, seed=5)
    skip = [f"{topic.name}:0:100-149"]
    given: dict[str, Any] = {"client": client, "delay": 50, "skip": skip}
    topic.send(lines[:5_000])
    with Daemon(tmp_path, [topic.name], topic.address, learners=[RIDES], **given) as daemon:
        daemon.until(lambda status: status["events"] == 4_950, 180)
        assert daemon.end() == 0

    def produce() -> None:
        for begin in range(5_000, 11_000, 100):
            topic.send(lines[begin : begin + 100])
            time.sleep(0.02)

    producing = threading.Thread(target=produce)
    learners = [JOINS[0], RIDES, JOINS[1]]
    with Daemon(
        tmp_path, [topic.name], topic.address, learners=learners, catch_up="retained", **given
    ) as daemon:
        producing.start()
        status = daemon.until(lambda status: list(status["learners"]) == learners, 180)
        producing.join()
        topic.send(lines[11_000:])
        status = daemon.until(lambda status: status["events"] == 11_950, 180)
        assert status["catching_up"] == []
        assert status["learners"][RIDES]["since"] == 0
        assert all(status["learners"][name]["since"] > 0 for name in JOINS)
        assert daemon.said("has learned what the topics have, and joins")
        assert daemon.end() == 0
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(lines[:100] + lines[150:]) + b"\n")
    more = [each for name in learners for each in ("--learner", name)]
    ran = run("replay", file, *more, "--n-ranks", 5, "--delay", 50, "--out", tmp_path / "replay")
    assert ran.code == 0, ran.error
    whole = summary_of(tmp_path / "replay")["learners"]
    for name in learners:
        kept = state_digest(load(daemon.out, learner=name))
        assert kept == state_digest(load(tmp_path / "replay", learner=name)), name
        assert status["learners"][name]["state_sha256"] == whole[name]["state_sha256"]
    assert json.dumps(status["learners"][RIDES]) == json.dumps(whole[RIDES])


def test_who_cannot_is_refused_at_the_start(topic: Topic, tmp_path: Path) -> None:
    topic.send(mixed(100))
    with Daemon(tmp_path, [topic.name], topic.address) as daemon:
        daemon.until(lambda status: status["events"] == 100)
        assert daemon.end() == 0
    for name, said in (
        (
            "river.linear_model.LinearRegression",
            "cannot catch up: it is not a learner of stream-rank",
        ),
        ("prank:seeed=1", "no parameter"),
    ):
        learners = ["prank", name]
        with Daemon(
            tmp_path, [topic.name], topic.address, learners=learners, catch_up="retained"
        ) as daemon:
            assert daemon.process.wait(60) == 2
            assert daemon.said(said), daemon.log
