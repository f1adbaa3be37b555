"""Snapshots of a run: when they are due, what is in them, and going on from one."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from stream_rank.checkpoint.model_file import join, joined
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import SnapshotError, WriteError
from stream_rank.pipeline.counts import Counts
from stream_rank.pipeline.loop import Loop
from stream_rank.runtime.run_control import RunControl
from stream_rank.sinks.sink import Outlet

__all__ = ["Keeper", "Written", "newest_sound", "restore"]


class Written(NamedTuple):
    """What is known of a snapshot that was written."""

    name: str
    size: int
    seconds: float
    """How long writing it took."""
    moment: float
    """When it was done, by the keeper's clock."""


class Keeper:
    """Writes a snapshot every so many records or seconds, when it is asked to, and at the end.

    What the outlets took is safe before the snapshot that passes it.
    """

    def __init__(
        self,
        loop: Loop,
        store: SnapshotStore,
        outlets: dict[str, Outlet],
        settings: dict[str, Any],
        every_events: int | None = None,
        every_seconds: float | None = None,
        asked: RunControl | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop, self._store, self._outlets = loop, store, outlets
        self._settings = settings
        self._every_events, self._every_seconds, self._clock = every_events, every_seconds, clock
        self._last_records, self._last_time = loop.counts.records, clock()
        self._asked = asked or RunControl()
        self.written = 0
        """Snapshots, since the run was begun or gone on with."""
        self.last = Written("", 0, 0.0, clock())

    @property
    def unsaved(self) -> int:
        """Records that no snapshot has."""
        return self._loop.counts.records - self._last_records

    def tick(self) -> None:
        """Write a snapshot if one is due."""
        records = self.unsaved
        seconds = self._clock() - self._last_time
        if (
            self._asked.snapshot_requested
            or (self._every_events is not None and records >= self._every_events)
            or (self._every_seconds is not None and records and seconds >= self._every_seconds)
        ):
            self.write()

    def write(self) -> None:
        """Write a snapshot."""
        self._asked.snapshot_requested = False
        start = self._clock()
        try:
            with self._loop.stopwatch.stage("snapshotting"):
                name, size = self._store.write(self.content(), self._loop.counts.records)
        except OSError as error:
            raise WriteError(
                f"no snapshot could be written to {self._store.url}: {error}; the one before is whole"
            ) from error
        self.written += 1
        self._last_records, self._last_time = self._loop.counts.records, self._clock()
        self.last = Written(name, size, self._last_time - start, self._last_time)

    def content(self) -> Snapshot:
        """All that the run knows."""
        loop = self._loop
        said = {
            "position": loop.position,
            "counts": loop.counts.as_dict(),
            "time": loop.time,
            "features": loop.decoder.known.names[: loop.names_met],
            "journals": {name: outlet.mark() for name, outlet in self._outlets.items()},
            "settings": self._settings,
        }
        parts = [Snapshot(said, {}), loop.scoreboard.content()]
        states = {each.name: each.state() for each in loop.contestants}
        parts.append(joined({name: state for name, state in states.items() if state is not None}))
        if loop.waiting is not None:
            parts.append(loop.waiting.content())
        return join(*parts)


def restore(loop: Loop, snapshot: Snapshot) -> None:
    """Let a loop go on where another was; its learners and features are those of the snapshot already."""
    said = snapshot.said
    loop.position, loop.time = said["position"], said["time"]
    loop.counts = Counts(**said["counts"])
    loop.scoreboard.restore(snapshot)
    if loop.waiting is not None:
        loop.waiting.restore(snapshot)


def newest_sound(store: SnapshotStore, older: bool, warn: Callable[[str], None]) -> Snapshot | None:
    """The latest snapshot; where it cannot be trusted and `older` ones will do, the newest that can. None if there is none."""
    last: SnapshotError | None = None
    for name in store.newest_first():
        try:
            return store.read(name)
        except SnapshotError as error:
            if not older:
                raise SnapshotError(
                    f"{error}. --damaged older takes the newest sound one, and learns again what came after it"
                ) from None
            warn(f"{error}; trying an older one")
            last = error
    if last is not None:
        raise SnapshotError(f"no snapshot in {store.url} can be trusted; the oldest: {last}")
    return None
