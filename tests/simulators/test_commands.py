"""The command line, as a person meets it."""

import json
import os
from importlib import import_module
from pathlib import Path

import pytest

from simulators.__main__ import COMMANDS, main
from stream_rank import load


def test_demo_shows_every_learner_and_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STREAM_RANK_PREPARATION")  # as a person has it
    for folder in ("run", "run-2"):  # again, beside the first
        assert main(["demo", "--events", "5000", "--out", str(tmp_path)]) == 0
        shown = capsys.readouterr().out
        for name in ("hedge", "oap-bpm", "averaged-prank"):
            line = next(line for line in shown.splitlines() if line.startswith(name))
            assert 0.1 < float(line.split()[-1]) < 0.8  # the skill
        assert "\x1b" not in shown  # no colour, no cursor moves into a pipe
        assert (tmp_path / folder / "report.html").exists()
        summary = json.loads((tmp_path / folder / "summary.json").read_text())
        assert (summary["rejects"], summary["learned"]) == (0, 5000)
        model = load(tmp_path / folder, learner="hedge")
        assert {"brand=Eibe", "price", "warranty=yes"} <= set(model.features)
        assert "seller" not in model.features  # a number that is a name
        assert model.predict_one({"brand": "Eibe", "price": 900.0}) in range(1, 6)


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_learning_curves_are_a_picture(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "new" / f"curves.{kind}"
    assert main(["learning-curves", "--trials", "2", "--events", "500", "--out", str(out)]) == 0
    first = out.read_bytes()
    assert len(first) > 10_000
    main(["learning-curves", "--trials", "2", "--events", "500", "--out", str(out)])
    assert out.read_bytes() == first


def test_every_command_of_the_table_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    cores = os.sched_getaffinity(0)
    for name, command in COMMANDS.items():
        with pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert stop.value.code == 0, name
        assert f"python -m simulators {name}" in capsys.readouterr().out
        module = import_module(f"simulators.{command.module}")
        assert {"add", "run"} <= set(module.__all__)
    assert os.sched_getaffinity(0) == cores  # those that measure times took one while they ran


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["dem"], "invalid choice: 'dem'"),
        (["demo", "--events", "many"], "a whole number of at least 1 is needed, not 'many'"),
        (["oap-table-1", "--trials", "0"], "a whole number of at least 1 is needed, not '0'"),
        (["learning-curves"], "--out"),
        (
            ["learning-curves", "--out", "x.foo"],
            "ending in .svg, .png or .pdf is needed, not 'x.foo'",
        ),
        (["jester"], "--data"),
        (["football"], "--data"),
        (["mprank-figure-1", "--passes", "0", "--out", "x.svg"], "of at least 1 is needed"),
        (["load", "--preferences", "2"], "a number from 0 to 1 is needed, not '2'"),
        (["demo", "--seed", "-1"], "a whole number of at least 1 is needed, not '-1'"),
    ],
)
def test_typing_errors_are_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
