"""Stages in replays: events that are hard to prepare end no run, and make no difference to where it was cut."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import in_process, summary_of

pytestmark = pytest.mark.long(40)

Capture = pytest.CaptureFixture[str]


def states(
    tmp_path: Path, capsys: Capture, events: list[Any], flags: list[Any], cuts: tuple[int, ...]
) -> list[Any]:
    """What a run knows in the end, and one that was cut."""
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in events))
    found = []
    ways: list[tuple[str, list[int | None]]] = [("whole", [None]), ("cut", [*cuts, None])]
    for name, ends in ways:
        out = tmp_path / name
        for number, end in enumerate(ends):
            more: list[Any] = ["--resume"] if number else []
            more += [] if end is None else ["--max-events", end]
            given = [*flags, *more, "--out", out, "--quiet", "--max-reject-ratio", 1]
            code, _, error = in_process(capsys, "replay", path, "--n-ranks", 3, *given)
            assert code == 0, error
        summary = summary_of(out)
        keys = ("features", "dropped_features", "expired_features", "learned", "rejects")
        learners = summary["learners"].items()
        found.append(
            ({key: summary[key] for key in keys}, {k: v["state_sha256"] for k, v in learners})
        )
    return found


def learners(*specs: str) -> list[Any]:
    return [flag for spec in specs for flag in ("--learner", spec)]


def test_tiny_and_huge_numbers(tmp_path: Path, capsys: Capture) -> None:
    """Their squares are no normal numbers, and what is one over them is none at all."""
    tiny = [{"x": {"a": 1e-158, "b": 0.0}, "y": 1 + i % 3} for i in range(3)]
    events = [
        *tiny,
        {"x": {"a": 1.0, "b": 1.0}, "y": 3},
        {"x": {"a": 9e64, "b": 9e64}, "y": 1},
        *tiny,
    ]
    flags = learners(
        *(f"normalize | {name}" for name in ("widrow-hoff", "online-mprank", "recursive-mprank")),
        *("normalize | prank:kernel=gaussian(1.0)", "normalize | waves:n_components=3 | prank"),
        *("normalize | scale | prank", "cross:a*b | cross:a*b | scale | prank"),
    )
    whole, cut = states(tmp_path, capsys, events, flags, (2, 5))
    assert whole == cut


@pytest.mark.parametrize(
    ("spec", "x"),
    [
        ("cross:a*b | prank:dtype=float32", {"a": 1e7, "b": 1e7}),
        ("cross:a*b | prank:kernel=polynomial(4)", {"a": 1e12, "b": 1e12}),
        ("cross:a*b | recursive-mprank", {"a": 1e20, "b": 1e20}),
        ("normalize | waves:n_components=3 | prank", {"a": 1e129}),
        ("cross:a*b | cross:a*b | prank", {"a": 1e60, "b": 1e60}),
        ("scale | river.linear_model.LinearRegression", {"a": 1e60}),
    ],
)
def test_requests_of_unknown_features(
    spec: str, x: dict[str, float], tmp_path: Path, capsys: Capture
) -> None:
    events: list[Any] = [{"x": {"a": 1.0, "b": 0.5 * i}, "y": 1 + i % 3} for i in range(4)]
    events += [{"x": {**x, "never": 1.0}}, {"x": {"never": 2.0}}]
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in events))
    flags = [*learners(spec), "--n-ranks", 3, "--out", tmp_path / "o", "--quiet"]
    code, _, error = in_process(capsys, "replay", path, *flags)
    assert code == 0, error
    assert len((tmp_path / "o/predictions.jsonl").read_text().splitlines()) == 2


def test_more_products_than_a_learner_can_know(tmp_path: Path, capsys: Capture) -> None:
    x = {f"{kind}={i}": 1 for kind in ("user", "item") for i in range(110)}
    events = [{"x": x, "y": 1 + i % 3} for i in range(3)]
    flags = learners("cross:user*item | recursive-mprank", "cross:user*item | prank")
    whole, cut = states(tmp_path, capsys, events, flags, (1,))
    assert whole == cut


def test_names_like_those_that_stages_make(tmp_path: Path, capsys: Capture) -> None:
    events = [
        *({"x": {"user": "b", "n": i}, "y": 1 + i % 3} for i in range(4)),
        *({"x": {"user": "a", "mean(user)": 7.0, "wave_0": i, "n": 1}, "y": 2} for i in range(3)),
        *({"x": {f"w{i}": 1.0 for i in range(60)}, "y": 3} for _ in range(2)),
        *({"x": {"user=a": 1, "item=b*item=c": 2, "user=a*item=b": 3, "item=c": 5, "n": i}, "y": 1} for i in range(4)),
    ]  # fmt: skip
    flags = learners(
        *("target_mean:user | averaged-prank", "cross:user*item | averaged-prank"),
        "target_mean:user | waves:n_components=2 | oap-bpm:n_members=3",
    )
    whole, cut = states(tmp_path, capsys, events, flags, (1, 5, 6, 10))
    assert whole == cut


def test_names_of_events_that_wait_for_their_labels(tmp_path: Path, capsys: Capture) -> None:
    events: list[Any] = [
        {"id": "1", "x": {"c": 1, "z": 2}},
        {"id": "2", "x": {"c": 2, "a": 1, "user": "b"}},
        {"id": "2", "y": 1},
        {"id": "1", "y": 3},
        *({"x": {"c": i, "a": 1, "user": "c"}, "y": 1 + i % 3} for i in range(6)),
    ]
    specs = ("target_mean:user | scale | prank", "cross:user*a | prank")
    flags = ["--delay", 10, *learners(*specs, "scale | waves:n_components=2 | oap-bpm:n_members=3")]
    for cuts in ((2,), (1, 3)):
        folder = tmp_path / str(len(cuts))
        folder.mkdir()
        whole, cut = states(folder, capsys, events, flags, cuts)
        assert whole == cut


@pytest.mark.parametrize(
    "limits",
    [
        ("--min-count", 3),
        ("--max-features", 5),
        ("--max-features", 5, "--expire-after", 16),
        ("--max-features", 5, "--expire-after", 16, "--min-count", 2),
    ],
)
def test_names_are_counted_once(limits: Any, tmp_path: Path, capsys: Capture) -> None:
    """What is decoded and not yet learned when a run is cut comes again."""
    events = [
        {"x": {"c": i, f"n{i}": 1, **({f"n{i - 30}": 1} if i >= 30 else {})}, "y": 1 + i % 3}
        for i in range(60)
    ]
    flags = [*learners("prank", "scale | waves:n_components=2 | averaged-prank"), *limits]
    whole, cut = states(tmp_path, capsys, events, flags, (5, 40))
    assert whole == cut
    assert whole[0]["dropped_features"] > 0
    assert (whole[0]["expired_features"] > 0) == ("--expire-after" in limits)
