"""A replay: files through the loop, into a folder of results."""

import csv
import fcntl
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TextIO

import stream_rank
from stream_rank.config import ReplayConfig
from stream_rank.errors import (
    ConfigError,
    InputError,
    SnapshotError,
    TooManyRejectsError,
    WriteError,
)
from stream_rank.learner_spec import contestants_of
from stream_rank.stream.contestant import Contestant, Own, contestant_of, limits_of
from stream_rank.stream.decoder import Decoder
from stream_rank.stream.journal import Journal
from stream_rank.stream.keeper import Keeper, newest_sound, restore
from stream_rank.stream.loop import Loop
from stream_rank.stream.moment import FIRST, LAST, written
from stream_rank.stream.pace import Pace
from stream_rank.stream.rejects import RejectFile, RejectLimit
from stream_rank.stream.saving import learner_in, state_digest
from stream_rank.stream.scoreboard import Scoreboard
from stream_rank.stream.snapshot import Snapshot
from stream_rank.stream.sources.opening import open_source
from stream_rank.stream.store import SnapshotStore
from stream_rank.stream.waiting import WaitingRoom

__all__ = ["Replay"]

_JOURNALS = {"rejects": "rejects.jsonl", "predictions": "predictions.jsonl"}
_FIXED = (
    *("learners", "n_ranks", "seed", "delay", "window", "max_features"),
    *("from", "to", "columns", "format"),
)
"""Settings that a run cannot change when it is resumed, since what was learned depends on them."""


