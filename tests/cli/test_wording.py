"""Settings in messages, as flags for whoever types flags."""

import ast
import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from stream_rank.cli import show
from stream_rank.cli.main import Parser, main
from stream_rank.cli.standings import table_of
from stream_rank.cli.wording import with_flags
from stream_rank.evaluation.standing import Standing
from stream_rank.monitoring.logs import JsonFormatter, TextFormatter

NAMES = {"max_features": "--max-features", "learners": "--learner", "inputs": "FILE"}


def test_names_of_settings_become_flags() -> None:
    assert with_flags("see `max_features`, `learners`", NAMES) == "see --max-features, --learner"
    assert with_flags("`inputs` is needed", NAMES) == "FILE is needed"


def test_all_else_stays() -> None:
    for text in (
        "max_features",
        "`no_setting`",
        "`dead-letters list --json`",
        "``",
        "`max_features",
    ):
        assert with_flags(text, NAMES) == text
    assert with_flags("`max_features`", {}) == "`max_features`"


def test_flags_are_those_of_the_command_that_was_chosen() -> None:
    parser = Parser()
    commands = parser.add_subparsers(dest="command")
    one, two = commands.add_parser("one"), commands.add_parser("two")
    one.add_argument("--learner", dest="learners")
    one.add_argument("inputs", metavar="FILE", nargs="*")
    two.add_argument("--other")
    found = parser.flags_of_settings(parser.parse_args(["one"]))
    assert found["learners"] == "--learner"
    assert found["inputs"] == "FILE"
    assert "other" not in found


EVIL = "\x1b[2J\x1b]0;title\x07\r\nall is well \x9b31m\u202e\u2028\x00\x7f"


def harmless(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


def test_no_field_of_a_log_line_moves_a_cursor() -> None:
    try:
        raise ValueError(EVIL)
    except ValueError:
        trace = sys.exc_info()
    for formatter in (TextFormatter(), JsonFormatter()):
        record = logging.makeLogRecord({"msg": EVIL, "topics": EVIL, "losses": {EVIL: [EVIL]}})
        assert harmless(formatter.format(record))
        assert len(formatter.format(record).splitlines()) == 1
        record.exc_info = trace
        assert harmless(formatter.format(record))


def test_no_name_or_reason_moves_a_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [{"x": {EVIL: number % 7}, "y": number % 3 + 1} for number in range(30)]
    bad = [{"x": {EVIL: {"a": [1]}}, "y": 1}] * 5
    file = tmp_path / "events.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in [*good, *bad]))
    assert main(["replay", str(file), "--n-ranks", "3", "--out", str(tmp_path / "run")]) == 0
    assert main(["replay", str(tmp_path / EVIL.replace("\0", "")), "--out", "x"]) == 3
    assert main(["snapshot", "diff", str(tmp_path / "run"), str(tmp_path / "run")]) == 0
    with pytest.raises(SystemExit):
        main(["replay", str(file), "--no" + EVIL.replace(" ", "")])
    said = capsys.readouterr()
    assert "rejected most often" in said.out
    assert harmless(said.out)
    assert harmless(said.err)


def test_nor_does_a_learner_of_that_name() -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=False).print(
        table_of([(EVIL, Standing("rank", 1, 0.5, 0.5, "median", 0.4, 0.4))])
    )
    assert harmless(out.getvalue())


def test_whatever_is_printed_goes_through_the_filter() -> None:
    """JSON of ASCII is harmless by itself, and so are words of our own."""
    for file in Path(show.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                said = ast.unparse(node.args[0])
                own = isinstance(node.args[0], ast.Constant)
                known = said.startswith(("printable(", "json.dumps("))
                numbers = file.stem in ("show", "produce", "predict", "dead_letters", "status")
                assert own or known or (numbers and ":," in said) or "done + text" in said, (
                    f"{file.name}: {said}"
                )


def test_without_a_compiler_there_is_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stream_rank", "replay", "x.jsonl", "--out", str(tmp_path)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "NUMBA_DISABLE_JIT" in found.stderr
