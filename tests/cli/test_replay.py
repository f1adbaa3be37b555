"""`stream-rank replay`, from flags to files."""

import csv
import gzip
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from stream_rank.checkpoint.model_file import load, state_digest
from tests.cli.conftest import command, in_process, run, summary_of
from tests.killing import newest

LEARNERS = ["--learner", "oap-bpm:n_members=9,sampling=0.5", "--learner", "online-mprank:budget=20,kernel=gaussian(2.0)"]  # fmt: skip


def test_a_run_and_all_that_it_writes(stream: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = run("replay", stream, *LEARNERS, "--n-ranks", 5, "--out", out, "--delay", 50)
    assert ran.code == 0, ran.error
    assert "\x1b" not in ran.out + ran.error  # no colour into a pipe
    assert "oap-bpm" in ran.out
    assert "report.html" in ran.out
    summary = summary_of(out)
    assert summary["events"] == 2_000
    parts = ("learned", "requests", "labels", "skipped", "rejects")
    assert sum(summary[name] for name in parts) == 2_000
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert len(rejects) == summary["rejects"] > 0
    assert set(rejects[0]) == {"reason", "place", "raw"}
    for name, found in summary["learners"].items():
        assert state_digest(load(out, learner=name)) == found["state_sha256"]
    with (out / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["events"] == str(summary["learned"])
    assert {row["learner"] for row in rows} == set(summary["learners"])
    last = next(row for row in reversed(rows) if row["learner"] == LEARNERS[1])
    for name in ("baseline_loss", "skill", "recent_skill", "preference_skill"):
        assert float(last[name]) == summary["learners"][LEARNERS[1]][name], name
    page = (out / "report.html").read_text()
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", "")  # nothing beside it is needed
    predictions = (out / "predictions.jsonl").read_text().splitlines()
    assert len(predictions) >= summary["requests"]


def test_resumed_as_if_never_stopped(
    stream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    flags = [*LEARNERS, "--n-ranks", 5, "--delay", 50, "--quiet"]
    assert in_process(capsys, "replay", stream, *flags, "--out", whole)[0] == 0
    for most in (100, 101, 900):
        more = ["--resume", "--max-events", most, "--out", parts]
        assert in_process(capsys, "replay", stream, *flags, *more)[0] == 0
    assert in_process(capsys, "replay", stream, *flags, "--resume", "--out", parts)[0] == 0
    one, other = summary_of(whole), summary_of(parts)
    for name in ("events", "learned", "rejects", "learners", "position", "features", "waiting"):
        assert one[name] == other[name], name
    for name in ("rejects.jsonl", "predictions.jsonl"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()
    code, _, error = in_process(capsys, "replay", stream, *flags, "--out", parts)
    assert (code, "--resume" in error) == (2, True)
    code, _, error = in_process(
        capsys, "replay", stream, "--n-ranks", 4, "--quiet", "--resume", "--out", parts
    )
    assert (code, "give it as before" in error) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--learner", "oap-bmp"], "did you mean 'oap-bpm'?"),
        (["--learner", "oap-bpm:members=5"], "did you mean 'n_members'?"),
        (["--learner", "oap-bpm:n_members=0"], "n_members"),
        (["--learner", "river.nothing.Here"], "there is no estimator"),
        (["--learner", "antigravity.Here"], "name its module in --allow-import"),
        (["--learner", "riverside.Here"], "name its module in --allow-import"),
        (
            ["--learner", "tests.Here", "--allow-import", "test"],
            "name its module in --allow-import",
        ),
        (["--learner", "tests.cli.Here", "--allow-import", "tests"], "there is no estimator"),
        (["--learner", "river.stats.Mean"], "neither a classifier nor a regressor"),
        (["--learner", "prank", "--learner", "prank"], "given twice"),
        (["--learner", "prank:n_ranks=4"], "--n-ranks is 5"),
        (["--learner", ".x"], "there is no estimator"),
        (["--learner", "..x.y"], "there is no estimator"),
        (["--learner", "river.preprocessing.StandardScaler|prank"], "there is no stage"),
        (["--learner", "scal | prank"], "did you mean 'scale'"),
        (["--learner", "scale:wide=3 | prank"], "there is no parameter"),
        (["--learner", "oap-bpm:n_members=1000000000000"], "n_members"),
        (["--speed", "inf"], "--speed"),
        (["--leaner", "prank"], "did you mean '--learner'?"),
        (["--n-ranks", "many"], "--n-ranks: Input should be a valid integer"),
        (["--speed", "fast"], "--speed"),
        (["--from", "yesterday"], "--from"),
        (["--fields", "stars"], "y=stars"),
        (["--fields", "label=stars"], "there is no role 'label'"),
        (["--fields", "y=stars", "tie=draw"], "--fields has x or y"),
        (["--fields", "preferred=home"], "a pattern with one star"),
        (["--config", "nothing.toml"], "cannot be read"),
    ],
)
def test_what_cannot_be_is_an_error_that_helps(
    arguments: list[str],
    words: str,
    stream: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = [] if "--n-ranks" in arguments else ["--n-ranks", "5"]
    code, out, error = in_process(capsys, "replay", stream, "--out", tmp_path, *more, *arguments)
    assert code == 2
    assert words in error
    assert not out
    assert not list(tmp_path.iterdir())


def test_settings_from_file_variables_and_flags(
    stream: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        f'inputs = ["{stream}"]\nout = "out"\nn_ranks = 3\nwindow = 10\n'
        'learners = ["prank"]\n[fields]\ny = "stars"\nx = ["a", "b"]\n'
    )
    monkeypatch.setenv("STREAM_RANK_N_RANKS", "4")
    monkeypatch.setenv("STREAM_RANK_WINDOW", "20")
    code, out, _ = in_process(
        capsys, "replay", "--config", file, "--n-ranks", 5, "--print-config", "--speed", "10x"
    )
    found = json.loads(out)
    assert code == 0
    assert (found["n_ranks"], found["window"], found["speed"]) == (5, 20, 10.0)
    assert found["fields"] == {"x": ["a", "b"], "y": "stars"}
    monkeypatch.setenv("STREAM_RANK_WINDOWS", "20")
    code, _, error = in_process(capsys, "replay", "--config", file, "--print-config")
    assert (code, "did you mean 'STREAM_RANK_WINDOW'?" in error) == (2, True)
    monkeypatch.delenv("STREAM_RANK_WINDOWS")
    monkeypatch.setenv("STREAM_RANK_N_RANKS", "1")
    code, _, error = in_process(capsys, "replay", "--config", file, "--print-config")
    assert (code, "variable STREAM_RANK_N_RANKS" in error) == (2, True)
    file.write_text("windo = 3")
    code, _, error = in_process(capsys, "replay", "--config", file, "--print-config")
    assert (code, "did you mean 'window'?" in error) == (2, True)


def test_too_many_rejects_stop_a_run(
    stream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["replay", stream, "--learner", "prank", "--n-ranks", 5, "--quiet"]
    code, _, error = in_process(capsys, *flags, "--out", tmp_path / "a", "--max-reject-ratio", 0.01)
    assert code == 5
    assert "--max-reject-ratio" in error
    code, _, _ = in_process(capsys, *flags, "--out", tmp_path / "b", "--max-reject-ratio", 0.9)
    assert code == 0
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text("no event\n" * 5)
    code, _, error = in_process(capsys, "replay", nothing, *flags[2:], "--out", tmp_path / "c")
    assert (code, "not one of 5 records" in error) == (5, True)
    assert "the first: not JSON" in error
    code, _, error = in_process(capsys, *flags, "--out", tmp_path / "c")  # nothing is lost
    assert code == 0, error


def test_ten_thousand_malformed_among_good_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import random

    generator = random.Random(1)
    spoilers = [
        lambda text: text.replace('"y": 1', '"y": NaN').replace('"y": 2', '"y": 1e999'),
        lambda text: text[: generator.randrange(1, len(text) - 1)],
        lambda text: text.replace('"a"', '"a" "b"'),
        lambda text: text.replace('"y"', '"label"'),
        lambda text: '{"x": {}, "y": 1}',
        lambda text: '{"x": {"a": null}, "y": 1}',
        lambda text: '{"x": {"a": ["1", 2]}, "y": 2}',
        lambda text: '{"x": {"a": 1}, "y": 7}',
        lambda text: "[]" * generator.randrange(1, 4),
        lambda text: '{"x": {"' + "a" * generator.randrange(100) + '": 1}, "y": true}',
        lambda text: "\\u0000\ud800"[: generator.randrange(1, 6)],
    ]  # fmt: skip
    good, lines = [], []
    for number in range(30_000):
        text = json.dumps({"x": {"a": generator.random(), "b": 1.0}, "y": number % 2 + 1})
        if number % 3 == 0:
            spoiled = generator.choice(spoilers)(text)
            lines.append(spoiled.encode(errors="surrogatepass"))
        else:
            good.append(text.encode())
            lines.append(good[-1])
    for name, content in (("all", lines), ("good", good)):
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(content) + b"\n")
        code, _, error = in_process(
            capsys, "replay", tmp_path / f"{name}.jsonl", "--n-ranks", 5, "--out", tmp_path / name
        )
        assert code == 0, error
    both, only = summary_of(tmp_path / "all"), summary_of(tmp_path / "good")
    rejects = [
        json.loads(line) for line in (tmp_path / "all/rejects.jsonl").read_text().splitlines()
    ]
    assert both["learned"] == only["learned"] == len(good) == 20_000
    assert both["rejects"] == len(rejects) == 10_000
    assert both["learners"] == only["learners"]
    for reject in rejects:
        number = int(reject["place"].rpartition(":")[2]) - 1
        raw = reject["raw"].encode() if "raw" in reject else bytes.fromhex(reject["raw_hex"])
        assert number % 3 == 0
        assert raw == lines[number]
        assert reject["reason"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals(number: int, code: int, tmp_path: Path) -> None:
    """SIGUSR1 asks for a snapshot; SIGTERM and Ctrl-C finish the batch, keep everything, and end."""
    flags = ("--n-ranks", 5, "--snapshot-seconds", 1000, "--out", tmp_path / "out")
    with subprocess.Popen(
        command("replay", "-", *flags), stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(b'{"x": {"a": 1}, "y": 3}\n' * 500)
        process.stdin.flush()
        deadline = time.monotonic() + 120

        def kept(records: int) -> None:
            """Ask for snapshots until there is one behind so many."""
            while not newest(tmp_path / "out").startswith(f"{records:015d}"):
                assert time.monotonic() < deadline
                time.sleep(0.2)
                if (tmp_path / "out" / "predictions.jsonl").exists():
                    process.send_signal(signal.SIGUSR1)

        kept(500)
        process.stdin.write(b'{"x": {"a": 1}, "y": 3}\n' * 500)
        process.stdin.flush()
        kept(1_000)
        process.send_signal(number)
        assert process.wait(30) == code
    assert summary_of(tmp_path / "out")["learned"] == 1_000


def test_inputs_that_cannot_be_read(
    stream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was learned before the damage is kept."""
    code, _, error = in_process(capsys, "replay", f"{stream}x", "--out", tmp_path / "a")
    assert (code, "there is" in error) == (3, True)
    packed = tmp_path / "events.jsonl.gz"
    packed.write_bytes(gzip.compress(stream.read_bytes() * 20)[:-3_000])
    flags = ["--n-ranks", 5, "--quiet", "--out", tmp_path / "b"]
    code, _, error = in_process(capsys, "replay", packed, *flags)
    assert (code, "cannot be read on" in error) == (3, True)
    assert load(tmp_path / "b").n_events > 0
    code, _, error = in_process(capsys, "replay", packed, "--follow", "--out", tmp_path / "c")
    assert (code, "compressed" in error) == (3, True)
    times = ["--from", "2030-01-01T00:00:00Z", "--out", tmp_path / "d"]
    code, _, error = in_process(capsys, "replay", stream, "--n-ranks", 5, *times)
    assert (code, "has a time (ts) between" in error) == (0, True)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    flags = ("--n-ranks", 5, "--out", tmp_path / "out")
    with subprocess.Popen(
        command("replay", "-", *flags), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 90
        while not (tmp_path / "out" / "rejects.jsonl").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        ran = run("replay", "synthetic:10", *flags)
        assert (ran.code, "another run" in ran.error) == (2, True)
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def test_a_foreign_run_says_that_it_cannot_be_resumed(tmp_path: Path) -> None:
    flags = ("--learner", "river.linear_model.LinearRegression:l2=0.1", "--learner", "oap-bpm")
    ran = run("replay", "synthetic:2000", *flags, "--n-ranks", 5, "--out", tmp_path, "--json")
    assert ran.code == 0
    assert "cannot be resumed" in ran.error
    learners = json.loads(ran.out)["learners"]
    assert learners["river.linear_model.LinearRegression:l2=0.1"]["state_sha256"] is None
    assert learners["river.linear_model.LinearRegression:l2=0.1"]["magnitude_loss"] > 0
    ran = run("replay", "synthetic:2000", *flags, "--n-ranks", 5, "--out", tmp_path, "--resume")
    assert (ran.code, "cannot be resumed" in ran.error) == (2, True)


def test_damaged_snapshots_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["replay", "synthetic:30000", "--n-ranks", 5, "--out", tmp_path / "out", "--quiet"]
    assert in_process(capsys, *flags, "--snapshot-events", 5_000)[0] == 0
    expected = summary_of(tmp_path / "out")
    snapshots = tmp_path / "out" / "snapshots"
    newest = max(snapshots.glob("*.safetensors"))
    newest.write_bytes(newest.read_bytes()[:-100])
    code, _, error = in_process(capsys, *flags, "--resume")
    assert (code, "With --on-corrupt-snapshot = older" in error) == (4, True)
    code, _, error = in_process(capsys, *flags, "--resume", "--on-corrupt-snapshot", "older")
    assert code == 0
    assert "trying an older one" in error
    assert summary_of(tmp_path / "out")["learners"] == expected["learners"]


def test_odd_names_and_many_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / os.fsdecode(b"b\xff.jsonl")
    lines = [
        {"x": {"<script>alert(1)</script>": 1.0, "\u2028": 2.0}, "y": rank} for rank in (7, 1500)
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "out"
    code, _, error = in_process(
        capsys, "replay", file, "--learner", "prank", "--n-ranks", 1500, "--out", out, "--quiet"
    )
    assert code == 0, error
    page = (out / "report.html").read_text()
    assert "<script" not in page
    assert len(page) < 100_000


def test_what_rivers_estimators_raise_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learner = "river.ensemble.BaggingRegressor:model=river.linear_model.LinearRegression"
    code, _, error = in_process(
        capsys,
        "replay",
        "synthetic:100",
        "--learner",
        learner,
        "--out",
        tmp_path / "a",
        "--n-ranks",
        5,
    )
    assert (code, "AttributeError" in error) == (2, True)
