"""What `make soak` does on other machines is put together rightly; what it shows, it shows there."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machines import aarch64, cpython, debian
from tests.recorded.table import NAMES


def test_apt_keeps_to_a_folder_of_its_own(tmp_path: Path) -> None:
    if not shutil.which("apt-config"):
        pytest.skip("apt is not here")
    asked = ["apt-config", *debian.settings(tmp_path, "arm64"), "shell"]
    names = {"lists": "Dir::State::lists/d", "status": "Dir::State::status/f"}
    names |= {"archives": "Dir::Cache::archives/d", "kind": "APT::Architecture"}
    for name, key in names.items():
        said = subprocess.check_output([*asked, name, key], text=True).strip().partition("=")[2]
        expected = "arm64" if name == "kind" else str(tmp_path / name)
        assert said.strip("'").rstrip("/") == expected


def test_wheels_are_those_that_are_pinned(tmp_path: Path) -> None:
    given = aarch64.wheels(tmp_path)
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= set(given)
    platforms = [each for each in given if each.startswith("--platform")]
    assert platforms
    assert all(each.endswith("_aarch64") for each in platforms)
    pins = re.compile(r"^[\w.-]+==[\w.]+", re.MULTILINE)
    of_tests = set(pins.findall(cpython.LOCK.read_text()))
    assert set(pins.findall(aarch64.LOCK.read_text())) <= of_tests


def test_all_that_needs_no_tables_is_compared() -> None:
    assert set(NAMES) - set(aarch64.PARTS) == {"stream rows", "stream cells"}
    command = aarch64.program("-m", "tests.recorded.table")
    assert [Path(each).name for each in command[:4]] == [
        *("qemu-aarch64-static", "-L", "root", "python3.11"),
    ]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """This machine in the place of the other."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(aarch64, "prepare", lambda: None)
    monkeypatch.setattr(aarch64, "environment", lambda: dict(os.environ))
    monkeypatch.setattr(aarch64, "program", lambda *arguments: [sys.executable, *arguments])
    monkeypatch.setattr(aarch64, "_WHO", "print('aarch64 is played')")
    return monkeypatch


def test_a_part_is_compared(played: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert aarch64.compare(["python letters"]) == 0
    said = capsys.readouterr().out
    assert "1 of 1, python letters: no difference" in said
    assert "1 of 1 parts are as recorded" in said


def test_what_fails_is_told(played: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert aarch64.compare(["no such part"]) == 1
    assert "0 of 1 parts are as recorded" in capsys.readouterr().out
    played.setattr(aarch64, "_WHO", "print('x86_64')")
    assert aarch64.compare(["python letters"]) == 1
    assert capsys.readouterr().out == "x86_64\n"


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_the_newest_cpython_that_runs_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert cpython.newest() is None
    kept = tmp_path / "pyenv/versions/3.27.1/bin/python3.27"
    _program(kept, "echo 27 final cpython")
    _program(tmp_path / "bin/python3.27", "exit 127")
    _program(tmp_path / "bin/python3.28", "echo 28 final pypy")
    _program(tmp_path / "bin/python3.29", "echo 29 candidate cpython")
    assert cpython.newest() == str(kept)


def test_debians_versions_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cpython.offered() == []
    _program(
        tmp_path / "apt-cache", "echo 'python3.11 - Interactive'; echo 'python3.13 - Interactive'"
    )
    assert cpython.offered() == ["3.11", "3.13"]
