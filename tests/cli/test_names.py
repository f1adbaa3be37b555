"""Users and items that are numbers: a learner that takes names gets names, whoever forgets to say so."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.conftest import in_process, summary_of

Command = Callable[..., tuple[int, str, str]]
LEARNER = ["--n-ranks", 5, "--learner", "ordinal-factors"]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return lambda *arguments: in_process(capsys, *arguments)


def ratings(count: int) -> list[dict[str, Any]]:
    chance = Random(1)
    users, items = ([chance.gauss(0, 1) for _ in range(n)] for n in (20, 30))
    found = []
    for _ in range(count):
        user, item = chance.randrange(20), chance.randrange(30)
        score = users[user] + items[item] + chance.gauss(0, 0.5)
        stars = min(5, max(1, round(3 + score)))
        found.append({"x": {"user": user, "item": item}, "y": stars})
    return found


def written(path: Path, events: list[dict[str, Any]], kind: str) -> Path:
    file = path / f"events.{kind}"
    if kind == "csv":
        rows = [f"{each['x']['user']},{each['x']['item']},{each['y']}" for each in events]
        file.write_text("\n".join(["user,item,y", *rows, ""]))
    else:
        file.write_text("".join(json.dumps(each) + "\n" for each in events))
    return file


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_numbers_are_names_to_who_takes_names(kind: str, tmp_path: Path, command: Command) -> None:
    file = written(tmp_path, ratings(600), kind)
    for name, flags in (("a", []), ("b", ["--category", "user", "--category", "item"])):
        code, _, error = command("replay", file, *LEARNER, *flags, "--out", tmp_path / name)
        assert code == 0, error
    one, other = (summary_of(tmp_path / name) for name in "ab")
    assert one["learners"] == other["learners"]
    assert one["features"] == 50
    assert one["learners"]["ordinal-factors"]["skill"] > 0.2
    code, out, _ = command("predict", tmp_path / "a", file)
    assert code == 0
    assert len({json.loads(line)["prediction"] for line in out.splitlines()}) > 2


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_run_reads_numbers_as_it_began(kind: str, tmp_path: Path, command: Command) -> None:
    """Whoever joins or leaves: the others learn what they would have."""
    file = written(tmp_path, ratings(300), kind)
    alone, both = [*LEARNER[:2], "--learner", "prank"], [*LEARNER, "--learner", "prank"]
    for before, after, features in ((alone, both, 2), (both, alone, 50)):
        found = []
        for name, then in (("changed", after), ("same", before)):
            out = tmp_path / f"{name}-{features}"
            given = ["replay", file, "--out", out]
            assert command(*given, *before, "--max-events", 100)[0] == 0
            code, _, error = command(*given, *then, "--resume")
            assert code == 0, error
            found.append(summary_of(out))
        assert found[0]["features"] == found[1]["features"] == features
        ours = [each["learners"]["prank"]["state_sha256"] for each in found]
        assert ours[0] == ours[1]
