"""The command line, run as people run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.conftest import mixed


class Ran:
    """What a command said, and how it ended."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.code, self.out, self.error = done.returncode, done.stdout, done.stderr


def command(*arguments: Any) -> list[str]:
    return [sys.executable, "-m", "stream_rank", *map(str, arguments)]


def run(*arguments: Any, variables: dict[str, str] | None = None, **more: Any) -> Ran:
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, env=environment, timeout=120, **more
    )
    return Ran(done)


def in_process(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    """The same without a new process, for what needs none: code, output, errors."""
    from stream_rank.cli.main import main

    try:
        code = main([str(each) for each in arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture(scope="session")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stream") / "events.jsonl"
    path.write_bytes(b"\n".join(mixed(2_000)) + b"\n")
    return path


def summary_of(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return found
