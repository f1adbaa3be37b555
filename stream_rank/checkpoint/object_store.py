"""A prefix of an object store as a place of files: any that fsspec knows, and S3, which can write on a condition."""

import errno
import posixpath
from typing import Any

from fsspec.asyn import sync

from stream_rank.checkpoint.swap_error import SwapError
from stream_rank.errors import SnapshotError

__all__ = ["ObjectStore", "S3Prefix"]

_OTHER_TAG = '"0"'
"""An entity tag that no object has."""
_MET_NOT = frozenset(("PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchKey", "404"))  # fmt: skip
"""What S3 answers where a condition is not met, or where another write was under way."""


class ObjectStore:
    """An object store needs no folder, and every upload is atomic."""

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
            if _code(error) == "NoSuchBucket":
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

    def read_soon(self, name: str) -> bytes:
        """As `read`."""
        return self.read(name)

    def read_version(self, name: str) -> tuple[bytes, str] | None:
        """The content, which is its own version."""
        try:
            content = self.read(name)
        except FileNotFoundError:
            return None
        return content, content.hex()

    def swap(self, name: str, content: bytes, version: str | None) -> str:
        """Look, then write: two who do so in the same moment both succeed."""
        found = self.read_version(name)
        if version != (None if found is None else found[1]):
            raise SwapError(f"{self._path(name)} was written by another")
        self.write(name, content)
        return content.hex()

    def swaps_safely(self, name: str, content: bytes) -> bool:
        """Not that we know of."""
        return False

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


class S3Prefix(ObjectStore):
    """S3 writes on the condition that an object still has an entity tag, or that there is none.

    Others who speak S3's protocol may answer that they do not know conditions; they are written to as any object store then.
    """

    def __init__(self, url: str, system: Any, quick: Any, prefix: str) -> None:
        """`quick` is the same file system with less patience."""
        super().__init__(url, system, prefix)
        self._quick = quick

    def read_soon(self, name: str) -> bytes:
        """The content."""
        found = self.read_version(name)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such object", self._path(name))
        return found[0]

    def read_version(self, name: str) -> tuple[bytes, str] | None:
        """The content and its entity tag, by one request."""
        bucket, key, _ = self._quick.split_path(self._path(name))

        async def got() -> tuple[bytes, str]:
            # what s3fs reads by its public names has no tag
            answer = await self._quick._call_s3("get_object", Bucket=bucket, Key=key)  # noqa: SLF001
            async with answer["Body"] as body:
                return await body.read(), str(answer["ETag"])

        try:
            found: tuple[bytes, str] = sync(self._quick.loop, got)
        except FileNotFoundError as error:
            if _code(error) == "NoSuchBucket":
                raise SnapshotError(f"{self.url}: there is no such bucket") from None
            return None
        return found

    def swap(self, name: str, content: bytes, version: str | None) -> str:
        """Upload it on the condition that the object has that entity tag; that there is none, if `version` is None."""
        condition = {"IfNoneMatch": "*"} if version is None else {"IfMatch": version}
        try:
            answer = self._quick.pipe_file(self._path(name), content, **condition)
        except OSError as error:
            if _code(error) == "NoSuchBucket":
                raise SnapshotError(f"{self.url}: there is no such bucket") from None
            if _code(error) in _MET_NOT:
                raise SwapError(f"{self._path(name)} was written by another") from None
            if error.errno != errno.ENOSYS:
                raise
            found = self.read_version(name)
            if version != (None if found is None else found[1]):
                raise SwapError(f"{self._path(name)} was written by another") from None
            answer = self._quick.pipe_file(self._path(name), content)
        return str(answer["ETag"])

    def swaps_safely(self, name: str, content: bytes) -> bool:
        """Whether conditions are heeded: of those who know none, some write regardless, and do not say so."""
        try:
            self._quick.pipe_file(self._path(name), content, IfMatch=_OTHER_TAG)
        except OSError as error:
            if _code(error) in _MET_NOT:
                return True
            if error.errno != errno.ENOSYS:
                raise
        return False


def _code(error: BaseException) -> str:
    """The code by which S3 names an error; none of other stores."""
    answer = getattr(error.__cause__, "response", {})
    return str(answer.get("Error", {}).get("Code", ""))
