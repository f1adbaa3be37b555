"""What tests need of other people's and no environment of Python's has: fetched once into `build`."""

import fcntl
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["fetched"]

_BUILD = Path(__file__).parent.parent / "build"


def fetched(name: str, command: Sequence[str]) -> Path:
    """The folder `build/NAME`, filled by a command that runs in it; the test is skipped if there is no such command."""
    folder = _BUILD / name
    _BUILD.mkdir(exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several that want it at once, one fetches it
        if not (folder / ".complete").exists():
            if shutil.which(command[0]) is None:
                pytest.skip(f"there is no {command[0]} to fetch {name} by")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"{done.stdout[-500:]}{done.stderr[-500:]}"
            (folder / ".complete").touch()
    return folder
