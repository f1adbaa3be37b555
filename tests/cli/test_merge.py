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
