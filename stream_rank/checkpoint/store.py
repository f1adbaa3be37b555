"""The store of snapshots: a local folder, or any object store that fsspec knows."""

import errno
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from stream_rank.checkpoint.place import place_of
from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.errors import (
    SnapshotError,
    SnapshotReadError,
    StreamRankError,
)

__all__ = ["Kept", "SnapshotStore", "reasons"]

_NAME = re.compile(r"(\d{15})-(\d{8}T\d{6}Z)\.safetensors")
_LATEST = "latest"
_STAYS = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG))
"""What a system answers where there is no such file, whoever asks and whenever."""


class Kept(NamedTuple):
    """A stored snapshot, by its name."""

    name: str
    records: int
    """The number of records before it."""
    written: datetime


def _by_time(kept: list[Kept]) -> list[Kept]:
    """The last written comes last: after a rollback, snapshots from before it have more records than new ones."""
    return sorted(kept, key=lambda each: (each.written, each.records))


@contextmanager
def reasons(url: str, done: Literal["read", "written"] = "read") -> Iterator[None]:
    """Turn whatever a store raises into an error of one line: every backend has errors of its own.

    That a file is not there is a `SnapshotError`. Whatever else keeps one from being read is taken for a store that is away, and says
    nothing of what is in it: a `SnapshotReadError`.
    """
    try:
        yield
    except StreamRankError:
        raise
    except Exception as error:
        first, *_ = str(error).splitlines() or [""]
        hint = ""
        if type(error).__name__ == "NoCredentialsError":
            hint = "; S3 is asked with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or the machine's role"
        if isinstance(error, OSError) and error.strerror:
            first = error.strerror
        lasting = done == "written" or _stays(error) or "\0" in url
        kind = SnapshotError if lasting else SnapshotReadError
        raise kind(f"{url} cannot be {done}: {first or type(error).__name__}{hint}") from error


def _stays(error: Exception) -> bool:
    """Whether there is nothing to be read at a place, whenever it is asked for."""
    # the errors of object stores have no number
    missing = isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError)
    return missing or getattr(error, "errno", None) in _STAYS


class SnapshotStore:
    """The snapshots of one run, oldest first; the newest `keep` are kept, and for `days` days the last of every day.

    The name of the latest is in a file of its own, so that a run goes on without the right to list, and without waiting for
    stores whose listings are late.
    """

    def __init__(self, url: str, keep: int = 5, days: int = 30) -> None:
        self.url, self._keep, self._days = url, keep, days
        self.place = place_of(url)

    def prepare(self) -> None:
        """Make the folder, and remove unfinished files of a killed process."""
        self.place.prepare()

    def kept(self) -> list[Kept]:
        """The stored snapshots."""
        with reasons(self.url):
            matches = [match for name in self.place.names() if (match := _NAME.fullmatch(name))]
        found = []
        for match in matches:
            with suppress(ValueError):  # a month of 13 is somebody else's name
                written = datetime.strptime(match[2], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
                found.append(Kept(match[0], int(match[1]), written))
        return sorted(found)

    def write(
        self, snapshot: Snapshot, records: int, now: datetime | None = None
    ) -> tuple[str, int]:
        """Write a snapshot; returns its name and size."""
        content = pack(snapshot)
        return self.put(content, records, now), len(content)

    def put(self, content: bytes, records: int, now: datetime | None = None) -> str:
        """Write a packed snapshot, point `latest` at it, and remove expired ones; returns its name. Any thread may call it."""
        now = now or datetime.now(UTC)
        name = f"{records:015d}-{now:%Y%m%dT%H%M%SZ}.safetensors"
        self.place.write(name, content)
        self.place.write(_LATEST, name.encode())
        # the new one is safe: one that cannot be removed now is tried again after the next
        with suppress(SnapshotError, OSError):
            self._remove_old(name)
        return name

    def renew(self, name: str, now: datetime | None = None) -> str:
        """Write a snapshot again as the latest one, and remove none; returns its new name."""
        with reasons(self.url_of(name)):
            content = self.place.read(name)
        unpack(content)
        newest = max(each.written for each in self.kept())
        now = max(now or datetime.now(UTC), newest + timedelta(seconds=1))  # names have seconds
        again = f"{name.partition('-')[0]}-{now:%Y%m%dT%H%M%SZ}.safetensors"
        with reasons(self.url_of(again), "written"):
            self.place.write(again, content)
            self.place.write(_LATEST, again.encode())
        return again

    def _remove_old(self, latest: str) -> None:
        kept = _by_time(self.kept())
        first_day = kept[-1].written.date() - timedelta(days=self._days)
        last_of_day = {each.written.date(): each.name for each in kept}
        stay = {each.name for each in kept[-self._keep :]} | {latest}
        stay |= {name for day, name in last_of_day.items() if day > first_day}
        for each in kept:
            if each.name not in stay:
                self.place.remove(each.name)

    def clear(self) -> None:
        """Remove all snapshots."""
        for each in self.kept():
            self.place.remove(each.name)

    def latest(self) -> str | None:
        """The name of the newest snapshot; None if there is none."""
        with reasons(self.url_of(_LATEST)), suppress(FileNotFoundError):
            name = self.place.read(_LATEST).decode(errors="replace")
            if _NAME.fullmatch(name) and self.place.has(name):
                return name
        # no valid pointer (killed before the first one, or edited by hand): the newest by name
        kept = _by_time(self.kept())
        return kept[-1].name if kept else None

    def url_of(self, name: str) -> str:
        """The URL of a snapshot."""
        return posixpath.join(self.url, name)

    def read(self, name: str) -> Snapshot:
        """A snapshot by name."""
        url = self.url_of(name)
        with reasons(url):
            content = self.place.read(name)
        try:
            return unpack(content)
        except SnapshotError as error:
            raise SnapshotError(f"{url}: {error}") from None

    def newest_first(self) -> Iterator[str]:
        """The name of the latest snapshot, then those of older ones."""
        latest = self.latest()
        if latest is not None:
            yield latest
            kept = [each.name for each in _by_time(self.kept())]
            yield from reversed(kept[: kept.index(latest)] if latest in kept else kept)
