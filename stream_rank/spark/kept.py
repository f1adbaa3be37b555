"""The files of shards: where what each has learned is published, and where others begin with it."""

import hashlib
from urllib.parse import quote

from stream_rank.checkpoint.place import Place, is_folder, place_of
from stream_rank.checkpoint.store import reasons

__all__ = ["KeptShards"]

_ENDING = ".safetensors"
_LONGEST = 200
"""Characters of a file's name: file systems take some more."""


class KeptShards:
    """The states of shards below a URL that fsspec knows, a file each, which is replaced as a whole.

    >>> KeptShards.name_of("ratings-3"), KeptShards.name_of("a/b")
    ('ratings-3.safetensors', 'a%2Fb.safetensors')
    """

    def __init__(self, url: str) -> None:
        self.url = f"{url.rstrip('/')}/shards"
        self._place: Place = place_of(self.url)

    @staticmethod
    def are_at(url: str) -> bool:
        """Whether there are any at a URL, which may also be that of a model or of a run."""
        with reasons(url):
            return is_folder(f"{url.rstrip('/')}/shards")

    @staticmethod
    def name_of(shard: str) -> str:
        """The file of a shard."""
        quoted = quote(shard, safe="")
        if not quoted or len(quoted) > _LONGEST:
            quoted = f"%{hashlib.sha256(shard.encode()).hexdigest()}"
        return quoted + _ENDING

    def prepare(self) -> None:
        """Make the folder."""
        with reasons(self.url, "written"):
            self._place.prepare()

    def names(self) -> list[str]:
        """The files of all shards."""
        with reasons(self.url):
            return sorted(name for name in self._place.names() if name.endswith(_ENDING))

    def read(self, name: str) -> bytes | None:
        """The state in a file, if there is one."""
        with reasons(self.url):
            try:
                return self._place.read(name)
            except FileNotFoundError:
                return None

    def write(self, name: str, state: bytes) -> None:
        """Replace the state in a file."""
        with reasons(self.url, "written"):
            self._place.write(name, state)
