"""Where files are kept: a local folder, or an object store that fsspec knows."""

import os
from typing import Any, Protocol

import fsspec

from stream_rank.checkpoint.local_folder import LocalFolder
from stream_rank.checkpoint.object_store import ObjectStore, S3Prefix
from stream_rank.errors import ConfigError, SnapshotError

__all__ = ["Place", "file_at", "is_folder", "place_of"]

_S3 = ("s3://", "s3a://")
_SECONDS = {"connect_timeout": 10, "read_timeout": 60}
"""How long S3 may be silent: a minute to connect, which is the default, is longer than a stop may take."""
_SOON = {"connect_timeout": 3, "read_timeout": 5, "retries": {"total_max_attempts": 1}}
"""For small files that somebody waits for: a connection that hangs is given up for another before a lease runs out. It is tried again a few times
above, by s3fs."""


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

    def read_soon(self, name: str) -> bytes:
        """As `read`, of a small file, and rather an error than a long wait."""

    def read_version(self, name: str) -> tuple[bytes, str] | None:
        """A file's content, and a name of this version of it; None if there is no file."""

    def swap(self, name: str, content: bytes, version: str | None) -> str:
        """Write a file if it still is of that version (None: if there is none), and return the new one.

        A `SwapError` if it is of another, or was written in this very moment. After any other error nobody knows whether it was
        written.
        """

    def swaps_safely(self, name: str, content: bytes) -> bool:
        """Whether of two who swap at the same time one alone succeeds. The file has that content, and keeps it."""

    def names(self) -> list[str]:
        """The names of all files; none of a folder that is not there."""

    def remove(self, name: str) -> None:
        """Remove a file."""


def _opened(url: str, seconds: dict[str, Any] = _SECONDS) -> tuple[Any, str, bool]:
    """fsspec's file system of a URL, the path in it, and whether it is local. S3 is waited for so long."""
    more: dict[str, Any] = {}
    if url.startswith(_S3):
        # what is listed may be another's by now, and what is unchanged was written by us
        more = {"config_kwargs": seconds, "use_listings_cache": False}
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
        return LocalFolder(url, path)
    if type(system).__name__ == "MemoryFileSystem":
        raise ConfigError(
            f"{url} is the memory of this process and ends with it; give a folder, or a URL such as s3://bucket/prefix"
        )
    if url.startswith(_S3):
        return S3Prefix(url, system, _opened(url, _SOON)[0], path.rstrip("/"))
    return ObjectStore(url, system, path.rstrip("/"))


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
