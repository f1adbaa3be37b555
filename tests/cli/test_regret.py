"""`replay --regret`: what a fixed rule would have lost that was found with all events at hand."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_rank.batch import RankRLS
from stream_rank.batch.hindsight import preference_error, rank_loss, score_loss
from stream_rank.pipeline.event_sample import EventSample
from tests.cli.conftest import in_process, summary_of
from tests.pipeline.conftest import feed, loop_of, mixed


def rated(count: int, whole: bool, groups: bool = False) -> Iterator[dict[str, Any]]:
    generator = random.Random(3)
    for number in range(count):
        a, b = generator.gauss(0, 1), generator.gauss(0, 1)
        group = number % 3
        score = 3 + a - b + generator.gauss(0, 0.5) + (10 * group if groups else 0)
        y = min(max(round(score), 1), 5) if whole else score
        event: dict[str, Any] = {"x": {"a": a, "b": b, f"kind{number % 2}": 1}, "y": y}
        yield {**event, "group": group} if groups else event


def preferred(count: int) -> Iterator[dict[str, Any]]:
    generator = random.Random(4)
    for _ in range(count):
        one, other = ({"a": generator.gauss(0, 1), "b": 1} for _ in range(2))
        lead = one["a"] - other["a"] + generator.gauss(0, 0.5)
        if abs(lead) < 0.1:
            yield {"preferred": one, "other": other, "tie": True}
        else:
            yield {"preferred": one if lead > 0 else other, "other": other if lead > 0 else one}


def replayed(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    events: Iterator[dict[str, Any]],
    *flags: Any,
) -> tuple[str, dict[str, Any]]:
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    out = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
    code, said, error = in_process(capsys, "replay", file, "--regret", "--out", out, *flags)
    assert code == 0, error
    return said, summary_of(out)


def test_of_scores_nobody_loses_less_by_a_fixed_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = list(rated(600, whole=False, groups=True))
    flags = ["--learner", "raw | recursive-mprank"]
    said, summary = replayed(capsys, tmp_path, iter(events), *flags)
    found = summary["hindsight"]["magnitude"]
    learner = summary["learners"]["raw | recursive-mprank"]
    assert (found["method"], found["events"], found["of"]) == ("RankRLS", 600, 600)
    assert found["regret"]["raw | recursive-mprank"] == pytest.approx(
        learner["magnitude_loss"] - found["loss"]
    )
    # no other weights do better
    X = np.array([[e["x"].get(name, 0.0) for name in ("a", "b", "kind0", "kind1")] for e in events])
    y, groups = np.array([e["y"] for e in events]), np.array([e["group"] for e in events])
    weights = RankRLS(1e-9).fit(X, y, groups).coef_

    def loss(w: Any) -> float:
        off = y - X @ w
        total = sum(len(off[groups == g]) ** 2 * 2 * off[groups == g].var() for g in range(3))
        return float(total / sum((groups == g).sum() ** 2 for g in range(3)))

    assert found["loss"] == pytest.approx(loss(weights), abs=1e-6)
    for direction in np.eye(4):
        assert loss(weights + 0.01 * direction) >= found["loss"] - 1e-9
    assert "In hindsight: RankRLS, fixed and fitted to all 600 events" in said
    page = (next(tmp_path.glob("run-*")) / "report.html").read_text()
    assert "<h2>In hindsight</h2>" in page


def test_of_ranks_and_preferences_it_is_near_what_made_the_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, summary = replayed(
        capsys, tmp_path, rated(2_000, whole=True), "--n-ranks", 5, "--learner", "ordinal-logit"
    )
    found = summary["hindsight"]["rank"]
    events = list(rated(2_000, whole=True))
    truth = np.clip(np.rint([3 + e["x"]["a"] - e["x"]["b"] for e in events]), 1, 5)
    known = float(np.abs(truth - [e["y"] for e in events]).mean())
    assert found["loss"] == pytest.approx(known, abs=0.02)
    assert found["regret"]["ordinal-logit"] > -0.01
    _, summary = replayed(
        capsys,
        tmp_path,
        preferred(2_000),
        "--learner",
        "pairwise-ranker",
        "--learner",
        "widrow-hoff",
    )
    both = summary["hindsight"]["preference"]
    assert both["loss"] < summary["learners"]["pairwise-ranker"]["preference_error"]
    assert set(both["regret"]) == {"pairwise-ranker", "widrow-hoff"}


def test_of_many_events_so_many_are_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--n-ranks", 5, "--regret-events", 300, "--learner", "prank"]
    said, summary = replayed(capsys, tmp_path, rated(3_000, whole=True), *flags)
    found = summary["hindsight"]["rank"]
    assert (found["events"], found["of"]) == (300, 3_000)
    assert "300 of 3,000 events drawn by chance" in said
    code, _, error = in_process(
        capsys, "replay", tmp_path / "events.jsonl", *flags, "--regret", "--resume", "--out", tmp_path / "x"
    )  # fmt: skip
    assert code == 2
    assert "--regret needs all events of a run: it cannot be had with --resume" in error


def test_what_is_drawn_does_not_depend_on_how_a_stream_is_cut() -> None:
    lines = mixed(2_000)

    def drawn(size: int) -> list[list[Any]]:
        loop, sample = loop_of(["prank"], delay=20), EventSample(40, seed=1)
        loop.stages = [*loop.stages, sample]
        feed(loop, lines, [size])
        assert sum(sample.met.values()) > loop.progress.counts.learned  # rankings are several
        found = []
        for kind in ("ratings", "preferences"):
            kept = sample.kept(kind)
            assert kept is not None
            assert len(kept) == 40
            found.append([kept.labels.tolist(), *(v.tolist() for _, _, v in kept.tables)])
        return found

    assert drawn(7) == drawn(1_000)


def test_features_beyond_all_bounds_are_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = ({"x": {"a": (i % 7 - 3) * 1e24, "b": i % 3}, "y": float(i % 5)} for i in range(300))
    said, summary = replayed(capsys, tmp_path, events, "--learner", "raw | recursive-mprank")
    assert "In hindsight: RankRLS" in said
    found = summary["hindsight"]["magnitude"]
    assert found["loss"] < 4.1 or "why_not" in found


def test_corners() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    assert rank_loss(X, np.array([2, 2, 2])) == 0
    assert rank_loss(0 * X, np.array([1, 1, 3])) == pytest.approx(2 / 3)  # the median rank
    assert score_loss(0 * X, np.array([1.0, 2.0, 3.0]), None) == pytest.approx(2 * 2 / 3)
    assert score_loss(X, np.array([1.0, 2.0, 3.0]), np.array(["a", "b", "c"])) == 0
    ties = preference_error(X, X, np.zeros(3))
    assert ties == 0  # nobody leads
