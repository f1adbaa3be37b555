"""Jars that Maven fetches, in folders below `build`: each folder here with a `pom.xml` is a list of some."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["NoJarsError", "alone", "fetched"]

_HERE = Path(__file__).parent


class NoJarsError(Exception):
    """There is no Java, or no Maven, or no way to what Maven fetches."""


def fetched(name: str) -> Path:
    """The folder with the jars of a list below `build`, fetched when they are not there yet."""
    folder, listed = _HERE.parent / "build" / name / "lib", _HERE / name / "pom.xml"
    if not _complete(folder, listed):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with alone(folder):  # of several that want them at once, one fetches them
            if not _complete(folder, listed):
                _fetch(folder, listed)
    return folder


def _complete(folder: Path, listed: Path) -> bool:
    """Whether all is there that the list of today names."""
    done = folder / ".complete"
    return done.exists() and done.read_bytes() == listed.read_bytes()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let no other process do what it takes to have something there."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(folder: Path, listed: Path) -> None:
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            raise NoJarsError(
                f"there is no {tool}: {listed.parent.name} needs Java 17, and Maven to be fetched by"
            )
    partly = folder.with_name(f"lib-{os.getpid()}")
    done = subprocess.run(
        ["mvn", "-B", "-q", "dependency:copy-dependencies", f"-DoutputDirectory={partly}"],
        cwd=listed.parent,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise NoJarsError(
            f"Maven could not fetch {listed.parent.name}: {done.stdout[-500:]}{done.stderr[-500:]}"
        )
    (partly / ".complete").write_bytes(listed.read_bytes())
    shutil.rmtree(folder, ignore_errors=True)
    partly.rename(folder)
