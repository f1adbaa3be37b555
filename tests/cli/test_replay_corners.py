"""What people run into at the edges of `stream-rank replay`."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from river import base

from tests.cli.conftest import command, in_process, summary_of
from tests.killing import newest

Capture = pytest.CaptureFixture[str]


def lines_of(path: Path, *events: Any) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def ratings(count: int) -> list[dict[str, Any]]:
    return [{"x": {"a": i % 7 / 7, "b": i % 3}, "y": i % 5 + 1} for i in range(count)]


class Marked(base.Regressor):
    """It keeps what it was asked first, as some of River's estimators do."""

    def __init__(self) -> None:
        self.first: Any = None

    def learn_one(self, x: Any, y: Any) -> None:
        self.first = self.first or dict(x)

    def predict_one(self, x: Any) -> float:
        self.first = self.first or dict(x)
        return float(len(self.first))


class Careless(base.Regressor):
    """It takes features for granted."""

    def learn_one(self, x: Any, y: Any) -> None:
        if y == 3:
            raise ValueError("not three")

    def predict_one(self, x: Any) -> float:
        return float(x["a"])


def test_a_request_with_new_features_is_shown_to_others_as_it_is(
    tmp_path: Path, capsys: Capture
) -> None:
    request = {"x": {"a": 0.5, "b": 0.1, "c": 0.2}, "id": "first"}
    path = lines_of(tmp_path / "e.jsonl", request, *ratings(3))
    learner = "tests.cli.test_replay_corners.Marked"
    code, _, error = in_process(
        capsys,
        "replay",
        path,
        "--learner",
        learner,
        "--allow-import",
        __name__,
        "--out",
        tmp_path / "o",
    )
    assert code == 0, error
    told = json.loads((tmp_path / "o/predictions.jsonl").read_text())
    assert told == {"id": "first", "predictions": {learner: 3.0}}


@pytest.mark.parametrize("more", [[], ["--delay", 5]])
def test_what_others_raise_is_an_error_that_names_them(
    more: list[Any], tmp_path: Path, capsys: Capture
) -> None:
    later = [{"x": {"a": 1}, "id": 1}, {"id": 1, "y": 3}] if more else [{"x": {"b": 1}}]
    path = lines_of(tmp_path / "e.jsonl", *later)
    learner = "tests.cli.test_replay_corners.Careless"
    code, _, error = in_process(
        capsys,
        "replay",
        path,
        "--learner",
        learner,
        "--allow-import",
        __name__,
        *more,
        "--out",
        tmp_path / "o",
    )
    assert code == 2
    assert f"{learner} cannot learn this stream" in error


def test_classifiers_of_two_classes_are_refused(tmp_path: Path, capsys: Capture) -> None:
    path = lines_of(tmp_path / "e.jsonl", *ratings(5))
    flags = ["--learner", "river.linear_model.LogisticRegression", "--n-ranks", 5]
    code, _, error = in_process(capsys, "replay", path, *flags, "--out", tmp_path / "o")
    assert (code, "a classifier of several classes is needed" in error) == (2, True)


def test_a_run_is_not_begun_again_because_its_snapshots_are_elsewhere(
    tmp_path: Path, capsys: Capture
) -> None:
    path = lines_of(tmp_path / "e.jsonl", *ratings(5), {"x": {"a": 1}})
    out, flags = tmp_path / "o", ["--learner", "prank", "--n-ranks", 5, "--quiet"]
    elsewhere = ["--snapshots", str(tmp_path / "s")]
    assert in_process(capsys, "replay", path, *flags, *elsewhere, "--out", out)[0] == 0
    before = (out / "predictions.jsonl").read_bytes()
    for more in ([], ["--resume"]):
        code, _, error = in_process(capsys, "replay", path, *flags, *more, "--out", out)
        assert (code, "has its snapshots at" in error) == (2, True)
    assert (out / "predictions.jsonl").read_bytes() == before != b""
    assert in_process(capsys, "replay", path, *flags, *elsewhere, "--resume", "--out", out)[0] == 0


