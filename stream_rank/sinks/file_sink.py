"""An append-only file sink, truncated to its mark when a run is resumed."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from stream_rank.errors import WriteError

__all__ = ["FILE_UNIT", "FileSink"]

FILE_UNIT = "bytes"

Item = TypeVar("Item")


class FileSink(Generic[Item]):
    """One line per item. A mark is a size in bytes; lines that a killed run wrote after its last snapshot are truncated."""

    unit = FILE_UNIT

    def __init__(self, path: Path, as_line: Callable[[Item], bytes]) -> None:
        self.path, self._as_line = path, as_line
        self._file: BinaryIO | None = None

    def put(self, item: Item) -> None:
        """Append a line."""
        assert self._file is not None
        try:
            self._file.write(self._as_line(item) + b"\n")
        except OSError as error:
            raise self._named(error) from error

    def push(self) -> None:
        """Write to the file; on a full disk lines stay in the buffer."""
        assert self._file is not None
        with suppress(OSError):
            self._file.flush()

    def flush(self) -> None:
        """Flush and fsync."""
        assert self._file is not None
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._named(error) from error

    def _named(self, error: OSError) -> OSError:
        """The error with the path: the system names it only where a file is opened."""
        return OSError(error.errno, error.strerror, str(self.path))

    def mark(self) -> int:
        """The size in bytes."""
        assert self._file is not None
        return self._file.tell()

    def restore(self, mark: int | None) -> None:
        """Open the file, and truncate it to the mark."""
        file = self._file = self.path.open("ab")
        size = file.seek(0, os.SEEK_END)
        if mark is None:
            return
        if size < mark:
            raise WriteError(
                f"{self.path} has {size:,} bytes, fewer than the {mark:,} that were written: it is not the file of this run"
            )
        file.truncate(mark)
        file.seek(mark)

    def close(self) -> None:
        """Close the file. Lines after the last mark may be lost, so a full disk is not an error here."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
