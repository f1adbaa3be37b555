"""Streams whose labels are not the ranks 1 to N: what is learned is the same, and what is said is in their words."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import in_process, summary_of

Capture = pytest.CaptureFixture[str]
TEXTS = ["bad", "poor", "ok", "good", "great"]
HALVES = [0.5, 1.0, 1.5, 2.0, 2.5]
LEARNER = ("--learner", "scale | oap-bpm", "--quiet")


def rows(labels: list[Any], count: int = 400) -> list[dict[str, Any]]:
    coin = random.Random(1)
    found = []
    for number in range(count):
        price, colour = coin.gauss(50, 20), coin.choice(["red", "blue"])
        rank = min(5, max(1, round(3 + (price - 50) / 20)))
        event = {"price": price, "colour": colour, "stars": labels[rank - 1], "id": number}
        found.append(event if number % 10 else {**event, "stars": None})  # a request
    return found


def written(path: Path, events: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        table = pa.Table.from_pylist(events)
        if pa.types.is_float64(table["stars"].type):
            at = table.schema.get_field_index("stars")
            table = table.set_column(at, "stars", table["stars"].cast(pa.float32()))
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        lines = [",".join(events[0])]
        lines += [",".join("" if v is None else str(v) for v in each.values()) for each in events]
        path.write_text("\n".join(lines) + "\n")
    else:
        path.write_text("".join(json.dumps(each) + "\n" for each in events))
    return path


def state(out: Path) -> Any:
    (learner,) = summary_of(out)["learners"].values()
    return learner["state_sha256"], learner["rank_loss"]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize(
    ("labels", "flag"),
    [(TEXTS, ",".join(TEXTS)), (HALVES, "0.5,1,...,2.5")],
    ids=["texts", "halves"],
)
def test_labels_are_learned_as_their_ranks(
    tmp_path: Path, capsys: Capture, ending: str, labels: list[Any], flag: str
) -> None:
    fields = ("--fields", "y=stars", "id=id")
    plain = written(tmp_path / f"plain.{ending}", rows([1, 2, 3, 4, 5]))
    mine = written(tmp_path / f"mine.{ending}", rows(labels))
    for path, out, which in ((plain, "a", ("--n-ranks", 5)), (mine, "b", ("--labels", flag))):
        code, _, said = in_process(
            capsys, "replay", path, "--out", tmp_path / out, *which, *LEARNER, *fields
        )
        assert code == 0, said
    assert state(tmp_path / "a") == state(tmp_path / "b")
    predicted = [
        [
            json.loads(line)["predictions"]["scale | oap-bpm"]
            for line in (tmp_path / out / "predictions.jsonl").read_text().splitlines()
        ]
        for out in ("a", "b")
    ]
    assert predicted[1] == [
        None if rank is None else labels[rank_of(rank)] for rank in predicted[0]
    ]
    assert len(set(predicted[1])) > 2

    code, out, said = in_process(capsys, "predict", tmp_path / "b", mine, *fields)
    answers = {json.loads(line)["prediction"] for line in out.splitlines()}
    assert code == 0
    assert len(answers) > 2
    assert answers <= {*labels}


def rank_of(predicted: float) -> int:
    return int(predicted) - 1


def test_late_labels_preferences_and_others_fields_go_with_them(
    tmp_path: Path, capsys: Capture
) -> None:
    events: list[dict[str, Any]] = []
    for number, each in enumerate(rows(TEXTS, 60)):
        x = {"price": each["price"]}
        if number % 3 == 0:
            events += [{"x": x, "id": number}, {"id": number, "y": "ok"}]
        elif number % 3 == 1:
            events.append({"preferred": x, "other": {"price": 1}, "magnitude": 2.5})
        else:
            events.append({"x": x, "y": "good"})
    events += [{"x": {"price": 1}, "y": "Good"}, {"x": {"price": 1}, "y": 4}]
    path = written(tmp_path / "e.jsonl", events)
    given = ("--labels", ",".join(TEXTS), "--delay", 10, "--learner", "ordinal-logit", "--quiet")
    code, _, said = in_process(capsys, "replay", path, "--out", tmp_path / "o", *given)
    assert code == 0, said
    summary = summary_of(tmp_path / "o")
    assert (summary["learned"], summary["rejects"]) == (60, 2)
    rejects = [
        json.loads(line)["reason"]
        for line in (tmp_path / "o/rejects.jsonl").read_text().splitlines()
    ]
    assert rejects == [
        "label 'Good' is not one of 'bad', 'poor', ..., 'great'",
        "label 4 is not one of 'bad', 'poor', ..., 'great'",
    ]

    code, _, said = in_process(
        capsys, "replay", path, "--out", tmp_path / "o", "--resume", *given[2:], "--n-ranks", 5
    )
    assert code == 2
    assert "has --labels ['bad'" in said


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        ([1, 2, 3, 4, 5], "from 1 to 5: --n-ranks 5"),
        ([0, 1, 2, 3, 4], "from 0 to 4: --labels 0,1,...,4"),
        (HALVES, "--labels 0.5,1,...,2.5"),
        ([-2, -1, 0, 1, 2], "from -2 to 2: --labels -2,-1,...,2"),
        ([1234567, 1234568, 1234570, 1234571, 1234572], "--labels 1234567,1234568,...,1234572"),
        ([1 / 3, 2 / 3, 1, 4 / 3, 5 / 3], "--labels 0.3333333,0.6666667,1,1.333333,1.666667"),
        ([1, 10, 11, 20, 30.5], "--labels 1,10,11,20,30.5"),
        (TEXTS, "as in --labels bad,ok,good"),
    ],
)
def test_who_does_not_say_which_labels_there_are_is_told(
    tmp_path: Path, capsys: Capture, labels: list[Any], advice: str
) -> None:
    path = written(tmp_path / "e.csv", rows(labels))
    fields = ("--fields", "y=stars")
    code, _, said = in_process(capsys, "replay", path, "--out", tmp_path / "o", *fields)
    assert code == 2
    assert advice in said
    if "bad" not in advice:  # what is advised can be typed as it stands
        flag, value = advice.split()[-2:]
        more = (*fields, flag, value, "--learner", "prank", "--quiet")
        code, _, said = in_process(capsys, "replay", path, "--out", tmp_path / "o", *more)
        assert code == 0, said


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_who_says_the_wrong_ones_is_told(tmp_path: Path, capsys: Capture, ending: str) -> None:
    path = written(tmp_path / f"e.{ending}", rows(TEXTS))
    code, _, said = in_process(
        *(capsys, "replay", path, "--out", tmp_path / "o", "--fields", "y=stars"),
        *("--n-ranks", 5, "--quiet"),
    )
    assert code == 5
    assert "--labels says which labels there are" in said


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_predict_asks_nothing_of_what_is_no_label_wherever_it_stands(
    tmp_path: Path, capsys: Capture, ending: str
) -> None:
    fields = ("--fields", "y=stars")
    known = written(tmp_path / f"known.{ending}", rows(HALVES))
    replay = ("replay", known, "--out", tmp_path / "o", "--labels", "0.5,1,...,2.5", *LEARNER)
    assert in_process(capsys, *replay, *fields)[0] == 0
    events = rows([9.5, 1.0, 1.5, 2.0, 2.5])
    odd = sum(each["stars"] == 9.5 for each in events)
    path = written(tmp_path / f"odd.{ending}", events)
    code, out, said = in_process(capsys, "predict", tmp_path / "o", path, *fields)
    assert code == 0
    assert sum("error" in json.loads(line) for line in out.splitlines()) == odd > 10
    assert f"{odd} records could not be predicted" in said

    code, _, said = in_process(
        capsys, "predict", tmp_path / "o", path, "--labels", "bad,good", *fields
    )
    assert code == 2
    assert "there are 2, and the learner learned 5 ranks" in said


def test_ranks_of_other_labels_are_neither_merged_nor_begun_with(
    tmp_path: Path, capsys: Capture
) -> None:
    path = written(tmp_path / "e.csv", rows(["a", "b", "c", "d", "e"], 40))
    given = (
        *("replay", path, "--fields", "y=stars", "--quiet", "--learner", "raw | prank"),
        *("--preparation", "raw", "--category", "colour", "--out"),
    )
    assert in_process(capsys, *given, tmp_path / "up", "--labels", "a,b,c,d,e")[0] == 0
    down = "--labels", "e,d,c,b,a"
    code, _, said = in_process(
        capsys, *given, tmp_path / "x", *down, "--begin-with", tmp_path / "up"
    )
    assert code == 2
    assert "learned the --labels ['a', 'b'" in said
    assert in_process(capsys, *given, tmp_path / "down", *down)[0] == 0
    folders = tmp_path / "up", tmp_path / "down"
    code, _, said = in_process(capsys, "snapshot", "merge", *folders, "--out", tmp_path / "m")
    assert code != 0
    assert "not of the same labels" in said
    assert not (tmp_path / "m").exists()


def test_numbers_in_a_column_of_text_are_numbers(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path / "e.parquet", rows([str(each) for each in HALVES], 40))
    given = ("--fields", "y=stars", "--labels", "0.5,1,...,2.5", *LEARNER)
    code, _, said = in_process(capsys, "replay", path, "--out", tmp_path / "o", *given)
    assert code == 0, said
    assert summary_of(tmp_path / "o")["learned"] == 36