def _json(content: Any, indent: int | None = None) -> str:
    """JSON that others can read: numbers that are none are null."""
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
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise WriteError(f"{folder} cannot be written: {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ConfigError(f"another run is writing to {folder}") from None
    return file


class Replay:
    """One run: `run` goes through the inputs, `finish` writes what is to be seen."""

    def __init__(self, config: ReplayConfig, warn: Callable[[str], None]) -> None:
        self.config = config
        self.source = open_source(
            config.inputs, config.format, config.columns.mapping(), config.follow
        )
        self.stopping = False
        self._warn = warn
        fresh = contestants_of(config.learners, config.n_ranks, config.seed)
        self.foreign = [each.name for each in fresh if not isinstance(each, Own)]
        self._lock_file = _locked(config.out)
        try:
            self._open(fresh)
        except BaseException:
            self.close()
            raise

    def _open(self, fresh: list[Contestant]) -> None:
        config = self.config
        self._journals = {name: Journal(config.out / file) for name, file in _JOURNALS.items()}
        self.store = SnapshotStore(config.snapshots or str(config.out / "snapshots"), config.keep)
        snapshot = self._to_resume()
        self.resumed_from = snapshot and snapshot.said["counts"]
        self.contestants = fresh if snapshot is None else self._restored(fresh, snapshot)
        self.loop = self._loop(snapshot)
        marks = {} if snapshot is None else snapshot.said["journals"]
        try:
            for name, journal in self._journals.items():
                journal.begin(marks.get(name, 0))
            self.store.prepare()
        except (OSError, ValueError) as error:
            raise WriteError(f"{config.out}: {error}") from error
        self.keeper = Keeper(
            self.loop,
            self.store,
            self._journals,
            self._settings(),
            config.snapshot_events,
            config.snapshot_seconds,
        )
        self._limit = RejectLimit(config.max_reject_ratio)
        self.seconds = 0.0
        self._first: tuple[int, float] | None = None
        self._learned_before = self.loop.counts.records

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files, and let others write to the folder."""
        for journal in getattr(self, "_journals", {}).values():
            journal.close()
        self._lock_file.close()

    def _settings(self) -> dict[str, Any]:
        shown = self.config.shown()
        return {name: shown.get(name) for name in _FIXED}

    def _to_resume(self) -> Snapshot | None:
        """The snapshot to go on from; None for a run that begins."""
        config = self.config
        if not config.resume:
            if self.store.latest() is not None:
                if self._holds_something():
                    raise ConfigError(
                        f"{config.out} holds a run: go on with --resume, or give another folder with --out"
                    )
                self.store.clear()
            return None
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
        for name in _FIXED:
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

    def _loop(self, snapshot: Snapshot | None) -> Loop:
        config = self.config
        limits = limits_of(
            self.contestants, config.n_ranks, config.max_features, delayed=config.delay > 0
        )
        between = None
        if config.from_ is not None or config.to is not None:
            first = FIRST if config.from_ is None else config.from_
            between = (first, LAST if config.to is None else config.to)
        loop = Loop(
            self.contestants,
            Decoder(limits, [] if snapshot is None else snapshot.said["features"]),
            Scoreboard(self.contestants, config.n_ranks, config.window),
            RejectFile(self._journals["rejects"]),
            self._predicted,
            WaitingRoom(config.delay) if config.delay else None,
            between,
            None if config.speed is None else Pace(config.speed),
            config.max_events,
        )
        if snapshot is not None:
            restore(loop, snapshot)
        return loop

    def _predicted(self, name: Any, predictions: dict[str, float]) -> None:
        known = {key: value if math.isfinite(value) else None for key, value in predictions.items()}
        line = {"id": name, "predictions": known}
        self._journals["predictions"].write(_json(line).encode())

    # Running --------------------------------------------------------------------------------

    def run(self, show: Callable[[], None] = lambda: None) -> None:
        """Go through the inputs, until their end or until somebody wants to stop."""
        loop, start = self.loop, time.monotonic()
        try:
            for _ in self._steps():
                self.keeper.tick()
                self.seconds = time.monotonic() - start
                if self._first is None and loop.counts.records > self._learned_before:
                    self._first = loop.counts.records, self.seconds
                show()
                if self.stopping or loop.ended:
                    break
            self.keeper.write()
            self._check_rejects(ended=True)
            self._check_times()
        except InputError:
            self.keeper.write()  # what was learned so far is not lost
            raise
        except OSError as error:
            raise WriteError(
                f"{self.config.out} cannot be written: {error}; free some space and go on with --resume"
            ) from error
        finally:
            self.seconds = time.monotonic() - start

    def _steps(self) -> Iterator[None]:
        """Learn, coming up for air after every portion, and when nothing came for a moment."""
        if self.loop.ended:
            return
        for chunk in self.source.chunks(self.loop.position):
            if chunk is None:
                yield
                continue
            for _ in self.loop.take(chunk):
                self._check_rejects()
                yield

    def _check_times(self) -> None:
        """Say so if times were asked for that no event has."""
        counts = self.loop.counts
        if counts.skipped and not counts.taken:
            self._warn(f"none of {counts.skipped:,} events has a time (ts) between --from and --to")

    def _check_rejects(self, ended: bool = False) -> None:
        counts = self.loop.counts
        if self._limit.exceeded(counts.rejects, counts.records, ended):
            self.keeper.write()
            raise TooManyRejectsError(
                f"{counts.rejects:,} of {counts.records:,} records were rejected, more than "
                f"--max-reject-ratio {self._limit.ratio:g} allows; see {self._journals['rejects'].path}"
            )
        if ended and counts.rejects and not counts.taken and not counts.skipped:
            raise TooManyRejectsError(
                f"not one of {counts.records:,} records was an event; the first: {self._first_reason()} "
                f"(all of them: {self._journals['rejects'].path})"
            )

    def _first_reason(self) -> str:
        with self._journals["rejects"].path.open("rb") as file:
            return str(json.loads(file.readline())["reason"])

    @property
    def rate(self) -> float:
        """Records a second, behind the first portion, for which a machine's first run compiles the engine."""
        if self._first is None:
            return 0.0
        records, seconds = self._first
        fresh = self.loop.counts.records - records
        return fresh / (self.seconds - seconds) if fresh else 0.0

    # What is to be seen ---------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """What `summary.json` says."""
        counts, waiting = self.loop.counts, self.loop.waiting
        learners = {}
        for each in self.contestants:
            board = self.loop.scoreboard.boards[each.name].summary()
            own = isinstance(each, Own)
            learners[each.name] = {
                **board,
                "state_sha256": state_digest(each.model) if own else None,
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

    def finish(self) -> dict[str, Any]:
        """Write the curve, the report and the summary; the summary."""
        from stream_rank.report.html import report  # not needed while it runs

        self.loop.scoreboard.mark(self.loop.time)
        summary, out = self.summary(), self.config.out
        try:
            with (out / "curve.csv").open("w", newline="") as file:
                table = csv.writer(file)
                table.writerow(["learner", "events", "time", "loss", "recent_loss"])
                for name, board in self.loop.scoreboard.boards.items():
                    for point in board.points:
                        moment = "" if point["time"] is None else written(point["time"])
                        table.writerow(
                            [name, point["events"], moment, point["loss"], point["recent"]]
                        )
            (out / "summary.json").write_text(_json(summary, indent=2) + "\n")
            page = report(summary, self.loop.scoreboard)
            (out / "report.html").write_bytes(page.encode(errors="replace"))
        except OSError as error:
            raise WriteError(f"{out} cannot be written: {error}") from error
        return summary
