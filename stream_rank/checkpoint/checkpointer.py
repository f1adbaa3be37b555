"""The checkpointer, the only module that knows the order of a commit: sinks, snapshot, offsets."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from stream_rank.background import in_background
from stream_rank.checkpoint.loading import load_parts
from stream_rank.checkpoint.snapshot import Snapshot, pack
from stream_rank.checkpoint.stateful import Stateful
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import LeaseError, SnapshotError, SnapshotWriteError, cause_of
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.run_control import RunControl
from stream_rank.sinks.file_sink import FILE_UNIT
from stream_rank.sinks.sink import Sink

__all__ = ["Checkpoint", "Checkpointer"]

_SINKS, _FOLDER = "sinks", "folder"
_SLOW_SECONDS = 300.0
"""After which a snapshot that is still being written is told as one that failed: gigabytes take minutes, and a store that hangs has no end."""
_CLOSE_SECONDS = 5.0
"""For a snapshot that is under way when the run is closed, which is without it what it was before."""


class Checkpoint(NamedTuple):
    """Name, size and time of a written snapshot."""

    name: str
    size: int
    seconds: float
    """How long it took, from the flush of the sinks until it was safe."""
    moment: float
    """The time at which it was written, by the checkpointer's clock."""


@dataclass
class _Written:
    """A snapshot that another thread is writing."""

    name: Future[str]
    size: int
    records: int
    position: Any
    start: float
    told: bool = False
    """Whether it was told that it takes too long."""


