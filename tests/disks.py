"""Small disks, which are soon full."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["resize", "small_disk"]


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of a size such as 700k, mounted at a folder."""
    folder.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(made, capture_output=True).returncode:
        pytest.skip("no disk can be made here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def resize(folder: Path, size: str) -> None:
    """Make a disk larger."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)
