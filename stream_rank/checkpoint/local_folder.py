"""A folder of this machine, or one that is mounted, as a place of files."""

import errno
import fcntl
import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager

from stream_rank.checkpoint.swap_error import SwapError

__all__ = ["LocalFolder"]

_UNFINISHED = ".unfinished-"
_LOCK = ".swap"
_LOCK_SECONDS, _LOCK_STEP_SECONDS = 5.0, 0.001
"""How long to wait for the lock, which is held for some microseconds, or for ever by a process that was stopped in them."""
_A_LINK = "a link"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class LocalFolder:
    """What others may have put into the folder is not followed: no name can be foreseen, and no link is opened."""

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
        temporary = self._written(content)
        self._rename(temporary, name)
        self._sync()

    def _written(self, content: bytes) -> str:
        """The path of a temporary file of this content, which is on the disk."""
        temporary = self._path(f"{_UNFINISHED}{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            with open(os.open(temporary, flags, 0o666), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            _discard(temporary)
            raise
        return temporary

    def _rename(self, temporary: str, name: str) -> None:
        try:
            os.replace(temporary, self._path(name))
        except OSError:
            _discard(temporary)
            raise

    def _sync(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def read_soon(self, name: str) -> bytes:
        """As `read`."""
        return self.read(name)

    def read_version(self, name: str) -> tuple[bytes, str] | None:
        """The content and its digest. A link is nobody's content, and may be replaced."""
        try:
            content = self.read(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                return b"", _A_LINK
            raise
        return content, _digest(content)

    def swap(self, name: str, content: bytes, version: str | None) -> str:
        """Write a file whose content is still of that version, under a lock that all who swap here take."""
        os.makedirs(self._folder, exist_ok=True)
        try:
            temporary = self._written(content)  # before the lock, since it takes long
        except OSError as error:
            if error.errno not in _FULL:
                raise
            with self._locked():
                self._check(name, version)
                self._overwrite(name, content, error)
            return _digest(content)
        try:
            with self._locked():
                self._check(name, version)
                self._rename(temporary, name)
        except BaseException:
            _discard(temporary)
            raise
        self._sync()
        return _digest(content)

    def _check(self, name: str, version: str | None) -> None:
        found = self.read_version(name)
        if version != (None if found is None else found[1]):
            raise SwapError(f"{self._path(name)} was written by another")

    def _overwrite(self, name: str, content: bytes, full: OSError) -> None:
        """Write over a file of the same size, which takes no room on a disk that is full.

        It is not atomic: whoever reads meanwhile, or after the power has failed, may find nonsense. The lock is held, so nothing is swapped
        for that.
        """
        file = os.open(self._path(name), os.O_WRONLY | os.O_NOFOLLOW)
        try:
            if os.fstat(file).st_size != len(content):
                raise full
            os.pwrite(file, content, 0)
            os.fsync(file)
        finally:
            os.close(file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(self._path(_LOCK), flags, 0o666)
        try:
            end = time.monotonic() + _LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise TimeoutError(
                            errno.ETIMEDOUT, "another process holds the lock, and is stopped or hangs", self._path(_LOCK)
                        ) from None  # fmt: skip
                    time.sleep(_LOCK_STEP_SECONDS)
            yield
        finally:
            os.close(lock)

    def swaps_safely(self, name: str, content: bytes) -> bool:
        """Always: whoever swaps takes the lock."""
        return True

    def names(self) -> list[str]:
        """The names in the folder."""
        try:
            return os.listdir(self._folder)
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        """Remove a file, or a link and not what it leads to."""
        os.remove(self._path(name))


def _discard(path: str) -> None:
    if os.path.lexists(path):
        os.remove(path)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
