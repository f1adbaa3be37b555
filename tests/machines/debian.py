"""Debian's packages, unpacked into a folder: nothing is installed, and the machine's own apt learns nothing of it."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["settings", "unpack"]


def settings(state: Path, architecture: str) -> list[str]:
    """What keeps apt to a folder of its own, in which no package is installed yet.

    Where packages come from, and the keys that sign them, stay the machine's.
    """
    return [
        *("-o", f"Dir::State={state}"),
        *("-o", f"Dir::State::status={state / 'status'}"),
        *("-o", f"Dir::Cache={state}"),
        *("-o", f"APT::Architecture={architecture}"),
        *("-o", f"APT::Architectures={architecture}"),
        # apt's own user may not write into our folder
        *("-o", "APT::Sandbox::User="),
    ]


def unpack(packages: Sequence[str], architecture: str, root: Path) -> None:
    """Unpack packages, and what they need, into `root`: the folder is there when all of it is there."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        state, unpacked = Path(folder, "apt"), Path(folder, "root")
        for each in ("lists/partial", "archives/partial"):
            (state / each).mkdir(parents=True)
        (state / "status").touch()
        apt = ["apt-get", "--quiet", "--quiet", *settings(state, architecture)]
        subprocess.run([*apt, "update"], check=True)
        fetch = ["install", "--download-only", "--yes", "--no-install-recommends"]
        subprocess.run([*apt, *fetch, *packages], check=True)
        unpacked.mkdir()
        for archive in sorted((state / "archives").glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", archive, unpacked], check=True)
        unpacked.rename(root)
