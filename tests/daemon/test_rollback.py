"""Bad data is no mistake for ever: back to before it, and past it."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.model_file import load, state_digest
from tests.cli.conftest import run, summary_of
from tests.daemon.conftest import Daemon, Topic, wait_for

LEARNERS = ["scale | oap-bpm:n_members=5", "online-mprank:budget=20"]


def events(count: int, bad: bool = False) -> list[bytes]:
    return [
        json.dumps({"x": {"a": i % 7, "b": i % 5}, "y": 5 - i % 5 if bad else 1 + i % 5}).encode()
        for i in range(count)
    ]


@pytest.mark.long(60)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_after_a_rollback_and_a_skip_the_bad_was_never_there(
    client: str, topic: Topic, tmp_path: Path
) -> None:
    good, bad, later = events(300), events(50, bad=True), events(150)
    settings: dict[str, Any] = {"learners": LEARNERS, "client": client, "snapshot_seconds": 3600}
    config = ["--config", tmp_path / "stream-rank.toml"]
    topic.send(good)
    with Daemon(tmp_path, [topic.name], topic.address, **settings) as daemon:
        daemon.learned(300)
        daemon.process.send_signal(signal.SIGUSR1)
        sound = daemon.until(lambda status: (status["snapshot"] or "").startswith(f"{300:015d}"))[
            "snapshot"
        ]
        topic.send([*bad, *later])
        daemon.learned(500)
        refused = run("rollback", "--to", sound, *config)
        assert (refused.code, "another run is writing to" in refused.error) == (2, True)
        assert daemon.end() == 0
    before = {each.name for each in (daemon.out / "snapshots").glob("*.safetensors")}
    refused = run("rollback", "--to", "of-yesterday", *config)
    assert (refused.code, "holds no snapshot 'of-yesterday'" in refused.error) == (2, True)
    rolled = run("rollback", "--to", sound, *config)
    assert rolled.code == 0, rolled.error
    after = {each.name for each in (daemon.out / "snapshots").glob("*.safetensors")}
    assert before < after
    assert run("snapshot", "diff", daemon.out, daemon.out / "snapshots" / sound).code == 0
    skip = f"{topic.name}:0:300-349"
    with Daemon(tmp_path, [topic.name], topic.address, skip=[skip], **settings) as daemon:
        status = daemon.until(lambda status: status["position"][topic.name]["0"] == 500)
        assert (status["learned"], status["events"], status["resumed_after"]) == (450, 450, 300)
        assert status["position"][topic.name]["skipped"] == {skip: {"0": [300, 349, 50]}}
        assert daemon.said(f"passing over messages of {topic.name}[0] from 300 on")
        assert "stream_rank_passed_messages_total 50.0" in daemon.get("/metrics")[1]
        assert daemon.end() == 0
    file = tmp_path / "good.jsonl"
    file.write_bytes(b"\n".join([*good, *later]) + b"\n")
    more = [each for name in LEARNERS for each in ("--learner", name)]
    ran = run("replay", file, *more, "--n-ranks", 5, "--out", tmp_path / "replay")
    assert ran.code == 0, ran.error
    whole = summary_of(tmp_path / "replay")
    for name in LEARNERS:
        kept = state_digest(load(daemon.out, learner=name))
        assert kept == state_digest(load(tmp_path / "replay", learner=name))
        assert status["learners"][name] == whole["learners"][name]  # losses and all
    # what was passed over stays so, with or without the setting, and is known for ever
    with Daemon(tmp_path, [topic.name], topic.address, **settings) as daemon:
        status = daemon.until(lambda status: status["assigned"])
        assert status["position"][topic.name]["skipped"] == {skip: {"0": [300, 349, 50]}}
        assert status["learned"] == 450


@pytest.mark.long(20)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_messages_of_a_time_are_passed_over(client: str, topic: Topic, tmp_path: Path) -> None:
    skip = [f"{topic.name}:2001-01-01T00:00Z/2100-01-01"]
    topic.send(events(20))
    with Daemon(tmp_path, [topic.name], topic.address, client=client, skip=skip) as daemon:
        status = daemon.until(
            lambda status: (status["position"] or {}).get(topic.name, {}).get("0") == 20
        )
        assert status["events"] == 0
        assert status["position"][topic.name]["skipped"] == {skip[0]: {"0": [0, 19, 20]}}
        wait_for(lambda: "stream_rank_passed_messages_total 20.0" in daemon.get("/metrics")[1])
