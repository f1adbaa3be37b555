"""What a replay and the daemon have in common: learners, a loop, and snapshots, in a folder."""

import fcntl
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TextIO

import stream_rank
from stream_rank.checkpoint.checkpointer import Keeper, newest_sound, restore
from stream_rank.checkpoint.model_file import learner_in
from stream_rank.checkpoint.snapshot import Snapshot, digest_of
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.timestamps import written
from stream_rank.config.run import RunConfig
from stream_rank.errors import ConfigError, SnapshotError, WriteError
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.pipeline.contestant import Contestant, contestant_of, limits_of
from stream_rank.pipeline.learner_spec import contestants_of
from stream_rank.pipeline.loop import Loop, Predictions
from stream_rank.pipeline.pace import Pace
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.runtime.run_control import RunControl
from stream_rank.sinks.rejects import Rejects
from stream_rank.sinks.sink import Outlet

__all__ = ["Run", "as_json"]


def as_json(content: Any, indent: int | None = None) -> str:
    """JSON that others can read: numbers that are none are null.

    >>> as_json({"loss": float("nan")})
    '{"loss": null}'
    """
    return json.dumps(_finite(content), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _locked(folder: Path) -> TextIO:
    """A file in the folder that nobody else has locked: two runs would write over each other."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a+")
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ConfigError(f"another run is writing to {folder}") from None
    return file


def _check_place(lock: TextIO, folder: Path, snapshots: str) -> None:
    """Note where the folder's run has its snapshots; elsewhere it would seem to have none, and be begun again."""
    lock.seek(0)
    before = lock.read()
    if before not in ("", snapshots):
        raise ConfigError(
            f"the run in {folder} has its snapshots at {before}, not at {snapshots}: "
            "give it as before with --snapshots, or give another folder with --out"
        )
    if not before:
        lock.write(snapshots)
        lock.flush()


class Run:
    """A folder's learners, begun or gone on with, and the loop that they ride on."""

    def __init__(
        self,
        config: RunConfig,
        resume: bool,
        rejects: Rejects,
        predictions: Predictions,
        outlets: dict[str, Outlet],
        warn: Callable[[str], None],
        asked: RunControl | None = None,
    ) -> None:
        """`outlets` are what rejects and predictions go out by: snapshots say how far they had come."""
        self.config = config
        self.asked = asked or RunControl()
        self._warn, self._outlets = warn, outlets
        fresh = contestants_of(config.learners, config.n_ranks, config.seed)
        self.foreign = [each.name for each in fresh if each.state() is None]
        self._lock_file = _locked(config.out)
        try:
            self._open(fresh, resume, rejects, predictions)
        except BaseException:
            self.close()
            raise

    def _open(
        self, fresh: list[Contestant], resume: bool, rejects: Rejects, predictions: Predictions
    ) -> None:
        config = self.config
        place = config.snapshots or "snapshots"
        self.store = SnapshotStore(config.snapshots or str(config.out / place), config.keep)
        _check_place(self._lock_file, config.out, place)
        snapshot = self._to_resume() if resume else None
        if not resume:
            self._begin()
        self.resumed_from = snapshot and snapshot.said["counts"]
        self.contestants = fresh if snapshot is None else self._restored(fresh, snapshot)
        self.loop = self._loop(snapshot, rejects, predictions)
        marks = {} if snapshot is None else snapshot.said["journals"]
        try:
            for name, outlet in self._outlets.items():
                outlet.begin(marks.get(name, 0))
            self.store.prepare()
        except (OSError, ValueError) as error:
            raise WriteError(f"{config.out}: {error}") from error
        self.keeper = Keeper(
            self.loop,
            self.store,
            self._outlets,
            self._settings(),
            config.snapshot_events,
            config.snapshot_seconds,
            self.asked,
        )
        self.seconds = 0.0
        self._first: tuple[int, float] | None = None
        self._records_before = self.loop.counts.records

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files, and let others write to the folder."""
        for outlet in self._outlets.values():
            outlet.close()
        self._lock_file.close()

    # Beginning, and going on ----------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        shown = self.config.shown()
        return {name: shown.get(name) for name in self.config.fixed}

    def _begin(self) -> None:
        """Nothing is gone on with, and nothing that was learned is written over."""
        if self.store.latest() is not None:
            if self._holds_something():
                raise ConfigError(
                    f"{self.config.out} holds a run: go on with --resume, or give another folder with --out"
                )
            self.store.clear()

    def _to_resume(self) -> Snapshot | None:
        """The snapshot to go on from; None for a run that begins."""
        config = self.config
        if self.foreign:
            raise ConfigError(
                f"a run with {self.foreign[0]} cannot be resumed; begin it in another folder"
            )
        snapshot = newest_sound(self.store, config.damaged == "older", self._warn)
        if snapshot is None:
            self._warn(f"there is no snapshot in {self.store.url} yet: beginning at the beginning")
            return None
        if "settings" not in snapshot.said:
            raise ConfigError(f"what is in {self.store.url} is of no run")
        before, now = snapshot.said["settings"], self._settings()
        for name in config.fixed:
            if before.get(name) != now[name]:
                raise ConfigError(
                    f"the run in {config.out} has {name.replace('_', '-')} {before.get(name)!r}, now "
                    f"{now[name]!r} is given: what was learned depends on it, so give it as before"
                )
        return snapshot

    def _holds_something(self) -> bool:
        """Whether the run before took any event; one that failed from the beginning may be begun again."""
        try:
            snapshot = newest_sound(self.store, False, self._warn)
        except SnapshotError:
            return True
        counts = {} if snapshot is None else snapshot.said.get("counts", {"learned": 1})
        return any(counts.get(name) for name in ("learned", "requests"))

    def _restored(self, fresh: list[Contestant], snapshot: Snapshot) -> list[Contestant]:
        return [
            contestant_of(each.name, learner_in(snapshot, each.name), self.config.n_ranks)
            for each in fresh
        ]

    def _loop(self, snapshot: Snapshot | None, rejects: Rejects, predictions: Predictions) -> Loop:
        config = self.config
        limits = limits_of(
            self.contestants, config.n_ranks, config.max_features, delayed=config.delay > 0
        )
        between, pace = self._times()
        loop = Loop(
            self.contestants,
            Decoder(limits, [] if snapshot is None else snapshot.said["features"]),
            Scoreboard(self.contestants, config.n_ranks, config.window),
            rejects,
            predictions,
            WaitingRoom(config.delay) if config.delay else None,
            between,
            pace,
            config.max_events,
        )
        if snapshot is not None:
            restore(loop, snapshot)
        return loop

    def _times(self) -> tuple[tuple[int, int] | None, Pace | None]:
        """The times of the events that are wanted, and the pace at which they come."""
        return None, None

    # What is to be seen ---------------------------------------------------------------------

    def passed(self, seconds: float) -> None:
        """Note how long the run has gone on."""
        self.seconds = seconds
        if self._first is None and self.loop.counts.records > self._records_before:
            self._first = self.loop.counts.records, seconds

    @property
    def rate(self) -> float:
        """Records a second, behind the first portion, for which a machine's first run compiles the engine."""
        if self._first is None:
            return 0.0
        records, seconds = self._first
        fresh = self.loop.counts.records - records
        return fresh / (self.seconds - seconds) if fresh else 0.0

    def summary(self) -> dict[str, Any]:
        """What `summary.json` says, and the daemon's `/status`."""
        counts, waiting = self.loop.counts, self.loop.waiting
        learners = {}
        for each in self.contestants:
            board = self.loop.scoreboard.boards[each.name].summary()
            state = each.state()
            learners[each.name] = {
                **board,
                "state_sha256": None if state is None else digest_of(*state),
            }
        return {
            "version": stream_rank.__version__,
            "events": counts.records,
            **counts.as_dict(),
            "waiting": 0 if waiting is None else len(waiting),
            "dropped": 0 if waiting is None else waiting.dropped,
            "features": self.loop.names_met,
            "time": None if self.loop.time is None else written(self.loop.time),
            "position": json.loads(json.dumps(self.loop.position, sort_keys=True)),
            "learners": learners,
            "seconds": round(self.seconds, 3),
            "events_per_second": round(self.rate) or None,
            "resumed_after": self.resumed_from and sum(self.resumed_from.values()),
            "settings": self.config.shown(),
        }
