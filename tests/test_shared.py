"""That what tests share is there once, and ends with the run, however that ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

_KEEPER = """
import os, sys
from pathlib import Path
from tests.shared import kept, tell

folder = Path(sys.argv[1])
if os.environ.get("BROKEN"):
    raise ValueError("it is broken")
with kept(folder) as stack:
    stack.callback((Path(__file__).parent / "stopped").touch)
    tell(folder, **({"error": "it is missing"} if os.environ.get("MISSING") else {"pid": os.getpid()}))
"""
_TESTS = """
import os, time
from pathlib import Path
import pytest
from tests.shared import shared

@pytest.mark.parametrize("number", range(4))
def test_it(number):
    here = Path(__file__).parent
    pid = shared("one", "keeper")["pid"]
    os.kill(pid, 0)
    with (here / "pids").open("a") as file:
        file.write(f"{os.getpid()} {pid}\\n")
    while os.environ.get("FOR_EVER"):
        time.sleep(0.1)
"""


@pytest.fixture
def begun(tmp_path: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Run tests that share something, with some variables."""
    (tmp_path / "keeper.py").write_text(_KEEPER)
    (tmp_path / "test_it.py").write_text(_TESTS)
    ini = tmp_path / "pytest.ini"
    ini.write_text("[pytest]\n")
    flags = ["-c", str(ini), "-p", "tests.shared", "-p", "no:cacheprovider", str(tmp_path)]

    def run(*more: str, **variables: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *flags, *more],
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": f"{REPOSITORY}:{tmp_path}",
                "TMPDIR": str(tmp_path),
                **variables,
            },
        )

    return run


def _said(tmp_path: Path) -> list[list[str]]:
    """The processes of the tests, and of the keeper."""
    file = tmp_path / "pids"
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def test_workers_share_one(begun: Callable[..., "subprocess.Popen[str]"], tmp_path: Path) -> None:
    with begun("-n", "2") as process:
        assert "4 passed" in process.communicate(timeout=60)[0]
    workers, keepers = zip(*_said(tmp_path), strict=True)
    assert len(set(workers)) == 2
    assert len(set(keepers)) == 1
    assert (tmp_path / "stopped").exists(), "before the run was over"
    assert not list(tmp_path.glob("stream-rank-tests-*"))


@pytest.mark.parametrize("workers", ["0", "2"])
def test_it_ends_where_the_run_is_killed(
    workers: str, begun: Callable[..., "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    with begun("-n", workers, FOR_EVER="1") as process:
        until = time.monotonic() + 60
        while not _said(tmp_path) and time.monotonic() < until:
            time.sleep(0.02)
        assert not (tmp_path / "stopped").exists()
        process.send_signal(signal.SIGKILL)
    until = time.monotonic() + 20
    while not (tmp_path / "stopped").exists():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("variable", "said"), [("BROKEN", "it is broken"), ("MISSING", "it is missing")]
)
def test_why_there_is_none_is_said(
    variable: str, said: str, begun: Callable[..., "subprocess.Popen[str]"]
) -> None:
    with begun(**{variable: "1"}) as process:
        assert said in process.communicate(timeout=60)[0]
