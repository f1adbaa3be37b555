"""`stream-rank snapshot merge`: one model out of the runs over a stream's shards."""

import json
from pathlib import Path

import pytest

import stream_rank
from stream_rank.checkpoint.model_file import state_digest
from tests.cli.conftest import in_process


def test_runs_over_shards_become_one_model(
    stream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is what the average of the runs' learners is, predicts, and is no run that could be gone on with."""
    lines, runs = stream.read_bytes().splitlines(keepends=True), [tmp_path / "0", tmp_path / "1"]
    learners = ("--learner", "oap-bpm", "--learner", "recursive-mprank", "--n-ranks", 5)
    for number, out in enumerate(runs):
        shard = tmp_path / f"{number}.jsonl"
        shard.write_bytes(b"".join(lines[number::2]))
        code, _, _ = in_process(capsys, "replay", shard, *learners, "--out", out, "--seed", 1)
        assert code == 0
    file = tmp_path / "merged"
    asked = ("snapshot", "merge", *runs, "--out", file)
    code, _, said = in_process(capsys, *asked)
    assert code == 2
    assert "which of them? --learner" in said
    code, said, _ = in_process(capsys, *asked, "--learner", "oap-bpm")
    parts = [stream_rank.load(run, "oap-bpm") for run in runs]
    counts = [getattr(part, "learner", part).n_events for part in parts]
    assert code == 0
    assert (
        said
        == f"{file}: what 2 learned from {sum(counts):,} events ({counts[0]:,}, {counts[1]:,})\n"
    )
    assert state_digest(stream_rank.load(file)) == state_digest(stream_rank.average(parts))
    code, said, _ = in_process(capsys, "snapshot", "show", file)
    described = json.loads(said)
    assert list(described) == ["learners"]  # no position, which would be in several streams
    assert described["learners"]["model"]["events"] == sum(counts)
    code, said, _ = in_process(capsys, "snapshot", "export", file)
    assert code == 0
    assert len(json.loads(said)["thresholds"]) == 4
    code, said, _ = in_process(capsys, "predict", file, stream)
    assert code == 0
    assert len(said.splitlines()) > 1_000


def test_a_run_begins_as_a_merged_model_and_is_resumed(
    stream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cut in two it is, to the bit, what the model becomes in one go; its position is its own."""
    lines = stream.read_bytes().splitlines(keepends=True)
    learner = ("--learner", "scale | oap-bpm", "--n-ranks", 5)
    for number in range(2):
        (tmp_path / f"{number}.jsonl").write_bytes(b"".join(lines[number:1000:2]))
        run = ("replay", tmp_path / f"{number}.jsonl", *learner, "--out", tmp_path / str(number))
        assert in_process(capsys, *run)[0] == 0
    merged, rest = tmp_path / "merged", tmp_path / "rest.jsonl"
    asked = ("snapshot", "merge", tmp_path / "0", tmp_path / "1", "--out", merged)
    assert in_process(capsys, *asked)[0] == 0
    rest.write_bytes(b"".join(lines[1000:]))
    more = ("replay", rest, *learner, "--begin-with", merged, "--out")
    assert in_process(capsys, *more, tmp_path / "whole")[0] == 0
    assert in_process(capsys, *more, tmp_path / "cut", "--max-events", 300)[0] == 0
    assert in_process(capsys, *more, tmp_path / "cut", "--resume")[0] == 0
    assert in_process(capsys, "replay", rest, *learner, "--out", tmp_path / "anew")[0] == 0
    names = ("whole", "cut", "merged", "anew")
    whole, cut, begun, anew = (stream_rank.load(tmp_path / name) for name in names)
    assert state_digest(cut) == state_digest(whole) != state_digest(begun)
    counts = [each.learner.n_events for each in (begun, anew, whole)]
    assert counts[2] == counts[0] + counts[1]
    assert state_digest(anew) != state_digest(whole)


def test_a_run_does_not_begin_as_a_model_of_another_kind(
    stream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = stream_rank.PRank(n_ranks=5)
    for number in range(20):
        model.learn_one({f"f{number}": 1.0}, 1)
    stream_rank.save(model, tmp_path / "model")
    run = ("replay", stream, "--begin-with", tmp_path / "model", "--n-ranks", 5, "--out")
    cases: list[tuple[list[object], str]] = [
        (["--learner", "raw | averaged-prank"], "the run has AveragedPRank of "),
        (["--learner", "scale | prank"], "the run has Scale | PRank of "),
        (["--learner", "prank", "--learner", "oap-bpm"], "has one learner"),
        (["--learner", "raw | prank", "--max-features", 10], "there is room for 10"),
    ]
    for number, (more, words) in enumerate(cases):
        code, _, said = in_process(capsys, *run, tmp_path / str(number), *more)
        assert code == 2
        assert words in said


def test_what_does_not_fit_together_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "one", tmp_path / "other"]
    for file, n_ranks in zip(files, (3, 5), strict=True):
        stream_rank.save(stream_rank.PRank(n_ranks=n_ranks), file)
    code, _, said = in_process(capsys, "snapshot", "merge", *files, "--out", tmp_path / "merged")
    assert code == 4
    assert "learner 2 has n_ranks=5 and learner 1 n_ranks=3" in said
    assert f"2 is {files[1]}" in said
    assert not (tmp_path / "merged").exists()
