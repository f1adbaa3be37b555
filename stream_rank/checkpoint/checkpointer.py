"""The only place that knows the order of what makes a run safe: sinks, snapshot, offsets."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.stateful import Stateful
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import SnapshotError, SnapshotWriteError
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.run_control import RunControl
from stream_rank.sinks.sink import Sink

__all__ = ["Checkpoint", "Checkpointer"]

_SINKS = "sinks"


class Checkpoint(NamedTuple):
    """What is known of a snapshot that was written."""

    name: str
    size: int
    seconds: float
    """How long writing it took."""
    moment: float
    """When it was done, by the checkpointer's clock."""


class Checkpointer:
    """Makes safe what a run learned: every so many records or seconds, when it is asked to, and at the end."""

    def __init__(
        self,
        parts: Sequence[Stateful],
        sinks: Mapping[str, Sink[Any]],
        store: SnapshotStore,
        progress: Progress,
        commit_offsets: Callable[[Any], None] = lambda _: None,
        settings: Mapping[str, Any] | None = None,
        every_events: int | None = None,
        every_seconds: float | None = None,
        control: RunControl | None = None,
        clock: Callable[[], float] = time.monotonic,
        timed: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`commit_offsets` takes the position that was made safe; `timed` takes the time of writing."""
        self._parts, self._sinks, self._store, self._progress = parts, sinks, store, progress
        self._commit_offsets, self._settings = commit_offsets, dict(settings or {})
        self._every_events, self._every_seconds = every_events, every_seconds
        self._control, self._clock, self._timed = control or RunControl(), clock, timed
        self._records, self._moment = progress.counts.records, clock()
        self.written = 0
        """Snapshots, since the process began."""
        self.last = Checkpoint("", 0, 0.0, clock())

    @property
    def unsaved(self) -> int:
        """Records that no snapshot has."""
        return self._progress.counts.records - self._records

    @property
    def due(self) -> bool:
        """Whether it is time for a snapshot, or one was asked for."""
        records, seconds = self.unsaved, self._clock() - self._moment
        return (
            self._control.snapshot_requested
            or (self._every_events is not None and records >= self._every_events)
            or (self._every_seconds is not None and records > 0 and seconds >= self._every_seconds)
        )

    def commit(self) -> None:
        """Make safe all that was learned. Killed at any moment, the next start goes on from before or from after it.

        A `RecoverableError` says that it can be tried again; then nothing was passed that is not safe.
        """
        self._control.snapshot_requested = False
        position = self._progress.position
        # 1. Flush the sinks: a snapshot must not pass a reject or a prediction that is not safe.
        for sink in self._sinks.values():
            sink.flush()
        # 2. Write the snapshot: states, position and the sinks' marks in one file, there whole or not at all.
        self.last = self._write()
        self.written += 1
        # 3. Commit the offsets, for others to look at: where reading goes on is in the snapshot, never there.
        self._commit_offsets(position)

    def _write(self) -> Checkpoint:
        start, records = self._clock(), self._progress.counts.records
        try:
            with self._timed():
                name, size = self._store.write(self.snapshot(), records)
        except OSError as error:
            raise SnapshotWriteError(
                f"no snapshot could be written to {self._store.url}: {error}; the one before is whole"
            ) from error
        self._records, self._moment = records, self._clock()
        return Checkpoint(name, size, self._moment - start, self._moment)

    def snapshot(self) -> Snapshot:
        """All that the run knows."""
        marks = {name: sink.mark() for name, sink in self._sinks.items()}
        parts = {part.key: part.dump() for part in self._parts}
        return Snapshot.of(parts, settings=self._settings, **{_SINKS: marks})

    def restore(self, snapshot: Snapshot | None) -> None:
        """Let parts and sinks go on from a snapshot, or begin if there is none."""
        marks: Mapping[str, int] = {}
        if snapshot is not None:
            marks = snapshot.metadata[_SINKS]
            for part in self._parts:
                try:
                    part.load(snapshot.part(part.key))
                except (KeyError, TypeError, ValueError) as error:
                    raise SnapshotError(
                        f"the snapshot's {part.key} does not fit this run: {error!r}"
                    ) from error
        for name, sink in self._sinks.items():
            sink.restore(marks.get(name, 0))
        self._records, self._moment = self._progress.counts.records, self._clock()