def test_labels_come_later_in_tables_too(tmp_path: Path, capsys: Capture) -> None:
    events: list[dict[str, Any]] = []
    rows = ["id,a,b,y"]
    for i in range(50):
        events += [{"x": {"a": i % 7, "b": i % 3}, "id": i}, {"id": i, "y": i % 5 + 1}]
        rows += [f"{i},{i % 7},{i % 3},", f"{i},,,{i % 5 + 1}"]
    (tmp_path / "d.csv").write_text("\n".join([*rows, "77,,,9", ""]))
    found = {}
    for path in (tmp_path / "d.csv", lines_of(tmp_path / "d.jsonl", *events)):
        out = tmp_path / path.suffix
        flags = ["--delay", 10, "--learner", "prank", "--n-ranks", 5, "--quiet", "--out", out]
        columns = ["--fields", "x=a,b"] if path.suffix == ".csv" else []
        code, _, error = in_process(capsys, "replay", path, *flags, *columns)
        assert code == 0, error
        found[path.suffix] = summary_of(out)
    assert found[".csv"]["learned"] == found[".csv"]["labels"] == 50
    assert found[".csv"]["rejects"] == 1
    assert found[".csv"]["learners"] == found[".jsonl"]["learners"]
    code, _, error = in_process(
        capsys, "replay", tmp_path / "d.csv", "--learner", "prank", "--n-ranks", 5, "--out", tmp_path / "n", "--quiet"
    )  # fmt: skip
    assert "with `delay`, features wait" in (tmp_path / "n/rejects.jsonl").read_text()


def test_labels_without_a_time_go_with_their_features(tmp_path: Path, capsys: Capture) -> None:
    events: list[dict[str, Any]] = []
    for day in ("2020-01-01T00:00:00Z", "2020-01-03T00:00:00Z"):
        events += [{"x": {"a": 1}, "id": day, "ts": day}, {"id": day, "y": 2}]
    path = lines_of(tmp_path / "e.jsonl", *events, {"x": {"a": 1}, "y": 2})
    config = tmp_path / "c.toml"
    config.write_text('from = 2020-01-02\nn_ranks = 5\nlearners = ["prank"]\n')  # a date of TOML's
    out = tmp_path / "o"
    code, _, error = in_process(
        capsys, "replay", path, "--config", config, "--delay", 9, "--out", out
    )
    assert code == 0, error
    assert "1 events without a time" in error
    counts = summary_of(out)
    assert [counts[name] for name in ("learned", "labels", "skipped", "rejects")] == [1, 1, 3, 0]


def test_what_does_not_make_sense_is_said(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "e.csv").write_text("a, y\n1,2\n2,3\n")
    out = ["--out", tmp_path / "o"]
    flags = ["--learner", "prank", "--n-ranks", 5, *out]
    code, _, error = in_process(capsys, "replay", tmp_path / "e.csv", *flags)
    assert (code, "--fields y=NAME" in error) == (8, True)
    path = lines_of(tmp_path / "e.jsonl", *ratings(5))
    _, _, error = in_process(capsys, "replay", path, *flags[:-1], tmp_path / "p", "--speed", "9x")
    assert "--speed had no effect" in error
    path = lines_of(tmp_path / "p.jsonl", {"preferred": {"a": 1}, "other": {"a": 2}})
    learner = "river.linear_model.LinearRegression"
    given = [
        "replay",
        path,
        "--learner",
        learner,
        "--allow-import",
        __name__,
        "--out",
        tmp_path / "q",
    ]
    code, _, error = in_process(capsys, *given)
    assert "learn no preferences" in error
    assert (code, "no learner of these learns them" in error) == (8, True)
    code, _, error = in_process(
        capsys, *given[:-1], tmp_path / "r", "--learner", "prank", "--n-ranks", 5
    )
    assert (code, "learn no preferences" in error) == (0, True)


