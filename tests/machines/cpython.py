"""The quick tests under a newer CPython than this one, if the machine has one.

Debian's releases have one CPython each. Any that stands on the PATH, or among pyenv's, is taken; none is fetched.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["QUICK", "newest", "offered", "prepare", "run"]

REPOSITORY = Path(__file__).parents[2]
LOCK = REPOSITORY / "requirements.lock"
QUICK = ["tests/learners", "tests/metrics", "tests/pipeline", "tests/codec"]
_BEYOND = 30
"""No minor version as high as this is looked for."""
_ASK = "import sys; print(sys.version_info.minor, sys.version_info.releaselevel, sys.implementation.name)"


def _runs(python: str, minor: int) -> bool:
    """Whether it starts, and is a finished CPython of that version: pyenv's stand-ins often are nothing."""
    try:
        done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True)
    except OSError:
        return False
    return done.stdout.split() == [str(minor), "final", "cpython"]


def _places(minor: int) -> Iterable[str]:
    """Where CPython 3.`minor` may be."""
    if found := shutil.which(f"python3.{minor}"):
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python3.{minor}")))


def newest() -> str | None:
    """The newest CPython of the machine that is newer than the one that runs this."""
    for minor in range(_BEYOND, sys.version_info.minor, -1):
        for place in _places(minor):
            if _runs(place, minor):
                return place
    return None


def offered() -> list[str]:
    """The versions of CPython that the machine's Debian has, installed or not."""
    if not shutil.which("apt-cache"):
        return []
    search = ["apt-cache", "search", "--names-only", r"^python3\.[0-9]+$"]
    found = subprocess.run(search, capture_output=True, text=True, check=True).stdout
    return sorted(re.findall(r"^python(3\.\d+)\b", found, re.MULTILINE))


def prepare(python: str, home: Path) -> str:
    """An environment of that CPython in a folder, with all that is pinned; its Python."""
    inner, ready = str(home / "bin/python"), home / "ready"
    # what was installed by another lock is installed over
    if not ready.exists() or ready.read_text() != LOCK.read_text():
        subprocess.run([python, "-m", "venv", home], check=True)
        pip = [inner, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", f"--requirement={LOCK}"], check=True)
        ready.write_text(LOCK.read_text())
    return inner


def run(arguments: list[str]) -> int:
    """Run the quick tests under the newest CPython; what pytest says."""
    known = ", ".join(offered()) or "none"
    here = f"3.{sys.version_info.minor}"
    print(f"Debian's CPython: {known}; this is {here}", flush=True)
    python = newest()
    if python is None:
        print(f"no CPython newer than {here} is on this machine: nothing is shown")
        return 0
    ask = "import platform; print(platform.python_version())"
    version = subprocess.check_output([python, "-c", ask], text=True).strip()
    print(f"the quick tests under CPython {version}, which is on this machine:", flush=True)
    inner = prepare(python, REPOSITORY / f"build/cpython-{version}")
    tests = [inner, "-m", "pytest", "-p", "no:cacheprovider", *arguments, *QUICK]
    # the package is not installed there: what its installation writes into the repository is of the other environment
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(tests, cwd=REPOSITORY, env=variables).returncode
