"""What learns in a run, composed of its settings: the same for the replay, the daemon and each shard on Spark."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from stream_rank.checkpoint.stateful import Stateful
from stream_rank.codec.decoder import Decoder
from stream_rank.config.run import RunConfig
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.limits import limits_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.contestants.room import Room, room_for
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.pipeline.event_limit import EventLimit
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.stage import Stage
from stream_rank.pipeline.time_filter import TimeFilter
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.sink import Prediction, Rejected, Sink

__all__ = ["Composition", "compose"]


@dataclass(frozen=True)
class Composition:
    """The parts that learn. Whoever has them feeds the loop, and keeps the state of the parts."""

    preparations: Preparations
    scoreboard: Scoreboard
    waiting: WaitingRoom | None
    limit: EventLimit | None
    loop: Loop
    room: Room
    parts: Sequence[Stateful]
    """All that have state, in the order in which they are restored."""
    may_be_new: Collection[str]
    """The keys of those that a snapshot may lack: learners may join, and their stages."""


def compose(
    config: RunConfig,
    contestants: Sequence[Contestant],
    preparations: Preparations,
    progress: Progress,
    rejects: Sink[Rejected],
    predictions: Sink[Prediction],
    *,
    asked: Sequence[Contestant],
    time_filter: TimeFilter | None = None,
    stages: Sequence[Stage] = (),
    last_stages: Sequence[Stage] = (),
    crew: ThreadPoolExecutor | None = None,
    say: Callable[[str], object] | None = None,
) -> Composition:
    """The parts of a run of these contestants; `asked` are those and whoever joins later."""
    # by all that are asked for: when one joins that was late, the others go on as they did
    room = room_for(asked, config.max_features, config.learner_memory_limit)
    for each in (*asked, *contestants):
        each.bound(room.max_features)
    limits = limits_of(
        asked,
        config.n_ranks,
        config.max_features,
        delayed=config.delay > 0,
        ranking_pairs=config.ranking_pairs,
        min_count=config.min_count,
        expire_after=config.expire_after or None,
        max_new_features=config.max_new_features,
    )
    decoder = Decoder(limits, form=config.form(), say=say)
    scoreboard = Scoreboard(contestants, config.n_ranks, config.window)
    limit = EventLimit(config.max_events, progress) if config.max_events else None
    waiting = WaitingRoom(config.delay, time_filter is not None) if config.delay else None
    chosen: list[Stage | None] = [time_filter, *stages, limit, waiting, *last_stages]
    loop = Loop(
        contestants,
        decoder,
        [stage for stage in chosen if stage is not None],
        scoreboard,
        progress,
        rejects,
        predictions,
        map if crew is None else crew.map,
    )
    may_be_new = [*preparations.memories, *(each.state for each in contestants)]
    parts: list[Any] = [progress, decoder.index, scoreboard, loop.reject_counts.reasons]
    parts += [*loop.stages, *may_be_new]
    return Composition(
        *(preparations, scoreboard, waiting, limit, loop, room),
        [part for part in parts if isinstance(part, Stateful)],
        {each.key for each in may_be_new if each is not None},
    )