def test_a_stream_without_anything_to_learn_is_no_success(tmp_path: Path, capsys: Capture) -> None:
    flags = ["--learner", "prank", "--n-ranks", 5]
    requests = lines_of(tmp_path / "r.jsonl", *({"x": {"a": i}, "id": i} for i in range(5)))
    empty = lines_of(tmp_path / "e.jsonl")
    for path, out, words in (
        (requests, "a", "none of 5 events has a label"),
        (empty, "b", "no event in"),
    ):
        code, _, error = in_process(capsys, "replay", path, *flags, "--out", tmp_path / out)
        assert (code, words in error) == (8, True), error
        assert summary_of(tmp_path / out)["learned"] == 0
        assert (tmp_path / out / "report.html").exists()
    later = ["replay", requests, *flags, "--delay", 9, "--out", tmp_path / "c"]
    code, _, error = in_process(capsys, *later)
    assert (code, "the `id` of its event" in error) == (8, True)
    code, _, error = in_process(capsys, *later[:-1], tmp_path / "d", "--max-events", 2)
    assert (code, "has a label" in error) == (0, True)  # the labels may come yet
    learned = lines_of(tmp_path / "l.jsonl", *ratings(5))
    given = [learned, *flags, "--out", tmp_path / "f"]
    assert in_process(capsys, "replay", *given)[0] == 0
    assert in_process(capsys, "replay", *given, "--resume")[0] == 0  # it learned before


def test_most_of_a_stream_rejected_is_no_success(tmp_path: Path, capsys: Capture) -> None:
    flags = ["--learner", "prank", "--n-ranks", 5]
    bad = [{"x": {"a": 1}, "y": 9}] * 3
    for good, code in ((2, 5), (3, 0)):
        path = lines_of(tmp_path / f"{good}.jsonl", *ratings(good), *bad)
        out = tmp_path / str(good)
        found, said, error = in_process(capsys, "replay", path, *flags, "--out", out)
        assert found == code, error
        assert "3  label 9 is not one of the ranks 1..5" in said
    assert (
        in_process(
            capsys,
            "replay",
            tmp_path / "2.jsonl",
            *flags,
            "--out",
            tmp_path / "w",
            "--max-reject-ratio",
            1,
        )[0]
        == 0
    )


def test_one_reason_for_all_rejects_is_shown_with_an_example(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"\x1b[31mred\x07 " + b"x" * 500 + b"\n" * 2 + b"again\n" * 150)
    for most in (0.5, 1.0):
        given = ["--learner", "prank", "--n-ranks", 5, "--max-reject-ratio", most]
        code, _, error = in_process(capsys, "replay", path, *given, "--out", tmp_path / str(most))
        assert code == 5
        assert "the first: not JSON" in error
        assert "and so of all others" in error
        assert "\\x1b[31mred\\x07 xxx" in error
        assert "\x1b" not in error
        assert "\x07" not in error
        assert len(error) < 600


def test_the_most_frequent_reasons_are_told_and_kept(tmp_path: Path, capsys: Capture) -> None:
    bad: list[Any] = [{"x": {"a": 1}, "y": 7 + i} for i in range(20)]
    bad += [{"x": {"a": [1]}, "y": 1}] * 9 + [{"x": {}, "y": 1}] * 5 + ["no event"] * 3
    path = lines_of(tmp_path / "e.jsonl", *ratings(60), *bad)
    flags = ["replay", path, "--learner", "prank", "--n-ranks", 5]
    code, said, error = in_process(capsys, *flags, "--out", tmp_path / "o")
    assert code == 0, error
    told = said.split("rejected most often:\n")[1].splitlines()[:3]
    assert [line.split()[0] for line in told] == ["20", "9", "5"]
    kept = summary_of(tmp_path / "o")["reject_reasons"]
    assert [each["records"] for each in kept] == [20, 9, 5]
    assert kept[0]["reason"] == "label … is not one of the ranks …..…"
    for most in (70, 75):
        more = ["--resume", "--max-events", most] if most > 70 else ["--max-events", 59]
        assert in_process(capsys, *flags, "--out", tmp_path / "p", *more)[0] == 0
    assert summary_of(tmp_path / "p")["reject_reasons"] == kept
    path = lines_of(tmp_path / "few.jsonl", *ratings(500), "no event")
    code, said, _ = in_process(capsys, "replay", path, *flags[2:], "--out", tmp_path / "q")
    assert (code, "rejected most often" in said) == (0, False)


