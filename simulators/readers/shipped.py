"""Lines of a file as it is shipped: in a folder, an archive, or by itself, packed or not; and what is wrong with a line."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stream_rank.errors import InputError

__all__ = ["Lines", "beside", "lines_of", "number", "parts_of"]

_SHOWN = 60
"""Letters of a line that are shown."""


class Lines:
    """The lines of a file, and a `InputError` about the one that was read last."""

    def __init__(self, name: str, lines: Iterable[str], expected: str) -> None:
        self._name, self._lines, self._expected = name, lines, expected
        self._last, self._number = "", 0

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, 1):
            self._number, self._last = number, line.rstrip("\r\n")
            if self._last:
                yield self._last

    def cells(self, separator: str, count: int) -> Iterator[list[str]]:
        """Lines in cells, at least so many."""
        for line in self:
            cells = line.split(separator)
            if len(cells) < count:
                raise self.wrong()
            yield cells

    def wrong(self) -> InputError:
        """The last line is not what was expected."""
        shown = self._last if len(self._last) <= _SHOWN else f"{self._last[:_SHOWN]}..."
        return InputError(
            f"{self._name}, line {self._number}: {self._expected} is expected, not {shown!r}"
        )

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Whatever cannot be made of the last line is an `InputError`."""
        try:
            yield
        except (ValueError, KeyError, IndexError):
            raise self.wrong() from None


def number(text: str, least: float, most: float) -> float:
    """A number within bounds; a `ValueError` if it is none."""
    found = float(text)
    if not least <= found <= most:
        raise ValueError
    return found


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as file:
        yield gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file  # type: ignore[misc]  # which TextIOWrapper takes


def _members(path: Path, ending: str) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return sorted(
            name for name in archive.namelist() if name.endswith(ending) and "__MACOSX" not in name
        )


@contextmanager
def lines_of(path: Path, member: str, expected: str, encoding: str = "utf-8") -> Iterator[Lines]:
    """The lines of `member` (or of it with `.gz`) in a folder or a zip archive, or of the file itself that is given."""
    try:
        if path.is_dir():
            there = [path / member, path / f"{member}.gz"]
            found = next((each for each in there if each.is_file()), None)
            if found is None:
                raise InputError(f"{path} has no {member}; it has {expected} in each line")
            path = found
        if path.suffix == ".zip":
            names = _members(path, member)
            if not names:
                raise InputError(f"{path} has no {member} in it; it has {expected} in each line")
            with zipfile.ZipFile(path) as archive, archive.open(names[0]) as raw:
                text = io.TextIOWrapper(raw, encoding, newline="")
                yield Lines(names[0], text, expected)
            return
        with _opened(path) as file:
            yield Lines(path.name, io.TextIOWrapper(file, encoding, newline=""), expected)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is no text in {encoding}; lines of {expected} are expected"
        ) from None


def beside(path: Path, member: str) -> Path | None:
    """Where another file of the same data set is, if it is there: beside the file that is given, or in the same folder or archive."""
    if path.is_dir():
        there = [path / member, path / f"{member}.gz"]
        return next((each for each in there if each.is_file()), None)
    if path.suffix == ".zip":
        return path if zipfile.is_zipfile(path) and _members(path, member) else None
    return beside(path.parent, member)


def parts_of(path: Path, *patterns: str) -> list[Path]:
    """The files of a folder whose names are alike, by the first pattern that there are any of, or the one that is given."""
    if not path.is_dir():
        return [path]
    for pattern in patterns:
        found = sorted(path.glob(pattern)) or sorted(path.glob(f"{pattern}.gz"))
        if found:
            return found
    raise InputError(f"{path} has no {' or '.join(patterns)}")
