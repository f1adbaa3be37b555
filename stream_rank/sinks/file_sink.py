"""A file that is only appended to, and goes back to a mark when its run does."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from stream_rank.errors import WriteError

__all__ = ["FileSink"]

Item = TypeVar("Item")


class FileSink(Generic[Item]):
    """A line for every item. A mark is a number of bytes, so what a killed run wrote after its last snapshot is cut off."""

    def __init__(self, path: Path, as_line: Callable[[Item], bytes]) -> None:
        self.path, self._as_line = path, as_line
        self._file: BinaryIO | None = None

    def put(self, item: Item) -> None:
        """Append a line."""
        assert self._file is not None
        self._file.write(self._as_line(item) + b"\n")

    def flush(self) -> None:
        """Make sure that every line is on the disk."""
        assert self._file is not None
        self._file.flush()
        os.fsync(self._file.fileno())

    def mark(self) -> int:
        """How many bytes there are."""
        assert self._file is not None
        return self._file.tell()

    def restore(self, mark: int) -> None:
        """Open the file, and cut off what comes after the mark."""
        file = self._file = self.path.open("ab")
        size = file.seek(0, os.SEEK_END)
        if size < mark:
            raise WriteError(
                f"{self.path} has {size:,} bytes, of {mark:,} that were written: it is not the file of this run"
            )
        file.truncate(mark)
        file.seek(mark)

    def close(self) -> None:
        """Close the file. What comes after the last mark need not be there, so a full disk is no error here."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
