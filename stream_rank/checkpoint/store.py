"""The store of snapshots: a local folder, or any URL that fsspec supports."""

import os
import posixpath
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import fsspec

from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.errors import SnapshotError

__all__ = ["Kept", "SnapshotStore", "read_file", "write_file"]

_NAME = re.compile(r"(\d{15})-(\d{8}T\d{6}Z)\.safetensors")
_LATEST = "latest"
_TEMPORARY = ".unfinished-"


class Kept(NamedTuple):
    """A stored snapshot, by its name."""

    name: str
    records: int
    """The number of records before it."""
    written: datetime


def _by_time(kept: list[Kept]) -> list[Kept]:
    """The last written comes last: after a rollback, snapshots from before it have more records than new ones."""
    return sorted(kept, key=lambda each: (each.written, each.records))


def _is_local(system: Any) -> bool:
    return "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,))


def write_file(system: Any, path: str, content: bytes) -> None:
    """Write a file atomically and durably.

    On a local disk: a temporary file, fsync, rename, fsync of the folder. Elsewhere: one upload, which is atomic in every
    object store.
    """
    if not _is_local(system):
        system.pipe_file(path, content)
        return
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{_TEMPORARY}{name}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
    folder_handle = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(folder_handle)
    finally:
        os.close(folder_handle)


def read_file(url: str) -> bytes:
    """The bytes of a file; raises `SnapshotError` if it cannot be read."""
    try:
        system, path = fsspec.core.url_to_fs(url)
        content: bytes = system.cat_file(path)
    except (OSError, ValueError, ImportError) as error:
        raise SnapshotError(f"{url} cannot be read: {error}") from error
    return content


class SnapshotStore:
    """The snapshots of one run, oldest first; the newest `keep` and the last of every day are kept."""

    def __init__(self, url: str, keep: int = 5) -> None:
        self.url, self._keep = url, keep
        try:
            self._system, self._folder = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise SnapshotError(f"snapshots cannot be kept at {url}: {error}") from error

    def _path(self, name: str) -> str:
        return posixpath.join(self._folder, name)

    def prepare(self) -> None:
        """Create the folder, and remove unfinished files of a killed process."""
        self._system.makedirs(self._folder, exist_ok=True)
        for path in self._system.ls(self._folder, detail=False):
            if posixpath.basename(path).startswith(_TEMPORARY):
                self._system.rm_file(path)

    def kept(self) -> list[Kept]:
        """The stored snapshots."""
        self._system.invalidate_cache()
        if not self._system.exists(self._folder):
            return []
        found = []
        for path in self._system.ls(self._folder, detail=False):
            match = _NAME.fullmatch(posixpath.basename(path))
            if match:
                written = datetime.strptime(match[2], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
                found.append(Kept(match[0], int(match[1]), written))
        return sorted(found)

    def write(
        self, snapshot: Snapshot, records: int, now: datetime | None = None
    ) -> tuple[str, int]:
        """Write a snapshot, point `latest` at it, and remove expired ones; returns its name and size."""
        now = now or datetime.now(UTC)
        name = f"{records:015d}-{now:%Y%m%dT%H%M%SZ}.safetensors"
        content = pack(snapshot)
        write_file(self._system, self._path(name), content)
        write_file(self._system, self._path(_LATEST), name.encode())
        self._remove_old(name)
        return name, len(content)

    def renew(self, name: str, now: datetime | None = None) -> str:
        """Write a snapshot again as the latest one, and remove none; returns its new name."""
        content = read_file(self.url_of(name))
        unpack(content)
        newest = max(each.written for each in self.kept())
        now = max(now or datetime.now(UTC), newest + timedelta(seconds=1))  # names have seconds
        again = f"{name.partition('-')[0]}-{now:%Y%m%dT%H%M%SZ}.safetensors"
        write_file(self._system, self._path(again), content)
        write_file(self._system, self._path(_LATEST), again.encode())
        return again

    def _remove_old(self, latest: str) -> None:
        kept = _by_time(self.kept())
        last_of_day = {each.written.date(): each.name for each in kept}
        stay = {each.name for each in kept[-self._keep :]} | set(last_of_day.values()) | {latest}
        for each in kept:
            if each.name not in stay:
                self._system.rm_file(self._path(each.name))

    def clear(self) -> None:
        """Remove all snapshots."""
        for each in self.kept():
            self._system.rm_file(self._path(each.name))

    def latest(self) -> str | None:
        """The name of the newest snapshot; None if there is none."""
        try:
            name = self._system.cat_file(self._path(_LATEST)).decode()
            if _NAME.fullmatch(name) and self._system.exists(self._path(name)):
                return str(name)
        except (OSError, UnicodeDecodeError):
            pass  # no valid pointer (killed before the first one, or edited by hand): take the newest by name
        kept = _by_time(self.kept())
        return kept[-1].name if kept else None

    def url_of(self, name: str) -> str:
        """The URL of a snapshot."""
        return posixpath.join(self.url, name)

    def read(self, name: str) -> Snapshot:
        """A snapshot by name."""
        url = self.url_of(name)
        try:
            return unpack(read_file(url))
        except SnapshotError as error:
            raise SnapshotError(f"{url}: {error}") from None

    def newest_first(self) -> Iterator[str]:
        """The name of the latest snapshot, then those of older ones."""
        latest = self.latest()
        if latest is not None:
            kept = [each.name for each in _by_time(self.kept())]
            yield from reversed(kept[: kept.index(latest) + 1])
