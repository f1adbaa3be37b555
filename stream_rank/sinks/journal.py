"""A file that is only appended to, and goes back to a mark when its run does."""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["Journal"]


class Journal:
    """Lines of a run, of which those after the last snapshot are written again when it is resumed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def begin(self, mark: int = 0) -> None:
        """Open the file, and cut off what is behind the mark."""
        file = self._file = self.path.open("ab")
        size = file.seek(0, os.SEEK_END)
        if size < mark:
            raise ValueError(
                f"{self.path} has {size:,} bytes, of {mark:,} that were written: it is not the file of this run"
            )
        file.truncate(mark)
        file.seek(mark)

    def write(self, line: bytes) -> None:
        """Append a line."""
        assert self._file is not None
        self._file.write(line + b"\n")

    def mark(self) -> int:
        """Make sure that everything is on the disk; how many bytes there are."""
        assert self._file is not None
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the file. What is behind the last mark need not be there, so a full disk is no error here."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
