"""Composition of a learning run from settings, for the replay and the daemon."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from stream_rank.checkpoint.checkpointer import Checkpointer
from stream_rank.checkpoint.resuming import newest_sound, patiently
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.config.run import RunConfig
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.preparations import Chain, Preparations
from stream_rank.contestants.room import Room
from stream_rank.engine.jit import cold
from stream_rank.errors import ConfigError, SnapshotError, SnapshotReadError, WriteError, cause_of
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.source import Source
from stream_rank.pipeline.event_limit import EventLimit
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.run_control import RunControl
from stream_rank.pipeline.stage import Stage
from stream_rank.pipeline.time_filter import TimeFilter
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.runtime.beginning import begin_with
from stream_rank.runtime.changes import (
    chains_before,
    check_settings,
    kept_settings,
    late_learners,
    learners_before,
    members_before,
    tell_of_learners,
)
from stream_rank.runtime.composition import compose
from stream_rank.runtime.rate import Rate
from stream_rank.runtime.run_place import RunPlace
from stream_rank.runtime.warmth import COLD
from stream_rank.sinks.sink import Prediction, Rejected, Sink

__all__ = ["LearningRun", "contestants_in", "open_run"]


@dataclass(frozen=True)
class LearningRun:
    """The parts of a run, new or resumed. The replay or the daemon drives `loop` and `checkpointer`."""

    config: RunConfig
    place: RunPlace
    control: RunControl
    late: Sequence[str]
    """Learners that are to join once they have caught up."""
    preparations: Preparations
    progress: Progress
    scoreboard: Scoreboard
    waiting: WaitingRoom | None
    limit: EventLimit | None
    time_filter: TimeFilter | None
    loop: Loop
    sinks: dict[str, Sink[Any]]
    checkpointer: Checkpointer
    rate: Rate
    room: Room
    resumed_after: int | None
    """Records before the snapshot, if the run was resumed."""
    crew: ThreadPoolExecutor | None = None
    """The threads on which learners learn at the same time."""

    @property
    def store(self) -> SnapshotStore:
        """The snapshots."""
        return self.place.store

    @property
    def contestants(self) -> Sequence[Contestant]:
        """The learners that ride, the champion first."""
        return self.loop.contestants

    @property
    def ended(self) -> bool:
        """Whether `max_events` is reached."""
        return self.limit is not None and self.limit.reached

    @property
    def not_kept(self) -> list[str]:
        """The learners that cannot be saved in snapshots."""
        return [each.name for each in self.contestants if each.state is None]

    def leave(self, names: Sequence[str]) -> None:
        """Go on without some of the learners, between two events; stages before them go on."""
        before = [each.name for each in self.contestants]
        gone = [each for each in self.contestants if each.name in names]
        left = [each for each in self.contestants if each.name not in names]
        self.loop.join(left)
        self.scoreboard.leave(names)
        if self.waiting is not None:
            self.waiting.seat(before, [each.name for each in left])
        keys = [each.state.key for each in gone if each.state is not None]
        self.checkpointer.leave(keys, kept_settings(self.config, left))

    def close(self) -> None:
        """Close all sinks, and leave the place to others, after some seconds for a snapshot that is being written."""
        self.checkpointer.close()
        if self.crew is not None:
            self.crew.shutdown()
        for sink in self.sinks.values():
            sink.close()
        self.place.close()


def open_run(
    config: RunConfig,
    source: Source,
    rejects: Sink[Rejected],
    predictions: Sink[Prediction],
    say: Callable[[str], object],
    *,
    resume: bool,
    contestants: Sequence[Contestant] | None = None,
    time_filter: TimeFilter | None = None,
    stages: Sequence[Stage] = (),
    last_stages: Sequence[Stage] = (),
    control: RunControl | None = None,
    commit_offsets: Callable[[Any], None] = lambda _: None,
    catches_up: bool = False,
    store_backoff: Backoff | None = None,
    learner_threads: int = 1,
    place: RunPlace | None = None,
) -> LearningRun:
    """Start a run, or resume it; without a snapshot, it starts at the beginning.

    Parameters
    ----------
    contestants
        Used instead of those in the settings.
    stages
        Stages after the time filter, before the event limit and before late labels are joined. The `Stateful` ones
        are kept in snapshots.
    last_stages
        Stages behind all others, which see events as they are learned.
    commit_offsets
        Called with the position after every written snapshot.
    catches_up
        Whether learners that the snapshot has not are left to whoever has them catch up; there is room for them.
    store_backoff
        If given, a store that cannot be reached at the start is waited for, up to a minute.
    learner_threads
        So many learners learn at the same time, of the same events: what each becomes is the same.
    place
        Where the run is kept, if it is open already.
    """
    sinks: dict[str, Sink[Any]] = {"rejects": rejects, "predictions": predictions}
    crew = None if learner_threads == 1 else ThreadPoolExecutor(learner_threads, "learners")
    asked = contestants_in(config, config.learners) if contestants is None else contestants
    if cold():
        say(COLD)
    place = place or RunPlace(config, say)
    try:
        control = control or RunControl()
        snapshot = _to_resume(config, place, asked, say, control, store_backoff) if resume else None
        if not resume:
            place.lead(lambda: control.stop_requested)
            _clear_empty_run(config, place.store, say)
        late: list[str] = []
        members = {} if snapshot is None else members_before(snapshot)
        if members and contestants is None:
            asked = contestants_in(config, config.learners, members=members)
        if snapshot is not None:
            before, now = learners_before(snapshot), [each.name for each in asked]
            late = late_learners(now, before) if catches_up else []
            tell_of_learners(before, now, late, say)
        preparations = Preparations()
        if contestants is None:
            riding = [each.name for each in asked if each.name not in late]
            chains = {} if snapshot is None else chains_before(snapshot)
            contestants = contestants_in(config, riding, preparations, chains, members)
        progress = Progress(source.position_from)
        composed = compose(
            *(config, contestants, preparations, progress, rejects, predictions),
            asked=asked,
            time_filter=time_filter,
            stages=stages,
            last_stages=last_stages,
            crew=crew,
            say=say,
        )
        loop, waiting, room = composed.loop, composed.waiting, composed.room
        index = loop.decoder.index
        checkpointer = Checkpointer(
            composed.parts,
            sinks,
            place.store,
            progress,
            commit_offsets,
            kept_settings(config, contestants),
            config.snapshot_events,
            config.snapshot_seconds,
            control,
            timed=lambda: loop.stopwatch.stage("snapshotting"),
            folder=place.folder.id,
        )
        try:
            checkpointer.restore(snapshot, composed.may_be_new)
            if snapshot is not None:
                before = learners_before(snapshot)
                _check_together(waiting, len(index), len(before))
                if waiting is not None:
                    waiting.seat(before, [each.name for each in contestants])
                _check_newcomers(asked, before, len(index))
            elif config.begin_with is not None:
                most = min(config.max_features, room.max_features)
                given = contestants, preparations, index, most, config.labels
                begin_with(config.begin_with, *given)
            place.store.prepare()
        except OSError as error:
            raise WriteError(cause_of(error, config.out)) from error
    except BaseException:
        for sink in sinks.values():
            sink.close()
        place.close()
        raise
    place.known.clear()
    resumed_after = None if snapshot is None else progress.counts.records
    return LearningRun(
        *(config, place, control, late, preparations, progress, composed.scoreboard, waiting),
        *(composed.limit, time_filter, loop, sinks, checkpointer),
        *(Rate(progress.counts.records), room, resumed_after, crew),
    )


def _check_together(waiting: WaitingRoom | None, n_features: int, n_learners: int) -> None:
    """Raise a `SnapshotError` if parts that were restored by themselves do not fit together."""
    try:
        if waiting is not None:
            waiting.check(n_features, n_learners)
    except ValueError as error:
        raise SnapshotError(f"the snapshot's parts do not fit together: {error}") from None


def contestants_in(
    config: RunConfig,
    names: list[str],
    preparations: Preparations | None = None,
    chains: Mapping[str, Chain] | None = None,
    members: Mapping[str, Sequence[str]] | None = None,
) -> list[Contestant]:
    """These learners, as the settings have them; committees that learned before with the `members` that they had."""
    given = config.n_ranks, config.seed, config.preparation
    return contestants_of(names, *given, preparations, config.allow_imports, chains, members)


def _check_newcomers(asked: Sequence[Contestant], before: Sequence[str], known: int) -> None:
    """Raise a `ConfigError` if a learner cannot join that was not there before: so many features are known."""
    for each in asked:
        if each.name not in before and not each.chain and known > each.limits.max_features:
            raise ConfigError(
                f"{each.name} takes at most {each.limits.max_features:,} features, and {known:,} are known: give it stages, "
                "which leave out those beyond, as in 'scale | ...', or let it join another run"
            )


def _clear_empty_run(config: RunConfig, store: SnapshotStore, say: Callable[[str], object]) -> None:
    """Refuse to overwrite a run; remove the snapshots of one that took no event."""
    if store.latest() is None:
        return
    if _has_events(store, say):
        raise ConfigError(
            f"{config.out} holds a run: go on with `resume`, or give another folder with `out`"
        )
    store.clear()


def _has_events(store: SnapshotStore, say: Callable[[str], object]) -> bool:
    """Whether the existing run took any event; one that failed before its first may be started again."""
    try:
        snapshot = newest_sound(store, False, say)
    except SnapshotReadError:
        raise
    except SnapshotError:
        return True
    if snapshot is None:
        return False
    counts = snapshot.metadata["parts"].get(Progress.key, {}).get("counts", {"learned": 1})
    return any(counts.get(name) for name in ("learned", "requests"))


def _to_resume(
    config: RunConfig,
    place: RunPlace,
    contestants: Sequence[Contestant],
    say: Callable[[str], object],
    control: RunControl,
    backoff: Backoff | None,
) -> Snapshot | None:
    """The snapshot to resume from, which nobody moves any more, since we lead; None for a new run."""
    store = place.store
    for each in contestants:
        if each.state is None:
            raise ConfigError(
                f"a run with {each.name} cannot be resumed: it is not a learner of stream-rank, and is not saved in snapshots; "
                "start in another folder"
            )

    def find() -> Snapshot | None:
        place.lead(lambda: control.stop_requested)
        return newest_sound(store, config.on_corrupt_snapshot == "older", say, place.read)

    snapshot = (
        find() if backoff is None else patiently(find, backoff, lambda: control.stop_requested)
    )
    if snapshot is None:
        say(f"there is no snapshot in {store.url} yet: starting from the beginning")
        return None
    if not snapshot.metadata.get("settings"):
        raise ConfigError(f"the snapshot in {store.url} was not written by a run")
    check_settings(config, snapshot)
    return snapshot
