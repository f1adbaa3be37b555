"""The store of snapshots: a local folder, or any object store that fsspec knows."""

import errno
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from stream_rank.checkpoint.claim import LATEST, LEASE_SECONDS
from stream_rank.checkpoint.lease import Lease
from stream_rank.checkpoint.place import place_of
from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.errors import (
    SnapshotError,
    SnapshotReadError,
    StreamRankError,
)

__all__ = ["Kept", "SnapshotStore", "reasons"]

_NAME = re.compile(r"(\d{15})-(\d{8}T\d{6}Z)(?:-(\d{1,18})-(\d{1,18}))?\.safetensors")
"""Records, the time, the fencing number of whoever wrote it, and the how manieth of theirs it is. Before there were leases, names had the
first two alone."""
_STAYS = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG))
"""What a system answers where there is no such file, whoever asks and whenever."""


class Kept(NamedTuple):
    """A stored snapshot, by its name."""

    name: str
    records: int
    """The number of records before it."""
    written: datetime
    """By the clock of whoever wrote it; for people, and for which days are kept."""
    number: int = 0
    """The fencing number of whoever wrote it."""
    place: int = 0
    """Its place among those of that number."""

    @property
    def order(self) -> tuple[int, int, datetime, int]:
        """The last written comes last, whatever its clock said; after a rollback, older ones have more records."""
        return self.number, self.place, self.written, self.records


@contextmanager
def reasons(
    url: str, done: Literal["read", "written", "read or written"] = "read"
) -> Iterator[None]:
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
    stores whose listings are late. One process at a time writes, which has the `lease`: it is taken for a moment by whoever writes
    without it.
    """

    def __init__(
        self, url: str, keep: int = 5, days: int = 30, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self.url, self._keep, self._days = url, keep, days
        self.place = place_of(url)
        self.lease = Lease(self.place, lease_seconds, highest=self._highest_number)
        self._put = 0

    def prepare(self) -> None:
        """Make the folder, and remove unfinished files of a killed process."""
        self.place.prepare()

    def kept(self) -> list[Kept]:
        """The stored snapshots, the last written last."""
        with reasons(self.url):
            matches = [match for name in self.place.names() if (match := _NAME.fullmatch(name))]
        found = []
        for match in matches:
            with suppress(ValueError):  # a month of 13 is somebody else's name
                written = datetime.strptime(match[2], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
                number, place = int(match[3] or 0), int(match[4] or 0)
                found.append(Kept(match[0], int(match[1]), written, number, place))
        return sorted(found, key=lambda each: each.order)

    def _highest_number(self) -> int:
        try:
            return max((each.number for each in self.kept()), default=0)
        except SnapshotReadError as error:
            if isinstance(error.__cause__, PermissionError):  # who may not list has the file
                return 0
            raise

    def write(
        self, snapshot: Snapshot, records: int, now: datetime | None = None
    ) -> tuple[str, int]:
        """Write a snapshot; returns its name and size."""
        content = pack(snapshot)
        return self.put(content, records, now), len(content)

    def put(self, content: bytes, records: int, now: datetime | None = None) -> str:
        """Write a packed snapshot, point `latest` at it, and remove expired ones; returns its name. Any thread may call it.

        A `LeaseError` if another process has the lease, or took it meanwhile: then the snapshot is the latest for nobody.
        """
        with self.lease.held():
            name = self._write_latest(content, records, now)
            # the new one is safe: one that cannot be removed now is tried again after the next
            with suppress(SnapshotError, OSError):
                self._remove_old(name)
        return name

    def _write_latest(self, content: bytes, records: int, now: datetime | None) -> str:
        """Write a snapshot under a name that nobody else can give, and say that it is the latest."""
        self._put += 1
        moment = now or datetime.now(UTC)
        name = f"{records:015d}-{moment:%Y%m%dT%H%M%SZ}-{self.lease.number}-{self._put}.safetensors"
        self.place.write(name, content)
        self.lease.point(name)
        return name

    def renew(self, name: str, now: datetime | None = None) -> str:
        """Write a snapshot again as the latest one, and remove none; returns its new name."""
        with reasons(self.url_of(name)):
            content = self.place.read(name)
        unpack(content)
        with reasons(self.url, "written"), self.lease.held():
            return self._write_latest(content, int(name.partition("-")[0]), now)

    def _remove_old(self, latest: str) -> None:
        kept = self.kept()
        first_day = kept[-1].written.date() - timedelta(days=self._days)
        last_of_day = {each.written.date(): each.name for each in kept}
        stay = {each.name for each in kept[-self._keep :]} | {latest}
        stay |= {name for day, name in last_of_day.items() if day > first_day}
        for each in kept:
            if each.name not in stay:
                self.place.remove(each.name)

    def clear(self) -> None:
        """Remove all snapshots."""
        with self.lease.held():
            self.lease.point(None)
            for each in self.kept():
                self.place.remove(each.name)

    def latest(self) -> str | None:
        """The name of the newest snapshot; None if there is none."""
        with reasons(self.url_of(LATEST)):
            name = self.lease.look().snapshot
            if name and _NAME.fullmatch(name) and self.place.has(name):
                return name
        # no valid pointer (killed before the first one, or edited by hand): the newest by name
        kept = self.kept()
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
            kept = [each.name for each in self.kept()]
            yield from reversed(kept[: kept.index(latest)] if latest in kept else kept)
