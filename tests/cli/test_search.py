"""`compare` with ranges and with peers: the worse go on the way, and the others are what they would be alone."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from stream_rank.contestants import peers
from stream_rank.contestants.search_space import candidates_of
from stream_rank.errors import ConfigError
from tests.cli.conftest import in_process, summary_of
from tests.cli.test_compare import a_stream

SEARCH = "scale | widrow-hoff:learning_rate=0.0001..0.1"


def test_the_worse_half_goes_and_the_rest_become_what_they_become_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = a_stream(tmp_path / "events.jsonl", 6_000, 1.0)
    given = [file, "--n-ranks", 5, "--learner", "scale | prank", "--learner", SEARCH]
    code, said, error = in_process(
        capsys, "compare", *given, "--candidates", 5, "--cores", 2, "--out", tmp_path / "a"
    )
    assert code == 0, error
    summary = summary_of(tmp_path / "a")
    (search,) = summary["searches"]
    assert [each["after"] for each in search["dropped"]] == [2000, 2000, 4000]
    assert set(summary["learners"]) == {"scale | prank", *search["left"]}
    assert len(search["left"]) == 2
    assert f"Of the 5 candidates of {SEARCH} are left: " in said
    assert "What was searched for" in (tmp_path / "a/report.html").read_text()
    alone = [flag for name in search["left"] for flag in ("--learner", name)]
    one = ["--n-ranks", 5, *alone, "--learner", "scale | prank"]
    code, *_ = in_process(capsys, "replay", file, *one, "--out", tmp_path / "b")
    assert code == 0
    assert summary_of(tmp_path / "b")["learners"] == {
        name: summary["learners"][name] for name in [*search["left"], "scale | prank"]
    }
    # those that went are not in the snapshot either
    code, said, _ = in_process(
        capsys, "predict", tmp_path / "a", file, "--learner", search["dropped"][0]["name"]
    )
    assert code != 0


def test_labels_that_come_late_find_their_predictions_when_learners_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[str] = []
    late: list[str] = []
    for number, line in enumerate(
        a_stream(tmp_path / "a.jsonl", 3_000, 1.0).read_text().splitlines()
    ):
        x, _, y = line.rpartition(', "y": ')
        lines.append(f'{x}, "id": "e{number}"}}')
        if number >= 50:
            lines.append(late[number - 50])
        late.append(f'{{"id": "e{number}", "y": {y}')
    file = tmp_path / "late.jsonl"
    file.write_text("\n".join(lines) + "\n")
    given = ["--n-ranks", 5, "--delay", 100, "--format", "jsonl"]
    code, _, error = in_process(
        capsys,
        "compare",
        file,
        *given,
        "--learner",
        SEARCH,
        "--candidates",
        4,
        "--out",
        tmp_path / "x",
    )
    assert code == 0, error
    summary = summary_of(tmp_path / "x")
    left = summary["searches"][0]["left"]
    assert len(left) == 2
    flags = [flag for name in left for flag in ("--learner", name)]
    assert in_process(capsys, "replay", file, *given, *flags, "--out", tmp_path / "y")[0] == 0
    assert summary_of(tmp_path / "y")["learners"] == summary["learners"]


def test_ranges_that_are_none_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="the second number is the larger"):
        candidates_of("prank:a=3..1", 5)
    assert candidates_of("prank:n=1..3", 9) == ["prank:n=1", "prank:n=2", "prank:n=3"]
    for learner, why in (
        ("hedge(prank, oap-bpm:sampling=0.1..0.5)", "a range cannot stand in a committee"),
        ("oap-bpm:sampling=0.5..0.1", "the second number is the larger"),
    ):
        code, _, error = in_process(
            capsys, "compare", "x.jsonl", "--n-ranks", 5, "--learner", learner, "--out", tmp_path
        )
        assert code == 2
        assert why in error


class _Workspace:
    """Vowpal Wabbit's interface, and not its rule: a running mean."""

    def __init__(self, options: str) -> None:
        assert options == "--quiet -l 0.3"
        self.total, self.count = 0.0, 0

    def predict(self, line: str) -> float:
        assert line.startswith("| a:")
        return self.total / self.count if self.count else 0.0

    def learn(self, line: str) -> None:
        self.total += float(line.split()[0])
        self.count += 1


def test_others_compete_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("vowpalwabbit")
    module.pyvw = SimpleNamespace(Workspace=_Workspace)
    monkeypatch.setitem(sys.modules, "vowpalwabbit", module)
    file = a_stream(tmp_path / "events.jsonl", 500, 1.0)
    given = [file, "--n-ranks", 5, "--out", tmp_path / "a", "--learner", "vowpal-wabbit: -l 0.3"]
    assert in_process(capsys, "compare", *given)[0] == 0
    (found,) = summary_of(tmp_path / "a")["learners"].values()
    assert found["rank_loss"] == pytest.approx(found["baseline_loss"], rel=0.05)
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    given = [file, "--n-ranks", 5, "--out", tmp_path / "b", "--learner", "prank", "--peers"]
    code, _, error = in_process(capsys, "compare", *given)
    assert code == 0
    assert "skipped: vowpal-wabbit is not installed" in error
    names = set(summary_of(tmp_path / "b")["learners"])
    assert names == {"prank", *peers.peers(True)[0]}
    monkeypatch.setitem(sys.modules, "vowpalwabbit", None)
    code, _, error = in_process(
        capsys,
        "compare",
        file,
        "--n-ranks",
        5,
        "--out",
        tmp_path / "c",
        "--learner",
        "vowpal-wabbit",
    )
    assert code == 2
    assert "vowpal-wabbit is not installed" in error
