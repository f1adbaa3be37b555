"""`stream-rank compare`: which learner to take, in numbers, words and pictures."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import in_process, summary_of

LEARNERS = [
    "scale | oap-bpm:n_members=20",
    "scale | prank",
    "scale | widrow-hoff",
    "hedge(scale | prank, scale | widrow-hoff)",
]


def a_stream(path: Path, count: int, told: float) -> Path:
    """Ratings of which so much is told by the features."""
    generator = random.Random(1)
    lines = []
    for _ in range(count):
        a, b = generator.gauss(0, 1), generator.gauss(0, 1)
        rank = min(max(round(3 + told * (a - b) + generator.gauss(0, 0.5)), 1), 5)
        lines.append(json.dumps({"x": {"a": a, "b": b}, "y": rank}))
    path.write_text("\n".join(lines) + "\n")
    return path


def compared(
    capsys: pytest.CaptureFixture[str], command: str, file: Path, out: Path, *more: Any
) -> tuple[str, dict[str, Any]]:
    flags = [flag for learner in LEARNERS for flag in ("--learner", learner)]
    given = [command, file, *flags, "--n-ranks", 5, "--out", out, *more]
    code, said, error = in_process(capsys, *given)
    assert code == 0, error
    return said, summary_of(out)


def test_learners_that_learn_at_once_become_what_they_become_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = a_stream(tmp_path / "events.jsonl", 6_000, 1.0)
    said, at_once = compared(capsys, "compare", file, tmp_path / "a", "--cores", 3)
    _, alone = compared(capsys, "replay", file, tmp_path / "b")
    for name in LEARNERS:
        assert at_once["learners"][name] == alone["learners"][name]
    timeless = [{**row, "microseconds": 0} for row in at_once["comparison"]]
    assert timeless == [{**row, "microseconds": 0} for row in alone["comparison"]]
    best, *others = at_once["comparison"]
    low, high = best["likely"]
    assert low < best["late"] < high
    assert best["behind"] == [0, 0]
    assert [row["late"] for row in at_once["comparison"]] == sorted(
        row["late"] for row in at_once["comparison"]
    )
    assert sum(row["chance"] for row in at_once["comparison"]) == pytest.approx(1)
    assert at_once["recommendation"][0].startswith("Take scale | ")
    for sentence in at_once["recommendation"]:
        assert sentence in said
    for row in others:
        assert row["level"] == (row["behind"][0] <= 0)
    page = (tmp_path / "a/report.html").read_text()
    assert "Which to take: rank loss" in page
    assert page.count("<circle") == len(LEARNERS)


def test_what_a_stream_cannot_tell_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said, _ = compared(
        capsys, "compare", a_stream(tmp_path / "few", 1_000, 1.0), tmp_path / "a", "--format", "jsonl"
    )  # fmt: skip
    assert "too short to tell the learners apart: that takes some 2,000 events" in said
    said, _ = compared(
        capsys, "compare", a_stream(tmp_path / "noise", 4_000, 0.0), tmp_path / "b", "--format", "jsonl"
    )  # fmt: skip
    assert "None of them is better than always answering the median: take none." in said


def test_all_that_suit_are_compared_by_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for flags, first, count in (["--n-ranks", 5], "hedge", 8), ([], "widrow-hoff", 3):
        given = ["compare", "events.jsonl", "--out", tmp_path / "out", "--print-config", *flags]
        code, said, _ = in_process(capsys, *given)
        learners = json.loads(said)["learners"]
        assert (code, learners[0], len(learners)) == (0, first, count)