class Checkpointer:
    """Commits a run's state: every so many records or seconds, on request, and at the end.

    `commit` does all of it. `begin` and `settle` are its two halves: a daemon learns on while what was dumped is written by another
    thread, and settles the commit when it is. At most one is under way.
    """

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
        folder: str = "",
    ) -> None:
        """`commit_offsets` gets the position of a written snapshot; `timed` measures the writing. `folder` names that of the sinks' files."""
        _check_keys([part.key for part in parts])
        self._parts, self._sinks, self._store, self._progress = parts, sinks, store, progress
        self._commit_offsets, self._settings = commit_offsets, dict(settings or {})
        self._every_events, self._every_seconds = every_events, every_seconds
        self._control, self._clock, self._timed = control or RunControl(), clock, timed
        self._records, self._moment = progress.counts.records, clock()
        self._folder = folder
        self._under_way: _Written | None = None
        self.written = 0
        """Snapshots written by this process."""
        self.last = Checkpoint("", 0, 0.0, clock())

    @property
    def unsaved(self) -> int:
        """Records since the last snapshot."""
        return self._progress.counts.records - self._records

    @property
    def due(self) -> bool:
        """Whether a snapshot is due, or was requested, and none is under way."""
        if self._under_way is not None:
            return False
        records, seconds = self.unsaved, self._clock() - self._moment
        return (
            self._control.snapshot_requested
            or (self._every_events is not None and records >= self._every_events)
            or (self._every_seconds is not None and records > 0 and seconds >= self._every_seconds)
        )

    def commit(self) -> None:
        """Commit all that was learned. If the process is killed meanwhile, the run resumes from the snapshot before or this one.

        On a `RecoverableError` the commit can be retried; no offsets were committed past the last snapshot.
        """
        with suppress(SnapshotWriteError):  # one that is under way: this one has all that it has
            self.settle()
        self.begin()
        self.settle()

    def begin(self) -> None:
        """Begin a commit: what leaves has left, and the state is dumped. It is written while the run goes on."""
        self._control.snapshot_requested = False
        start, records, position = (
            self._clock(),
            self._progress.counts.records,
            self._progress.position,
        )
        with self._timed():
            # 1. Flush the sinks: a snapshot must not be ahead of rejects or predictions that could be lost.
            try:
                for sink in self._sinks.values():
                    sink.flush()
            except OSError as error:
                raise self._unwritten(error) from error
            # 2. Write the snapshot: states, position and the sinks' marks in one file, atomically. Packing copies them, so that
            # the writer has nothing that learning changes.
            with self._failing():
                content = pack(self.snapshot())
                name = in_background(lambda: self._store.put(content, records), "snapshots")
        self._under_way = _Written(name, len(content), records, position, start)

    def settle(self, wait: bool = True) -> None:
        """End the commit that is under way, if any is, and if it is written or to be waited for.

        One that is not waited for and takes too long is told by a `SnapshotWriteError`, once. It stays under way, and no other begins
        beside it: two that write would point `latest` at whichever ends last.
        """
        written = self._under_way
        if written is None:
            return
        if not (wait or written.name.done()):
            seconds = self._clock() - written.start
            if seconds >= _SLOW_SECONDS and not written.told:
                written.told = True
                raise SnapshotWriteError(
                    f"a snapshot is being written to {self._store.url} since {seconds:.0f} seconds: the store is slow, or hangs. None "
                    "is taken until this one is written or fails; the one before is whole"
                )
            return
        try:
            with self._failing():
                name = written.name.result()
        finally:
            self._under_way = None
        self._records, self._moment = written.records, self._clock()
        self.written += 1
        self.last = Checkpoint(name, written.size, self._moment - written.start, self._moment)
        # 3. Commit the offsets, for monitoring only: a run resumes from the position in the snapshot.
        self._commit_offsets(written.position)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Whatever goes wrong with a snapshot, from a full disk to a state that is larger than the memory, may pass; but for a lease that
        is another's, who goes on from where we were."""
        try:
            yield
        except LeaseError:
            raise
        except Exception as error:
            raise self._unwritten(error) from error

    def _unwritten(self, error: Exception) -> SnapshotWriteError:
        reason = str(error) if isinstance(error, SnapshotError) else repr(error)
        if isinstance(error, OSError):
            reason = cause_of(error)
        return SnapshotWriteError(
            f"no snapshot could be written to {self._store.url}: {reason}; the one before is whole"
        )

    def close(self) -> None:
        """Wait some seconds for what is being written, so that it is not written beside whoever comes next."""
        if self._under_way is not None:
            futures.wait([self._under_way.name], _CLOSE_SECONDS)

    def snapshot(self) -> Snapshot:
        """The whole state of the run."""
        marks = {name: [sink.unit, sink.mark()] for name, sink in self._sinks.items()}
        parts = {part.key: part.dump() for part in self._parts}
        more = {_SINKS: marks, _FOLDER: self._folder}
        return Snapshot.of(parts, settings=self._settings, **more)

    def join(self, parts: Sequence[Stateful], settings: Mapping[str, Any]) -> None:
        """Keep these parts from now on, in the place of those of the same keys, and other settings."""
        keys = {part.key for part in parts}
        every = [*(part for part in self._parts if part.key not in keys), *parts]
        _check_keys([part.key for part in every])
        self._parts = every
        self._settings |= settings

    def leave(self, keys: Collection[str], settings: Mapping[str, Any]) -> None:
        """Keep no parts of these keys from now on."""
        self._parts = [part for part in self._parts if part.key not in keys]
        self._settings |= settings

    def restore(self, snapshot: Snapshot | None, may_be_new: Collection[str] = ()) -> None:
        """Restore parts and sinks from a snapshot, or start them if there is none.

        Parts whose keys `may_be_new` begin if the snapshot has no state of them: those of learners that join.
        """
        marks: Mapping[str, list[Any]] = {}
        elsewhere = False
        if snapshot is not None:
            marks = snapshot.metadata[_SINKS]
            elsewhere = snapshot.metadata.get(_FOLDER, self._folder) != self._folder
            load_parts(self._parts, snapshot, may_be_new)
        for name, sink in self._sinks.items():
            unit, mark = marks.get(name, [sink.unit, 0])
            # what was marked is a file of another folder, where another process led: ours goes on behind what it has
            other = elsewhere and unit == FILE_UNIT
            sink.restore(mark if unit == sink.unit and not other else None)
        self._records, self._moment = self._progress.counts.records, self._clock()


def _check_keys(keys: Sequence[str]) -> None:
    """Raise a `ValueError` if the states of two parts could not be told apart."""
    for key in keys:
        if keys.count(key) > 1 or any(other.startswith(f"{key}/") for other in keys):
            raise ValueError(f"two parts keep their state under {key!r}")