def test_fields_as_a_variable(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "e.csv").write_text("a,stars\n1,2\n2,3\n")
    monkeypatch.setenv("STREAM_RANK_FIELDS", "y=stars x=a")
    flags = ["--learner", "prank", "--n-ranks", 5, "--out", tmp_path / "o", "--quiet"]
    assert in_process(capsys, "replay", tmp_path / "e.csv", *flags)[0] == 0
    assert summary_of(tmp_path / "o")["learned"] == 2
    code, _, error = in_process(
        capsys, "replay", tmp_path / "e.csv", *flags, "--fields", "y=a", "y=b"
    )
    assert (code, "a role is given twice" in error) == (2, True)


def test_inputs_that_cannot_be_opened_are_errors_of_the_input(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lines_of(tmp_path / "e.jsonl", *ratings(5))

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("stream_rank.ingest.files.lines._plain", refuse)
    flags = ["--learner", "prank", "--n-ranks", 5, "--out", tmp_path / "o"]
    code, _, error = in_process(capsys, "replay", path, *flags)
    assert (code, "e.jsonl cannot be read: Permission denied" in error) == (3, True)


def test_endings_of_compressed_files_in_any_case(tmp_path: Path, capsys: Capture) -> None:
    import gzip

    raw = "".join(json.dumps(event) + "\n" for event in ratings(5)).encode()
    (tmp_path / "e.jsonl.GZ").write_bytes(gzip.compress(raw))
    flags = ["--learner", "prank", "--n-ranks", 5, "--out", tmp_path / "o", "--quiet"]
    assert in_process(capsys, "replay", tmp_path / "e.jsonl.GZ", *flags)[0] == 0
    assert summary_of(tmp_path / "o")["learned"] == 5


def test_too_many_rejects_leave_a_summary(tmp_path: Path, capsys: Capture) -> None:
    path = lines_of(tmp_path / "e.jsonl", *ratings(60), *["no event"] * 60)
    flags = ["--learner", "prank", "--n-ranks", 5, "--max-reject-ratio", 0.1, "--json"]
    code, out, _ = in_process(capsys, "replay", path, *flags, "--out", tmp_path / "o")
    assert code == 5
    assert json.loads(out)["rejects"] == summary_of(tmp_path / "o")["rejects"] > 0


def test_only_the_last_file_is_followed(tmp_path: Path) -> None:
    one = lines_of(tmp_path / "one.jsonl", *ratings(500))
    other = lines_of(tmp_path / "other.jsonl", *ratings(300))
    out = tmp_path / "o"
    flags = ["--learner", "prank", "--n-ranks", 5, "--follow", "--quiet", "--snapshot-events", 1]
    with subprocess.Popen(
        command("replay", one, other, *flags, "--out", out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if newest(out).startswith(f"{800:015d}"):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert summary_of(out)["learned"] == 800


def test_misspelt_commands_and_their_flags(capsys: Capture) -> None:
    for arguments, near in (
        (["repaly"], "'replay'"),
        (["snapshot", "lsit", "."], "'list'"),
        (["snapshot", "list", ".", "--jsn"], "'--json'"),
    ):
        code, _, error = in_process(capsys, *arguments)
        assert (code, f"did you mean {near}" in error) == (2, True), error


def test_csv_of_any_dialect(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "ratings.csv"
    lines = [f"u{i % 7}|{i % 3}|{i % 5 + 1}|{'-' if i % 2 else i}" for i in range(200)]
    path.write_text("\n".join(lines))
    flags = ["replay", path, "--learner", "prank", "--n-ranks", 5, "--fields", "y=2"]
    told = [*("--delimiter", "|"), *("--header", "false"), *("--na-value", "-")]
    for number, more in enumerate((told, ["--na-value", "-"])):
        code, _, error = in_process(capsys, *flags, *more, "--out", tmp_path / str(number))
        assert code == 0, error
    summaries = [summary_of(tmp_path / name) for name in ("0", "1")]
    assert summaries[0]["learned"] == summaries[1]["learned"] == 200
    assert summaries[0]["features"] == summaries[1]["features"] == 7 + 2
    code, _, error = in_process(capsys, *flags, "--delimiter", ";;", "--out", tmp_path / "2")
    assert code != 0
    assert "one character" in error
