"""Where a run is kept: its folder, and its snapshots, which one process at a time writes."""

from collections.abc import Callable

from stream_rank.checkpoint.claim import LATEST, LEASE_SECONDS
from stream_rank.checkpoint.renewal import Renewal
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore, reasons
from stream_rank.config.run import RunConfig
from stream_rank.ingest.backoff import Backoff
from stream_rank.runtime.run_folder import RunFolder

__all__ = ["RunPlace"]


class RunPlace:
    """The folder is locked from the beginning on, the lease of the snapshots is taken once the run leads."""

    def __init__(self, config: RunConfig, say: Callable[[str], object]) -> None:
        self.folder = RunFolder(config.out)
        self._say = say
        self._renewal: Renewal | None = None
        self.lease_backoff = Backoff("lease", say)
        try:
            self.store = SnapshotStore(
                self.folder.snapshots_url(config.snapshots),
                config.snapshots_kept,
                config.daily_snapshots_kept,
                config.lease_seconds or LEASE_SECONDS,
            )
        except BaseException:
            self.folder.close()
            raise
        self.known: dict[str, Snapshot] = {}
        """Snapshots that were read and checked before the run led."""

    def lead(self, stopped: Callable[[], bool]) -> None:
        """Take the lease, unless we have it, and keep it; a `LeaseError` if another process has it."""
        if self._renewal is None:
            with reasons(self.store.url_of(LATEST), "read or written"):
                self.store.lease.acquire(self._say, stopped)
            self.keep()

    def keep(self) -> None:
        """Renew the lease, which was taken, from now on."""
        if not self.store.lease.safe:
            self._say(
                f"{self.store.url} cannot write on a condition: of two daemons that start in the same moment both may write there"
            )
        self._renewal = Renewal(self.store.lease, self.lease_backoff)

    def read(self, name: str) -> Snapshot:
        """A snapshot, which may be known."""
        found = self.known.get(name)
        return self.store.read(name) if found is None else found

    def look_at(self, name: str) -> None:
        """Read and check a snapshot, and know it instead of others; a `SnapshotError` if it cannot be trusted."""
        if name not in self.known:
            self.known = {name: self.store.read(name)}

    def close(self) -> None:
        """Give the lease back, and unlock the folder."""
        if self._renewal is not None:
            self._renewal.close()
            self._renewal = None
        self.folder.close()
