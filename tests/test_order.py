"""That long tests begin first, by themselves, and all others in the order of files."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import REPOSITORY

_SHORT = """
def test_1(): pass
def test_2(): pass
def test_3(): pass
"""
_FILE = """
import pytest
pytestmark = pytest.mark.long(5)

def test_1(): pass

@pytest.mark.long(50)
@pytest.mark.parametrize("mail", ["a@b"])
def test_longest(mail): pass

def test_2(): pass
"""


def _said(folder: Path, *flags: str) -> str:
    """What is said of a run of both files."""
    (folder / "test_a.py").write_text(_SHORT)
    (folder / "test_b.py").write_text(_FILE)
    ini = folder / "pytest.ini"
    ini.write_text("[pytest]\nmarkers = long\n")
    plugins = ["-p", "tests.order", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-c", ini, *plugins, *flags, folder],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=120,
    )
    left = sum("quick" in flag for flag in flags)
    assert f"{6 - left} passed" in done.stdout, done.stdout + done.stderr
    return done.stdout


def _order(folder: Path, *flags: str) -> list[str]:
    """The tests of one worker, in the order in which they ran."""
    lines = [line for line in _said(folder, *flags).splitlines() if "PASSED" in line]
    return [found[1] for line in lines if (found := re.search(r"(\w+\.py::\w+)", line))]


def test_with_workers_the_longest_come_first(tmp_path: Path) -> None:
    found = _order(tmp_path, "-n", "1", "--dist", "loadgroup")
    assert [each.removeprefix("test_") for each in found] == [
        "b.py::test_longest",
        "b.py::test_1",
        "b.py::test_2",
        "a.py::test_1",
        "a.py::test_2",
        "a.py::test_3",
    ]


def test_without_workers_files_have_their_order(tmp_path: Path) -> None:
    found = _order(tmp_path)
    assert found[0] == "test_a.py::test_1"
    assert found[-2:] == ["test_b.py::test_longest", "test_b.py::test_2"]


def test_the_quick_are_without_the_longest(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_addoption\n")
    found = _order(tmp_path, "--quick")
    assert len(found) == 5
    assert "test_b.py::test_longest" not in found


def test_a_file_stays_on_one_worker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os, pytest\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call' and hasattr(report, 'node'):\n"
        "        print('ON', report.node.gateway.id, report.nodeid)\n"
    )
    found = re.findall(
        r"ON (\w+) .*(test_\w\.py::\w+)", _said(tmp_path, "-n", "2", "--dist", "loadgroup", "-s")
    )
    for file in ("test_a", "test_b"):
        assert (
            len({worker for worker, test in found if file in test and "longest" not in test}) == 1
        )
    assert len(found) == 6
