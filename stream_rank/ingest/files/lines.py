"""Lines of a file, of standard input, or of a file that grows."""

import codecs
import gzip
import os
import select
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from stream_rank.engine.reading.newlines import find_lines
from stream_rank.engine.reading.scan import PADDING
from stream_rank.errors import InputError
from stream_rank.ingest.chunk import MOST_BYTES, Records
from stream_rank.ingest.files.buffer_pool import BufferPool
from stream_rank.ingest.position import BytePosition

__all__ = ["Find", "Followed", "LineFile", "Lines", "StandardInput"]

_BLOCK_BYTES = 1 << 20
"""Read at a time: some thousand events, and small beside a second-level cache."""
_FIRST_LINES, _MOST_LINES = 64, 1 << 14
"""Of the first chunk, and of others: before the first events nobody knows what features there are, and those that
come with new ones are read the slow way."""
_NEWLINE = 10
_MOMENT = 0.05
"""Seconds that a source waits for more before it says that nothing came."""


class _Bytes(Protocol):
    """Bytes that come; `read_into` gives how many, 0 at the end, None if nothing came for a moment."""

    def read_into(self, room: memoryview) -> int | None: ...


class Find(Protocol):
    """Finds records, as `find_lines` does."""

    def __call__(
        self, text: Any, begin: int, end: int, starts: Any, ends: Any, ended: bool
    ) -> tuple[int, int]:
        """The whole records in `text[begin:end]`: how many, and where the rest begins; `ended` if no more bytes come."""


def _each_line(
    text: Any, begin: int, end: int, starts: Any, ends: Any, ended: bool
) -> tuple[int, int]:
    del ended  # a line is whole with its newline
    count, rest = find_lines(text, begin, end, starts, ends)
    return count, rest


class Lines:
    """Lines of bytes that come, as records; or whatever records `find` finds."""

    def __init__(
        self,
        name: str,
        incoming: _Bytes,
        begin: BytePosition | None,
        skip: int = 0,
        find: Find | None = None,
    ) -> None:
        """`skip` bytes come again that were read before."""
        self._find = find or _each_line
        begin = begin or BytePosition()
        self._name, self._incoming = name, incoming
        self._offset, self._line = begin.bytes, begin.lines
        self._skip = skip
        self._most = _FIRST_LINES
        self._pool = BufferPool(_BLOCK_BYTES + MOST_BYTES + 1 + PADDING)

    def chunks(self) -> Iterator[Records | None]:
        """The lines, a block at a time. Of a line that is longer than any event may be only the beginning is kept."""
        buffer = self._pool.take()
        end, overlong, whole = 0, 0, False
        while True:
            text, room = buffer.bytes, buffer.view
            most = min(end + _BLOCK_BYTES, len(text) - PADDING)
            count = self._incoming.read_into(room[end:most])
            if count is None:
                yield None
                continue
            if self._skip and count:
                passed = min(self._skip, count)
                self._skip -= passed
                room[end : end + count - passed] = room[end + passed : end + count]
                count -= passed
                if not count:
                    continue
            ended = count == 0
            if ended:
                if self._skip:
                    raise InputError(
                        f"{self._name} ends {self._skip:,} bytes before the place to go on from: "
                        "is it the same stream?"
                    )
                if end == 0:
                    return
                whole = text[end - 1] == _NEWLINE
                if not whole:
                    text[end] = _NEWLINE
                    end += 1
            else:
                end += count
            begin = 0
            if self._offset == 0 and text[:end].tobytes().startswith(codecs.BOM_UTF8):
                begin = self._offset = len(codecs.BOM_UTF8)
            while True:
                records, rest = self._lines(
                    text, begin, end, overlong, ended, whole, buffer.release
                )
                if not len(records):
                    break
                overlong = 0
                buffer.taken()
                yield records
                begin = rest
            if ended:
                return
            left = end - begin
            if (
                buffer.in_use
            ):  # by chunks that are not released: the incomplete line goes to another
                fresh = self._pool.take()
                fresh.bytes[:left] = text[begin:end]
                buffer.release()
                buffer = fresh
            else:
                text[:left] = text[begin:end].copy()
            end = left
            if end > MOST_BYTES:
                overlong += end - MOST_BYTES - 1
                end = MOST_BYTES + 1

    def _lines(
        self,
        text: Any,
        begin: int,
        end: int,
        overlong: int,
        ended: bool,
        whole: bool,
        release: Callable[[], None],
    ) -> tuple[Records, int]:
        """The next whole lines; `overlong` bytes of the first were dropped. If all `ended`, was the last line `whole`?"""
        starts, ends = np.empty(self._most, np.int64), np.empty(self._most, np.int64)
        count, rest = self._find(text, begin, end, starts, ends, ended)
        starts, ends = starts[:count], ends[:count]
        offset, first = self._offset - begin + overlong, self._line
        last = int(ended and not whole and rest == end)  # its newline was never there

        def position_after(done: int) -> BytePosition:
            missing = last if done == count else 0
            return BytePosition(offset + int(ends[done - 1]) + 1 - missing, first + done)

        if count:
            self._offset = offset + rest
            self._line += count
            self._most = _MOST_LINES
        records = Records(
            text,
            starts,
            ends,
            position_after,
            lambda i: f"{self._name}:{first + i + 1}",
            release=release,
        )
        return records, rest


