"""Other people's events from the command line: fields, envelopes, units of time, categories."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.conftest import in_process, summary_of


def lines(path: Path, events: list[Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in events))
    return path


def raw(n_events: int) -> list[Any]:
    """Ratings of a shop's own, some seconds after each other."""
    return [
        {
            "order": f"A-{i}",
            "stars": i % 5 + 1,
            "created_at": 1_700_000_000 + i,
            "user": {"id": 10**17 + i % 7, "name": "ann"},
            "item": {"price": i % 11, "brand": f"b{i % 13}", "tags": ["new"] if i % 2 else []},
            "page": i,
        }
        for i in range(n_events)
    ]


FIELDS = ["--fields", "y=stars", "x=item.*,user.id", "group=user.id", "id=order", "ts=created_at"]


def test_fields_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same is learned as from our own form."""
    events, more = (
        raw(300),
        ["--n-ranks", 5, "--learner", "prank", "--category", "user.id", "--ts-unit", "s"],
    )
    own = [
        {
            "x": {"item": each["item"], "user": {"id": str(each["user"]["id"])}},
            "y": each["stars"],
            "ts": each["created_at"],
        }
        for each in events
    ]
    found = []
    for name, some, flags in (("raw", events, FIELDS), ("own", own, [])):
        file = lines(tmp_path / f"{name}.jsonl", some)
        code, _, error = in_process(capsys, "replay", file, "--out", tmp_path / name, *more, *flags)
        assert (code, "January" in error) == (0, False)
        found.append(summary_of(tmp_path / name))
    assert found[0]["learners"] == found[1]["learners"]
    assert found[0]["features"] == found[1]["features"] == 1 + 13 + 1 + 7
    code, out, _ = in_process(
        capsys, "predict", tmp_path / "raw", tmp_path / "raw.jsonl", "--category", "user.id", "--ts-unit", "s", *FIELDS
    )  # fmt: skip
    assert code == 0
    predicted = [json.loads(line) for line in out.splitlines()]
    assert [each["id"] for each in predicted] == [each["order"] for each in events]
    assert all(1 <= each["prediction"] <= 5 for each in predicted)


def test_seconds_are_not_milliseconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for unit, said in (("ms", True), ("s", False)):
        file = lines(tmp_path / "raw.jsonl", raw(120))
        code, _, error = in_process(
            capsys, "replay", file, "--out", tmp_path / unit, "--learner", "prank", "--n-ranks", 5, "--ts-unit", unit, *FIELDS
        )  # fmt: skip
        assert code == 0
        assert ("--ts-unit" in error) is said


def test_changes_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Any] = [{"payload": {"after": each, "op": "c"}} for each in raw(50)]
    events += [{"payload": {"after": None, "op": "d"}}] * 3
    file = lines(tmp_path / "changes.jsonl", events)
    code, _, _ = in_process(
        capsys, "replay", file, "--out", tmp_path / "run", "--learner", "prank", "--n-ranks", 5,
        "--envelope", "debezium", *FIELDS,
    )  # fmt: skip
    assert code == 0
    found = summary_of(tmp_path / "run")
    assert (found["learned"], found["skipped"], found["rejects"]) == (50, 3, 0)


def test_numbers_that_look_like_ids_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = Random(1)
    path = tmp_path / "e.jsonl"
    with path.open("w") as file:
        for _ in range(3_000):
            price = generator.randint(0, 9_999)
            x = {
                "user": generator.randint(1, 5_000),
                "price": price,
                "few": generator.randint(0, 9),
            }
            file.write(json.dumps({"x": x, "y": 1 + price // 2_000}) + "\n")
    flags = ["--learner", "prank", "--n-ranks", 5, "--out"]
    _, _, error = in_process(capsys, "replay", path, *flags, tmp_path / "a")
    assert "user has more than 1,000 different whole numbers" in error
    assert ("--category" in error, "price has" in error, "few has" in error) == (True, False, False)
    _, _, error = in_process(capsys, "replay", path, *flags, tmp_path / "b", "--category", "user")
    assert "different whole numbers" not in error
