"""A daemon's health in one look."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stream_rank.cli.main import main
from stream_rank.config.replay import ReplayConfig
from stream_rank.monitoring.http_server import Endpoints, Server
from stream_rank.runtime.replay import Replay
from stream_rank.runtime.summary import as_json

BESIDE: dict[str, Any] = {
    "assigned": ["ratings[0]", "ratings[1]"],
    "lag": {"ratings[0]": 1_200, "ratings[1]": 34},
    "rebalances": 2,
    "snapshot": "000000000000200-20261101T000000Z.safetensors",
}


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("run")
    lines = [json.dumps({"x": {"a": i % 7}, "y": i % 3 + 1}) for i in range(200)]
    (folder / "events.jsonl").write_text("\n".join([*lines, '{"x": {"\\u001b[2J": [1]}, "y": 1}']))
    given = {"inputs": [str(folder / "events.jsonl")], "out": folder / "run", "n_ranks": 3}
    with Replay(ReplayConfig.model_validate(given), lambda _: None) as replay:
        replay.run()
        found: dict[str, Any] = json.loads(as_json(replay.summary()))
        return found


def served(status: str | None, ready: bool = True) -> Iterator[str]:
    endpoints = Endpoints(
        lambda: (True, "the last loop iteration was 0.1 seconds ago"),
        lambda: (ready, "restored, and 2 partitions are assigned"),
        lambda: b"",
        lambda: status,
    )
    server = Server("127.0.0.1", 0, endpoints)
    yield server.address
    server.close()


def test_what_a_person_reads(summary: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for ready in (True, False):
        for url in served(json.dumps({**summary, **BESIDE}), ready):
            for given in (url, url + "/", url + "/status", url.removeprefix("http://")):
                assert main(["status", given]) == 0
                said = capsys.readouterr().out
                assert said.startswith("ready: " if ready else "NOT READY: ")
    assert "1,234 messages behind; partitions ratings[0], ratings[1]; 2 rebalances" in said
    assert "201 records: 200 learned, 1 rejects" in said
    assert BESIDE["snapshot"] in said
    assert "hedge" in said
    assert "skill" in said
    assert "\x1b" not in said


def test_as_it_is(summary: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for url in served(json.dumps({**summary, **BESIDE})):
        assert main(["status", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {**summary, **BESIDE}


@pytest.mark.parametrize("status", [None, "[1]", "nonsense", "{}", '{"learners": 3}'])
def test_what_is_no_status_is_one_line(
    status: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    for url in served(status):
        assert main(["status", url]) == 3
        said = capsys.readouterr()
        assert said.err.count("\n") == 1
        assert said.out == ""


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "http://\0", "nonsense://x", "http://[", "127.0.0.1:99999"]
)
def test_where_nobody_answers_is_one_line(
    url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["status", url]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "does not answer" in said
