"""What all processes of a test run share: one that is started by whoever needs it first, and ends with the run.

The process that was called as pytest, above all workers, holds a lock for as long as it lives, and every keeper of something
shared waits for that lock: it gets it when the run is over, also when the run was killed, and then stops what it keeps.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

__all__ = ["SharedError", "kept", "shared", "tell"]

_FOLDER = "SHARED_BY_TESTS"
"""The variable by which workers know the folder of their run. Daemons refuse those of their own name that they do not know."""
_PATIENCE = 180.0
"""Seconds for something to start on a busy machine."""
_FAREWELL = 20.0
"""Seconds that the end of a run waits for its keepers."""
_HELD: list[IO[str]] = []


class SharedError(Exception):
    """What is shared could not be started; its words say why."""


# The run ------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Hold the lock, in the process above all workers."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="stream-rank-tests-")
        os.environ[_FOLDER] = folder
        held = Path(folder, "run").open("w")  # noqa: SIM115 - for as long as we live
        fcntl.flock(held, fcntl.LOCK_EX)
        _HELD.append(held)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let the keepers have it, and wait until they are gone."""
    if hasattr(config, "workerinput") or not _HELD:
        return
    folder = Path(os.environ.pop(_FOLDER))
    _HELD.pop().close()
    until = time.monotonic() + _FAREWELL
    while any(folder.glob("*/keeper")) and time.monotonic() < until:
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


# Whoever needs it ---------------------------------------------------------------------------


def shared(name: str, module: str) -> dict[str, Any]:
    """What a keeper tells of what it keeps: `python -m module folder` is one, and is started unless it is there."""
    folder = Path(os.environ[_FOLDER], name)
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever is second finds what the first has started
        if not (told := folder / "told").exists():
            with (folder / "log").open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", module, folder],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # it outlives us: others need it
                )
            # it is reaped when it ends, which it does while we live only if something is wrong
            threading.Thread(target=process.wait, daemon=True).start()
            until = time.monotonic() + _PATIENCE
            while not told.exists():
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{module}: {(folder / 'log').read_text()[-2000:]}")
                time.sleep(0.05)
    found: dict[str, Any] = json.loads(told.read_text())
    if "error" in found:
        raise SharedError(found["error"])
    return found


# Keepers ------------------------------------------------------------------------------------


@contextmanager
def kept(folder: Path) -> Iterator[ExitStack]:
    """For a keeper: a stack to put on what it keeps, and to `tell` of; it is left when the run is over."""
    here = folder / "keeper"
    here.touch()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ExitStack() as stack:
            yield stack
            with (folder.parent / "run").open() as run:
                fcntl.flock(run, fcntl.LOCK_SH)  # all keepers get it at once
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not any(
            each.is_dir() for each in folder.parent.glob("*")
        ):  # who began all this may have been killed
            shutil.rmtree(folder.parent, ignore_errors=True)


def tell(folder: Path, **what: Any) -> None:
    """Say what is kept, or the `error` why nothing is."""
    (folder / "telling").write_text(json.dumps(what))
    (folder / "telling").rename(folder / "told")
