"""Where files are kept: a local folder, or an object store that fsspec knows."""

import os
import posixpath
import secrets
from typing import Any, Protocol

import fsspec

from stream_rank.errors import ConfigError, SnapshotError

__all__ = ["Place", "file_at", "is_folder", "place_of"]

_UNFINISHED = ".unfinished-"
_SECONDS = {"connect_timeout": 10, "read_timeout": 60}
"""How long S3 may be silent: a minute to connect, which is the default, is longer than a stop may take."""


class Place(Protocol):
    """A flat folder of files, each of which is written and read as a whole. Errors are those of the store itself."""

    url: str

    def prepare(self) -> None:
        """Make the folder, and remove what a killed process left unfinished."""

    def read(self, name: str) -> bytes:
        """A file's content; a `FileNotFoundError` if there is none."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file durably: afterwards it is the old one or the new one, whatever happens meanwhile."""

    def names(self) -> list[str]:
        """The names of all files; none of a folder that is not there."""

    def remove(self, name: str) -> None:
        """Remove a file."""


class _LocalFolder:
    """A folder of this machine. What others may have put there is not followed: no name can be foreseen, and no link is opened."""

    def __init__(self, url: str, folder: str) -> None:
        self.url, self._folder = url, folder or "."

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def prepare(self) -> None:
        """Make the folder, and remove unfinished files."""
        os.makedirs(self._folder, exist_ok=True)
        for name in os.listdir(self._folder):
            if name.startswith(_UNFINISHED):
                os.remove(self._path(name))

    def read(self, name: str) -> bytes:
        """The content, if it is no link."""
        with open(os.open(self._path(name), os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            return file.read()

    def has(self, name: str) -> bool:
        """Whether there is such a file, or link."""
        return os.path.lexists(self._path(name))

    def write(self, name: str, content: bytes) -> None:
        """Write a temporary file, fsync it, rename it, and fsync the folder."""
        temporary = self._path(f"{_UNFINISHED}{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            with open(os.open(temporary, flags, 0o666), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path(name))
        except OSError:
            if os.path.lexists(temporary):
                os.remove(temporary)
            raise
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def names(self) -> list[str]:
        """The names in the folder."""
        try:
            return os.listdir(self._folder)
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        """Remove a file, or a link and not what it leads to."""
        os.remove(self._path(name))


class _ObjectStore:
    """A prefix of an object store, which needs no folder, and in which every upload is atomic."""

    def __init__(self, url: str, system: Any, prefix: str) -> None:
        self.url, self._system, self._prefix = url, system, prefix

    def _path(self, name: str) -> str:
        return posixpath.join(self._prefix, name)

    def prepare(self) -> None:
        """Nothing: a prefix is there once something is below it, and a bucket is not ours to make."""

    def read(self, name: str) -> bytes:
        """The content, by one request that asks for nothing else; a `SnapshotError` if the bucket itself is not there."""
        try:
            content: bytes = self._system.cat_file(self._path(name))
        except FileNotFoundError as error:
            answer = getattr(error.__cause__, "response", {})
            if answer.get("Error", {}).get("Code") == "NoSuchBucket":
                raise SnapshotError(f"{self.url}: there is no such bucket") from None
            raise
        return content

    def has(self, name: str) -> bool:
        """Whether there is such an object; it is not looked for in a listing."""
        try:
            self._system.info(self._path(name))
        except FileNotFoundError:
            return False
        return True

    def write(self, name: str, content: bytes) -> None:
        """Upload it as a whole."""
        self._system.pipe_file(self._path(name), content)

    def names(self) -> list[str]:
        """The names below the prefix."""
        self._system.invalidate_cache()
        try:
            return [
                posixpath.basename(path) for path in self._system.ls(self._prefix, detail=False)
            ]
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        """Remove an object."""
        self._system.rm_file(self._path(name))


def _opened(url: str) -> tuple[Any, str, bool]:
    """fsspec's file system of a URL, the path in it, and whether it is local."""
    more: dict[str, Any] = {}
    if url.startswith(("s3://", "s3a://")):
        # what is listed may be another's by now, and what is unchanged was written by us
        more = {"config_kwargs": _SECONDS, "use_listings_cache": False}
    try:
        system, path = fsspec.core.url_to_fs(url, **more)
    except ImportError as error:
        extra = "; install stream-rank[s3]" if more else ""
        raise ConfigError(f"{url} cannot be opened: {error}{extra}") from None
    except ValueError as error:
        raise ConfigError(f"{url!r} is no folder and no URL: {error}") from None
    protocols = system.protocol if isinstance(system.protocol, tuple) else (system.protocol,)
    return system, path, "file" in protocols


def place_of(url: str) -> Place:
    """The place that a URL means; a `ConfigError` if nothing can be kept there."""
    system, path, local = _opened(url)
    if local:
        return _LocalFolder(url, path)
    if type(system).__name__ == "MemoryFileSystem":
        raise ConfigError(
            f"{url} is the memory of this process and ends with it; give a folder, or a URL such as s3://bucket/prefix"
        )
    return _ObjectStore(url, system, path.rstrip("/"))


def is_folder(url: str) -> bool:
    """Whether there is a folder, or something below a prefix."""
    system, path, _ = _opened(url)
    return bool(system.isdir(path))


def file_at(url: str) -> tuple[Place, str]:
    """The place and the name of a file."""
    folder, separator, name = url.rpartition("/")
    if "://" not in url:
        folder, name = os.path.split(url)
    elif not separator or not name:
        raise SnapshotError(f"{url} is no file")
    return place_of(folder or "."), name
