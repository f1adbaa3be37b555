"""Whatever somebody writes for a setting, it is one, or a sentence in one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from stream_rank.cli.main import main
from stream_rank.config.daemon import DaemonConfig, DeadLettersConfig, ProduceConfig
from stream_rank.config.gather import PREFIX, gather
from stream_rank.config.replay import ReplayConfig
from stream_rank.config.spark import SparkConfig
from stream_rank.errors import ConfigError

MODELS: list[type[BaseModel]] = [
    *(ReplayConfig, DaemonConfig, DeadLettersConfig, ProduceConfig),
    SparkConfig,
]
FILE = "(file)"
ODD: list[str] = [
    *("true", "0", "-1", "1.5", "nan", "inf", "-inf", "1e400", "9223372036854775808", '""', '"x"'),
    *(
        '"\\u0000"',
        '"a\\u0000b"',
        '"\\u001b[2J"',
        "[]",
        "[[]]",
        "[1]",
        '[""]',
        '["a\\u0000"]',
        "{}",
    ),
    *("{a = 1}", "{a = {b = [1]}}", "[{}]", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"),
    f'"{"x" * 5_000}"',
    f'["{"y" * 5_000}", 3]',
]
"""Values of TOML, hardly one of which is right for any setting."""


@pytest.mark.parametrize("model", MODELS)
def test_odd_values_of_every_setting(model: type[BaseModel], tmp_path: Path) -> None:
    needed: dict[str, Any] = {"topics": ["t"], "topic": "t", "inputs": ["f"], "out": "o"}
    known = {field.alias or name for name, field in model.model_fields.items()}
    for name in sorted(known):
        flags = {key: value for key, value in needed.items() if key in known and key != name}
        for value in ODD:
            file = tmp_path / "settings.toml"
            file.write_text(f"{name} = {value}\n")
            wrong = refusal(model, flags, file)
            if wrong is not None:
                assert name in wrong or "`" in wrong, wrong


def refusal(
    model: type[BaseModel],
    flags: dict[str, Any],
    file: Path,
    variables: dict[str, str] | None = None,
) -> str | None:
    """Why settings are refused, in one line; None if they are settings."""
    try:
        found: Any = gather(model, flags, file, variables or {})
    except ConfigError as error:
        said = str(error)
    else:
        json.dumps(found.shown())
        return None
    assert "\n" not in said
    assert len(said) < 2_000, said
    return said


@settings(max_examples=200)
@given(st.sampled_from(MODELS), st.text(max_size=60), st.data())
def test_odd_values_of_variables(model: type[BaseModel], text: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(model.model_fields)))
    shown = model.model_fields[name].alias or name
    variables = {PREFIX + shown.upper(): text}
    needed: dict[str, Any] = {"topics": ["t"], "topic": "t", "inputs": ["f"], "out": "o"}
    flags = {key: value for key, value in needed.items() if key in model.model_fields}
    flags.pop(shown, None)
    refusal(model, flags, None, variables)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["replay", "a\0b", "--out", "{}"], 2),
        (["replay", "x" * 5_000, "--out", "{}"], 3),
        (["replay", FILE, "--out", "{}/" + "x" * 300], 6),
        (["replay", FILE, "--out", "{}/a\0b"], 2),
        (["replay", FILE, "--out", FILE + "/x"], 6),
        (["replay", FILE, "--out", "{}", "--snapshots", "memory://x"], 2),
        (["replay", FILE, "--out", "{}", "--snapshots", "nonsense://x"], 2),
        (["replay", FILE, "--out", "{}", "--learner", "x" * 5_000], 2),
        (["replay", FILE, "--out", "{}", "--config", "a\0b"], 2),
        (["replay", FILE, "--out", "{}", "--config", "x" * 5_000], 2),
        (
            ["replay", FILE, "--out", "{}", "--format", "jsonl", "--learner-memory-limit", "1"],
            2,
        ),
        (["snapshot", "show", "a\0b"], 4),
        (["snapshot", "show", "x" * 5_000], 4),
        (["snapshot", "list", "a\0b"], 4),
        (["predict", "a\0b", FILE], 4),
    ],
)
def test_one_line_and_the_right_code(
    words: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.jsonl").write_text('{"x": {"a": 1}, "y": 1}\n')
    places = {"{}": str(tmp_path / "run"), FILE: str(tmp_path / "e.jsonl")}
    for word, place in places.items():
        words = [each.replace(word, place) for each in words]
    if words[0] == "replay":
        words = [*words, "--n-ranks", "5"]
    assert main(words) == code
    said = capsys.readouterr().err
    *_, last = said.rstrip("\n").split("\n")
    assert last.startswith("stream-rank: ")
    assert len(last) < 1_000
    assert "Traceback" not in said
    assert "cannot be written: cannot" not in said


def test_help_lists_what_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for words in (
        "--on-lost-offsets {fail,earliest,latest}",
        "--start {earliest,latest}",
        "--on-corrupt-snapshot {refuse,older}",
        "--learner-memory-limit",
    ):
        assert words in said
