"""Committees in a run: their members are learners of the run, prepared and taught once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_rank import Hedge, OrdinalLogit, PRank, Scale, load
from stream_rank.cli.main import main
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.contestants.spec_parts import members_of
from stream_rank.errors import ConfigError
from stream_rank.features.rows_of import rows_of_dicts

SPEC = "scale | hedge(ordinal-logit, prank)"


def events(count: int) -> list[tuple[dict[str, float], int]]:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(count, 3)).round(3)
    labels = np.clip(np.round(2 + X @ [1.0, -0.5, 0.2]), 1, 3).astype(int)
    return [
        ({f"f{j}": v for j, v in enumerate(x)}, y)
        for x, y in zip(X.tolist(), labels.tolist(), strict=True)
    ]


def test_a_run_is_the_estimator_and_members_learn_once() -> None:
    preparations, stream = Preparations(), events(200)
    specs = ["scale | prank", SPEC]
    prank, committee, logit = contestants_of(specs, 3, 1, "auto", preparations)
    names = ["scale | prank", SPEC, "scale | ordinal-logit"]
    assert [each.name for each in (prank, committee, logit)] == names
    assert list(preparations.stages) == [("scale",)]
    model = Hedge([Scale() | OrdinalLogit(3), Scale() | PRank(3)])
    expected = []
    for x, y in stream:
        expected.append(model.predict_one(x))
        model.learn_one(x, y)
    for part in (stream[:50], stream[50:]):
        rows = rows_of_dicts([x for x, _ in part], 1e9)
        labels = np.array([float(y) for _, y in part])
        of_prank = prank.test_then_train(rows, labels, None)
        found = committee.test_then_train(rows, labels, None)
        assert prank.test_then_train(rows, labels, None).tolist() == of_prank.tolist()
        logit.test_then_train(rows, labels, None)
        assert found.tolist() == expected[: len(part)]
        del expected[: len(part)]
    shown: Any = committee.insight().weights
    assert list(shown.values()) == model.weights
    assert logit.model.n_events == prank.model.n_events == 200
    some = rows_of_dicts([x for x, _ in stream[:20]], 1e9)
    unknown = {3: {**stream[3][0], "new": 2.0}}
    wanted = [model.predict_one(unknown.get(i, stream[i][0])) for i in range(20)]
    assert committee.predict(some, unknown).tolist() == wanted


def test_a_committee_is_resumed_and_read_from_its_run(tmp_path: Path) -> None:
    lines = [json.dumps({"x": x, "y": y}) for x, y in events(300)]
    file = tmp_path / "events.jsonl"

    def replay(out: str, count: int, *more: str) -> dict[str, Any]:
        file.write_text("".join(f"{line}\n" for line in lines[:count]))
        given = ["replay", str(file), "--n-ranks", "3", "--out", str(tmp_path / out), "--quiet"]
        assert main([*given, "--learner", SPEC, *more]) == 0
        found: dict[str, Any] = json.loads((tmp_path / out / "summary.json").read_text())
        return found["learners"]  # type: ignore[no-any-return]

    whole = replay("whole", 300)
    replay("parts", 120)
    parts = replay("parts", 300, "--resume")
    assert list(whole) == [SPEC, "scale | ordinal-logit", "scale | prank"]
    told = ("state_sha256", "rank_loss", "confusion")
    assert [parts[name].get(key) for name in parts for key in told] == [
        whole[name].get(key) for name in whole for key in told
    ]
    assert any(key in whole[SPEC] for key in told)
    one, other = load(tmp_path / "whole"), load(tmp_path / "parts")
    assert isinstance(one, Hedge)
    assert one.weights == other.weights
    assert one.predict_proba_one(events(1)[0][0]) == other.predict_proba_one(events(1)[0][0])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("hedge(prank)", "two members"),
        ("hedge(prank, prank)", "none of them twice"),
        ("hedge(prank, hedge(prank, voted-prank))", "can be a committee"),
        ("hedge(prank, recursive-mprank)", "learners of ranks"),
        ("hedge(prank, river.dummy.NoChangeClassifier)", "learners of ranks"),
        ("hedge(prank, scael | prank:dtype=float32)", "no parameter|not of the form|scael"),
    ],
)
def test_committees_that_cannot_be(spec: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        contestants_of([spec], 5, 1)


def test_commas_part_members_only_where_one_begins() -> None:
    spec = "hedge( cross:scale*b,waves*c | prank, waves:seed=1,width=2|prank:budget=9,dtype=float32,raw | prank )"
    assert members_of(spec) == [
        "cross:scale*b,waves*c | prank",
        "waves:seed=1,width=2 | prank:budget=9,dtype=float32",
        "raw | prank",
    ]
    assert members_of("scale | prank") is None
