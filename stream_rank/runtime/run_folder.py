"""The folder of a run: its lock, and the record of where its snapshots are."""

import fcntl
import secrets
from pathlib import Path

from stream_rank.errors import ConfigError, WriteError, cause_of

__all__ = ["RunFolder"]


class RunFolder:
    """A folder that is locked until it is closed, since two runs would overwrite each other's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = ""
        """A random name of the folder, by which it is known to have the files that a snapshot tells of."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = (path / ".lock").open("a+")
        except OSError as error:
            raise WriteError(cause_of(error, path)) from error
        except ValueError as error:  # such as a NUL in the path
            raise ConfigError(f"{str(path)!r} is not a path: {error}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ConfigError(f"another run is writing to {path}") from None

    def snapshots_url(self, given: str | None) -> str:
        """The URL of the snapshots. It is recorded: with another one, a resumed run would find none and start again."""
        place = given or "snapshots"
        self._lock.seek(0)
        before, _, self.id = self._lock.read().partition("\n")
        if before not in ("", place):
            raise ConfigError(
                f"the run in {self.path} has its snapshots at {before}, not at {place}: "
                "give it as before with `snapshots`, or give another folder with `out`"
            )
        if not (before and self.id):
            self.id = secrets.token_hex(4)
            self._lock.write(f"\n{self.id}" if before else f"{place}\n{self.id}")
            self._lock.flush()
        return given or str(self.path / place)

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()