class _FromFile:
    def __init__(self, file: Any, name: str) -> None:
        self._read, self._name = file.readinto, name

    def read_into(self, room: memoryview) -> int | None:
        try:
            return int(self._read(room))
        except (EOFError, zlib.error, OSError) as error:
            raise InputError(f"{self._name} cannot be read on: {error}") from error


def _zstandard(path: Path) -> Any:
    import pyarrow as pa  # takes a quarter of a second to load, and plain files need none of it

    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")


def _plain(path: Path) -> Any:
    return path.open("rb", buffering=0)


def _opened(path: Path, opener: Callable[[Path], Any]) -> Any:
    try:
        return opener(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.GzipFile,
    ".zst": _zstandard,
}


class LineFile:
    """A file of lines, plain or compressed. Going on in a compressed one means reading it from its beginning."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path

    def chunks(
        self, position: BytePosition | None, find: Find | None = None
    ) -> Iterator[Records | None]:
        """Lines from a position on."""
        opener = _OPENERS.get(self._path.suffix.lower())
        done = position.bytes if position else 0
        with _opened(self._path, opener or _plain) as file:
            if not opener:
                if done > os.fstat(file.fileno()).st_size:
                    raise InputError(
                        f"{self.name} is shorter than the {done:,} bytes that were read of it"
                    )
                file.seek(done)
            skip = done if opener else 0
            incoming = _FromFile(file, self.name)
            yield from Lines(self.name, incoming, position, skip, find).chunks()

    def position_from(self, stored: Any) -> BytePosition:
        """A position that a snapshot has."""
        return BytePosition.from_json(stored)

    def progress(self, position: BytePosition | None) -> float | None:
        """The share of the bytes; not known of compressed files."""
        if self._path.suffix.lower() in _OPENERS:
            return None
        try:
            size = self._path.stat().st_size
        except OSError:  # it was deleted or moved, which does not matter to whoever has it open
            return None
        return (position.bytes if position else 0) / max(1, size)


class StandardInput:
    """What is piped in, learned as it comes."""

    name = "standard input"

    def chunks(
        self, position: BytePosition | None, find: Find | None = None
    ) -> Iterator[Records | None]:
        """Lines; the same stream must come again when a run is resumed."""
        skip = position.bytes if position else 0
        yield from Lines(self.name, self, position, skip, find).chunks()

    def read_into(self, room: memoryview) -> int | None:
        """What is there."""
        handle = sys.stdin.fileno()
        if not select.select([handle], [], [], _MOMENT)[0]:
            return None
        return os.readv(handle, [room])

    def position_from(self, stored: Any) -> BytePosition:
        """A position that a snapshot has."""
        return BytePosition.from_json(stored)

    def progress(self, position: BytePosition | None) -> float | None:
        """Nobody knows."""
        return None


class Followed:
    """A file that grows, as `tail -f` shows it. It has no end."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path

    def chunks(
        self, position: BytePosition | None, find: Find | None = None
    ) -> Iterator[Records | None]:
        """Lines from a position on, a line only when it is whole."""
        self._offset = position.bytes if position else 0
        with _opened(self._path, _plain) as self._file:
            self._file.seek(self._offset)
            yield from Lines(self.name, self, position, 0, find).chunks()

    def read_into(self, room: memoryview) -> int | None:
        """What has come since."""
        count: int = self._file.readinto(room)
        if count:
            self._offset += count
            return count
        if os.fstat(self._file.fileno()).st_size < self._offset:
            raise InputError(f"{self.name} became shorter while it was followed")
        time.sleep(_MOMENT)
        return None

    def position_from(self, stored: Any) -> BytePosition:
        """A position that a snapshot has."""
        return BytePosition.from_json(stored)

    def progress(self, position: BytePosition | None) -> float | None:
        """There is no end."""
        return None
