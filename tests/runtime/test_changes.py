"""Learners join, leave and change places in a run that goes on, and whoever stays does not notice."""

import json
from pathlib import Path
from typing import Any

import pytest

from stream_rank.config.daemon import DaemonConfig
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import ConfigError
from stream_rank.runtime.changes import WHY
from stream_rank.runtime.replay import Replay
from stream_rank.runtime.summary import as_json
from tests.cli.conftest import in_process, summary_of
from tests.pipeline.conftest import mixed

FIRST = 900
CHAMPION, STAYS, JOINS = "prank", "scale | oap-bpm:n_members=5", "online-mprank:budget=20"


def ratings(count: int) -> list[bytes]:
    return [
        json.dumps(
            {"x": {"a": i % 7 / 2, "b": i % 5, "c": 1}, "y": 1 + i * i % 5, "group": i % 3}
        ).encode()
        for i in range(count)
    ]


class Runs:
    """Replays of parts of a file, one after the other in the same folder."""

    def __init__(self, folder: Path, lines: list[bytes], **settings: Any) -> None:
        self.folder, self.said, self._settings = folder, list[str](), settings
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "events.jsonl"
        self._file.write_bytes(b"\n".join(lines) + b"\n")

    def __call__(
        self, learners: list[str], until: int | None = None, **more: Any
    ) -> dict[str, Any]:
        given = {
            "inputs": [str(self._file)],
            "out": self.folder / "out",
            "n_ranks": 5,
            "preparation": "raw",
            "learners": learners,
            "resume": (self.folder / "out" / "snapshots").exists(),
            "max_events": until,
            **self._settings,
            **more,
        }
        config = ReplayConfig.model_validate({k: v for k, v in given.items() if v is not None})
        with Replay(config, self.said.append) as replay:
            replay.run()
            found: dict[str, Any] = json.loads(as_json(replay.summary()))
            return found


def test_who_stays_does_not_notice_and_who_joins_begins(tmp_path: Path) -> None:
    """A learner that joins, and its losses and baseline, are those of a run that begins there, to the bit."""
    lines = ratings(3_000)
    runs = Runs(tmp_path / "changing", lines)
    runs([CHAMPION, STAYS], FIRST)
    found = runs([JOINS, STAYS])
    assert list(found["learners"]) == [JOINS, STAYS]
    assert any(f"{JOINS} joins here" in words for words in runs.said)
    assert any(f"{CHAMPION} leaves" in words for words in runs.said)
    assert f"the champion is {JOINS}, which was {CHAMPION}" in runs.said
    whole = Runs(tmp_path / "whole", lines)([STAYS])
    assert found["learners"][STAYS] == whole["learners"][STAYS]
    rest = Runs(tmp_path / "rest", lines[FIRST:])([JOINS])
    joined = found["learners"][JOINS]
    assert joined.pop("since") == FIRST
    assert rest["learners"][JOINS].pop("since") == 0
    assert joined == rest["learners"][JOINS]
    again = Runs(tmp_path / "changing", lines)([JOINS, STAYS])  # and all of that is kept
    assert again["learners"][JOINS] == {"since": FIRST, **joined}


def test_those_of_another_kind_and_back_again(tmp_path: Path) -> None:
    """With late labels, whose requests a learner never saw that joined meanwhile: all orders, in any pieces, are one."""
    lines = mixed(1_500, seed=4)
    pieces = [[CHAMPION, STAYS], [STAYS, JOINS], [JOINS, CHAMPION, STAYS], [STAYS]]
    digests = []
    for cuts in ((300, 700, 1_000, None), (300, 700, 999, None)):
        runs = Runs(tmp_path / str(cuts[2]), lines, delay=50)
        for learners, until in zip(pieces, cuts, strict=True):
            found = runs(learners, until)
            for name in learners:
                loss = found["learners"][name]
                assert all(v is None or v == v for v in loss.values() if not isinstance(v, list))
        digests.append(found["learners"][STAYS])
    whole = Runs(tmp_path / "whole", lines, delay=50)([STAYS])
    assert digests == [whole["learners"][STAYS]] * 2


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("n_ranks", 4, "thresholds and losses are those of so many ranks"),
        ("seed", 7, "the coins of learners follow from it"),
        ("delay", 7, "the events that wait for a label are kept by it"),
        (
            "preparation",
            "scale",
            "learners that are given without stages have learned behind these",
        ),
        ("categories", ["a"], "events were read by it"),
    ],
)
def test_what_cannot_change_says_why_and_what_to_do(
    setting: str, value: Any, why: str, tmp_path: Path
) -> None:
    runs = Runs(tmp_path, ratings(50))
    runs([CHAMPION])
    with pytest.raises(ConfigError, match=f"`{setting}`.*{why}.*give it as before, or begin"):
        runs([CHAMPION], **{setting: value})


def test_there_is_a_reason_for_every_setting_that_cannot_change() -> None:
    assert {*ReplayConfig.fixed, *DaemonConfig.fixed} == set(WHY)


def test_one_that_cannot_know_what_is_known_is_refused(tmp_path: Path) -> None:
    many = json.dumps({"x": {f"f{i}": 1 for i in range(12_000)}, "y": 2}).encode()
    runs = Runs(tmp_path, [many, *ratings(5)])
    runs([CHAMPION])
    with pytest.raises(ConfigError, match=r"takes at most .* features, and 1.,003 are known"):
        runs([CHAMPION, "recursive-mprank"])
    found = runs([CHAMPION, "scale | prank:kernel=gaussian(0.5),budget=20"])
    assert len(found["learners"]) == 2


def test_a_committee_goes_on_with_the_members_that_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those by default may be others in a later version, and what was learned is of those before."""
    path = tmp_path / "e.jsonl"
    path.write_text(
        "".join(f'{{"x": {{"a": {i % 5}}}, "y": {1 + i % 5 // 2}}}\n' for i in range(60))
    )
    given = ("replay", path, "--n-ranks", 3, "--quiet", "--out")

    def by_default(*members: str) -> None:
        monkeypatch.setattr("stream_rank.contestants.spec_parts.COMMITTEE", members)

    by_default("raw | prank", "raw | averaged-prank")
    assert in_process(capsys, *given, tmp_path / "whole")[0] == 0
    assert in_process(capsys, *given, tmp_path / "parts", "--max-events", 25)[0] == 0
    by_default("raw | oap-bpm", "raw | prank")
    code, _, said = in_process(capsys, *given, tmp_path / "parts", "--resume")
    assert code == 0, said
    assert "leaves" not in said
    whole, parts = (summary_of(tmp_path / name)["learners"] for name in ("whole", "parts"))
    assert {name: each["state_sha256"] for name, each in parts.items()} == {
        name: each["state_sha256"] for name, each in whole.items()
    }
