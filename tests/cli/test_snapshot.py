"""`stream-rank snapshot` and `stream-rank predict`."""

import json
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

import stream_rank
from tests.cli.conftest import in_process
from tests.learners.conftest import LEARNERS


def by_hand(rule: dict[str, Any], x: dict[str, float]) -> Any:
    """What somebody in another language would write."""
    if "weights" in rule:
        products = [
            rule["weights"][name] * value for name, value in x.items() if name in rule["weights"]
        ]
        score = rule["bias"] + sum(products)
    else:
        score = rule["bias"]
        ((kernel, parameters),) = rule["kernel"].items()
        for vector in rule["support"]:
            names = vector["x"].keys() | x.keys()
            pairs = [(vector["x"].get(name, 0.0), x.get(name, 0.0)) for name in names]
            if kernel == "Gaussian":
                square = sum((a - b) ** 2 for a, b in pairs)
                value = math.exp(-square / (2 * parameters["width"] ** 2))
            else:
                product = sum(a * b for a, b in pairs)
                value = (product + parameters["offset"]) ** parameters["degree"]
            score += vector["coefficient"] * value
    if not rule["labels"]:
        return score
    return rule["labels"][sum(edge <= score for edge in rule["thresholds"])]


@pytest.mark.parametrize("name", LEARNERS)
def test_exported_rules_score_as_the_learner_does(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(1)
    model = LEARNERS[name](n_ranks=5)
    for _ in range(200):
        x = {key: generator.randint(-16, 16) / 8 for key in ("a", "b", "c")}
        model.learn_one(x, min(max(round(x["a"] + x["b"] / 2 + 3), 1), 5))
    stream_rank.save(model, tmp_path / "model")
    code, out, _ = in_process(capsys, "snapshot", "export", tmp_path / "model")
    rule = json.loads(out)
    assert code == 0
    in_process(capsys, "snapshot", "export", tmp_path / "model", "--npz", tmp_path / "rule.npz")
    arrays = np.load(tmp_path / "rule.npz")
    ends, content = arrays["name_ends"].tolist(), arrays["names"].tobytes()
    names = [content[a:b].decode() for a, b in pairwise([0, *ends])]
    assert dict(zip(names, arrays["weights"].tolist(), strict=True)) == rule.get("weights", {})
    exact = 0
    for _ in range(100):
        x = {key: generator.gauss(0, 1) for key in ("a", "b", "c", "unknown")}
        expected, found = model.predict_one(x), by_hand(rule, x)
        if rule["labels"]:
            exact += expected == found
        else:
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
            exact += 1
    if name == "NearestRanks":
        assert set(rule["weights"].values()) == {0.0}  # it has no rule, and says so
        assert not rule["exact"]
        return
    assert exact == 100 if rule["exact"] else exact > 60
    assert rule["exact"] == (name.split("-")[0] not in ("OAPBagg", "OAPVP", "VotedPRank"))


@pytest.fixture
def run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    out = tmp_path / "out"
    flags = ["--learner", "prank", "--learner", "online-mprank:budget=20", "--quiet"]
    code, _, error = in_process(
        capsys, "replay", "synthetic:20000", *flags, "--n-ranks", 5, "--out", out,
        "--snapshot-events", 5_000,
    )  # fmt: skip
    assert code == 0, error
    return out


def test_looking_at_snapshots(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = in_process(capsys, "snapshot", "list", run_folder, "--json")
    listed = json.loads(out)
    assert code == 0
    assert [each["latest"] for each in listed] == [False] * (len(listed) - 1) + [True]
    names = [str(run_folder / "snapshots" / each["name"]) for each in listed]
    code, out, _ = in_process(capsys, "snapshot", "list", run_folder / "snapshots")
    assert out.count("records") == len(listed) >= 3
    code, out, _ = in_process(capsys, "snapshot", "show", run_folder)
    shown = json.loads(out)
    assert shown["counts"]["learned"] == 20_000
    assert shown["learners"]["prank"]["events"] == 20_000
    code, out, _ = in_process(capsys, "snapshot", "verify", *names)
    assert (code, out.count("sound")) == (0, len(names))
    code, out, _ = in_process(capsys, "snapshot", "diff", names[0], names[1])
    assert code == 1
    assert "learners.prank.rule.weights.x0:" in out
    code, out, _ = in_process(capsys, "snapshot", "diff", names[0], names[0])
    assert (code, out.strip()) == (0, "no difference")
    Path(names[0]).write_bytes(b"?")
    code, out, error = in_process(capsys, "snapshot", "verify", names[1], names[0])
    assert (code, names[0] in error) == (4, True)
    code, _, error = in_process(capsys, "snapshot", "export", run_folder)
    assert (code, "which of them? --learner" in error) == (2, True)
    code, _, error = in_process(capsys, "predict", run_folder, names[1], "--learner", "prnk")
    assert (code, "did you mean 'prank'?" in error) == (2, True)
    code, _, error = in_process(capsys, "snapshot", "list", run_folder / "snapshots" / "latest")
    assert code == 4


def test_predicting(run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tmp_path / "events.jsonl"
    x = {f"x{i}": 0.5 for i in range(6)}
    lines = [{"x": x, "id": "u"}, {"x": x, "y": 77, "id": "v"}, {"x": {}}, {"x": {"new": 1.0}}]
    events.write_text("\n".join(map(json.dumps, lines)) + "\n")
    model = stream_rank.load(run_folder, learner="prank")
    code, out, error = in_process(capsys, "predict", run_folder, events, "--learner", "prank")
    assert "1 records could not be predicted" in error
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert found[0] == {"prediction": model.predict_one(x), "id": "u"}
    assert found[1] == {"prediction": model.predict_one(x), "id": "v"}
    assert "at least 1 item" in found[2]["error"]
    assert found[3] == {"prediction": model.predict_one({"new": 1.0})}
    assert "new" not in model._vocabulary.names


def test_predicting_preferences(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    one, other = {"x0": 0.5, "x1": 1.0}, {"x0": -0.5, "new": 3.0}
    lines = [{"preferred": one, "other": other, "id": 7}, {"ranking": [one, other]}]
    events.write_text("\n".join(map(json.dumps, lines)) + "\n")
    code, out, _ = in_process(capsys, "predict", run_folder, events, "--learner", "prank")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    said = stream_rank.load(run_folder, learner="prank").prefer_proba_one(one, other)
    assert found[0] == {"proba": {"preferred": said[1], "other": said[-1]}, "id": 7}
    assert found[1] == {"error": "only events with x, or preferred and other, can be predicted"}


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = in_process(capsys, "--help")
    assert code == 0
    for words in ("  2  a flag", "  3  an input", "  4  a snapshot", "  5  too many", "143"):
        assert words in out
    for command in ("replay", "predict", "snapshot", "schema"):
        assert in_process(capsys, command, "--help")[0] == 0
    code, out, _ = in_process(capsys, "schema")
    assert json.loads(out)["title"] == "an event of stream-rank"


def test_a_run_of_an_earlier_format_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it is read: not by a resumed run, not by `snapshot`, not by `predict`; and nothing of it is written over."""
    folder = tmp_path / "run" / "snapshots"
    folder.mkdir(parents=True)
    said = json.dumps({"position": {"source": 0, "name": "synthetic:100", "at": {"rows": 50}}})
    metadata = {"kind": "stream-rank snapshot", "format": "1", "sha256": "0" * 64, "said": said}
    old = folder / "000000000000050-20261118T000000Z.safetensors"
    old.write_bytes(save_tensors({}, metadata=metadata))
    before = old.read_bytes()
    replay = ["replay", "synthetic:100", "--n-ranks", "5", "--out", tmp_path / "run", "--quiet"]
    for command, expected in (
        ([*replay, "--resume"], 4),
        (replay, 2),
        (["snapshot", "show", old], 4),
        (["predict", tmp_path / "run", "-"], 4),
    ):
        code, _, error = in_process(capsys, *command)
        assert code == expected, error
        if expected == 4:
            assert "it is of format '1' and this stream-rank reads 6" in error
            assert "learn the stream again into another folder" in error
        else:
            assert "holds a run" in error
    assert old.read_bytes() == before
