"""A disk that fails now and then, for a process that is started with it; `faulty_disk.c` is what it does."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

__all__ = ["FaultyDisk"]

_SOURCE = Path(__file__).with_suffix(".c")


class FaultyDisk:
    """What is below a folder fails in one of so many calls, while it is `on`; `variables` are for the process that is to suffer."""

    def __init__(self, folder: Path, below: Path, one_of: int) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("there is no cc to build a disk that fails")
        folder.mkdir()
        library, self._switch, self._log = folder / "faulty.so", folder / "on", folder / "log"
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", library, _SOURCE, "-ldl"], check=True
        )
        self._given = {
            "LD_PRELOAD": str(library),
            "FAULTY_BELOW": str(below),
            "FAULTY_ONE_OF": str(one_of),
            "FAULTY_WHILE": str(self._switch),
            "FAULTY_LOG": str(self._log),
        }

    def variables(self, seed: int) -> dict[str, str]:
        """The environment of a process, whose faults a number decides."""
        return {**self._given, "FAULTY_SEED": str(seed)}

    @property
    def on(self) -> bool:
        """Whether it fails now."""
        return self._switch.exists()

    @on.setter
    def on(self, fails: bool) -> None:
        if fails:
            self._switch.touch()
        else:
            self._switch.unlink(missing_ok=True)

    @property
    def faults(self) -> Counter[str]:
        """How often each call failed, and how."""
        if not self._log.exists():
            return Counter()
        lines = self._log.read_text().splitlines()
        return Counter(" ".join(line.split(" ", 2)[:2]) for line in lines)
