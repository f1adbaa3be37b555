"""The table of digests on aarch64, whose processor QEMU plays: the same bits as were recorded on x86-64?

Debian's CPython for arm64 and the wheels that PyPI has for it are unpacked below `build/aarch64`, once. Numba compiles the
engine for the other processor under emulation, which takes most of the time; what it has compiled is kept there too.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.machines.debian import unpack
from tests.recorded.table import NAMES, OF_TABLES

__all__ = ["PARTS", "compare", "environment", "program", "wheels"]

REPOSITORY = Path(__file__).parents[2]
LOCK = REPOSITORY / "deploy/requirements.lock"
"""What the package needs to run, and no tests."""
HOME = REPOSITORY / "build/aarch64"
PARTS = [name for name in NAMES if name not in OF_TABLES]
"""What of the table can be had without the libraries that tests alone need."""
_PYTHON = "3.11"
"""Debian's, in the release that has it."""
_PACKAGES = [f"python{_PYTHON}-minimal", f"libpython{_PYTHON}-stdlib", "libstdc++6", "zlib1g"]
_HOSTS = {"x86_64": "amd64"}
_WHO = (
    "import platform, llvmlite.binding as llvm;"
    "print(platform.machine(), 'CPython', platform.python_version(), *platform.libc_ver(),"
    " 'LLVM compiles for', llvm.get_process_triple(), llvm.get_host_cpu_name())"
)


def wheels(site: Path) -> list[str]:
    """The arguments by which pip unpacks aarch64's wheels of the pinned versions into a folder."""
    # the newest C library that Debian's release can serve has 2.36, of which wheels need 2.28 at most
    kinds = [f"manylinux_2_{minor}_aarch64" for minor in range(28, 16, -1)]
    given = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    given += ["--only-binary=:all:", "--implementation=cp", f"--python-version={_PYTHON}"]
    given += [f"--platform={kind}" for kind in [*kinds, "manylinux2014_aarch64"]]
    return ["install", *given, f"--target={site}", f"--requirement={LOCK}"]


def _site() -> Path:
    """The folder of the wheels: another where other versions are pinned."""
    return HOME / f"site-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"


def prepare() -> None:
    """Fetch what is not there yet."""
    if not (HOME / "qemu").is_dir():
        print("Debian's qemu-user-static is unpacked ...", flush=True)
        unpack(["qemu-user-static"], _HOSTS[platform.machine()], HOME / "qemu")
    if not (HOME / "root").is_dir():
        print(f"Debian's CPython {_PYTHON} for arm64 is unpacked ...", flush=True)
        unpack(_PACKAGES, "arm64", HOME / "root")
    if not (site := _site()).is_dir():
        print("PyPI's wheels for aarch64 are unpacked ...", flush=True)
        unfinished = site.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)  # pip leaves alone what it finds there
        subprocess.run([sys.executable, "-m", "pip", *wheels(unfinished)], check=True)
        unfinished.rename(site)


def environment() -> dict[str, str]:
    """The variables of the emulated Python, which sees this repository and aarch64's wheels."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(_site()), str(REPOSITORY)]),
        "PYTHONDONTWRITEBYTECODE": "1",  # what it would write, Python here would read
        "NUMBA_CACHE_DIR": str(HOME / "compiled"),
    }


def program(*arguments: str) -> list[str]:
    """The command that runs Python on aarch64."""
    root = HOME / "root"
    emulator = HOME / "qemu/usr/bin/qemu-aarch64-static"
    return [str(emulator), "-L", str(root), str(root / f"usr/bin/python{_PYTHON}"), *arguments]


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        program(*arguments), env=environment(), cwd=REPOSITORY, capture_output=True, text=True
    )


def compare(parts: Sequence[str]) -> int:
    """Compare parts of the table with what is recorded, and say how each went; 1 if one differs."""
    if platform.machine() not in _HOSTS:
        print(
            f"aarch64 is played on x86_64 alone, and this is {platform.machine()}: nothing is shown"
        )
        return 0
    prepare()
    who = _run("-c", _WHO)
    print(who.stdout or who.stderr, end="", flush=True)
    if not who.stdout.startswith("aarch64 "):
        return 1
    differing = 0
    for number, part in enumerate(parts, start=1):
        start = time.monotonic()
        table = ("-m", "tests.recorded.table", "--without-tables", "--compare", "--only", part)
        done = _run(*table)
        said = (done.stdout + done.stderr).strip()
        took = f"{time.monotonic() - start:.0f} s"
        print(f"{number} of {len(parts)}, {part}: {said} ({took})", flush=True)
        differing += done.returncode != 0
    print(f"aarch64: {len(parts) - differing} of {len(parts)} parts are as recorded")
    return int(differing > 0)
