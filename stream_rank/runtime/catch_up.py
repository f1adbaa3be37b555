"""Learners that are to join a run learn beside it what the topics still hold, and join where it is."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from stream_rank.checkpoint.stateful import Stateful
from stream_rank.codec.decoder import Decoder
from stream_rank.config.daemon import DaemonConfig
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.limits import limits_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.contestants.room import room_for
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.kafka.bounded_consumer import BoundedConsumer
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import Consumer, Partition, ResolveOffsets
from stream_rank.ingest.kafka.quarantine import Skip
from stream_rank.ingest.kafka.topic_source import TopicSource
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.sink import NullSink

__all__ = ["CatchUp"]

_NEAR = 5_000
"""Messages behind, from which on the run waits until the learners are where it is: a fraction of a second."""
_SHARE = 0.5
"""The share of the time in which a catch-up learns; the rest is left to the run beside it."""
_LOOK_SECONDS, _PATIENCE = 0.01, 5.0
"""Seconds between two looks whether they are there, and for which the run waits."""
_CLOSE_SECONDS = 1.0


class CatchUp:
    """Learns in a thread of its own from the first messages that are there, up to where the run is.

    With one partition that still has all messages, each learner and its stages are then, to the bit, what they would be had they
    ridden from the beginning. Several partitions are read in another order than the run read them.
    """

    def __init__(
        self,
        config: DaemonConfig,
        names: Sequence[str],
        consumer: Callable[[ResolveOffsets], Consumer],
        position: Offsets,
        say: Callable[[str], object],
    ) -> None:
        """`consumer` makes one that belongs to no group; `position` is where the run is, with what it has passed over."""
        self.names = list(names)
        preparations = Preparations()
        settings = config.n_ranks, config.seed, config.preparation
        imports = config.allow_imports
        every = contestants_of(config.learners, *settings, None, imports)  # for shared limits
        self._contestants = contestants_of(self.names, *settings, preparations, imports)
        room = room_for(every, config.max_features, config.learner_memory_limit)
        for each in (*every, *self._contestants):
            each.bound(room.max_features)
        limits = limits_of(
            every,
            config.n_ranks,
            config.max_features,
            delayed=config.delay > 0,
            ranking_pairs=config.ranking_pairs,
            min_count=config.min_count,
            expire_after=config.expire_after or None,
            max_new_features=config.max_new_features,
        )
        self.parts: list[Stateful] = [*preparations.memories]
        self.parts += [each.state for each in self._contestants if each.state is not None]

        def bounded(resolve: ResolveOffsets) -> BoundedConsumer:
            self._consumer = BoundedConsumer(consumer(resolve))
            return self._consumer

        passed = {each.skip for each in position.passed.values()} | set(config.skip)
        self._source = TopicSource(
            *(config.topics, bounded, Backoff("catching up: Kafka", say)),
            on_lost_offsets="earliest",  # what is deleted meanwhile is no longer retained
            skips=[Skip.of(each) for each in sorted(passed)],
            values=config.values(),
        )
        self._progress = Progress(self._source.position_from)
        self._loop = Loop(
            self._contestants,
            Decoder(limits, form=config.form(), say=lambda _: None),
            [WaitingRoom(config.delay)] if config.delay else [],
            Scoreboard(self._contestants, config.n_ranks, config.window),
            self._progress,
            NullSink(),
            NullSink(),
        )
        self._stopped = self._there = False
        self._lock = threading.Lock()
        self._target: dict[Partition, int] | None = None
        self._failed: BaseException | None = None
        self.follow(position)
        self._thread = threading.Thread(target=self._run, name="catching up", daemon=True)
        self._thread.start()

    def follow(self, position: Offsets) -> None:
        """Learn up to here, where the run is now."""
        self._consumer.bounds = dict(position)

    @property
    def near(self) -> bool:
        """Whether the run may wait for the rest."""
        if self._failed is not None:
            raise self._failed
        learned: Any = self._progress.position
        if learned is None:
            return False
        bounds = self._consumer.bounds
        behind = sum(max(0, bound - learned.get(p, 0)) for p, bound in bounds.items())
        return bool(behind <= _NEAR)

    def join(self, position: Offsets, go_on: Callable[[], bool]) -> list[Stateful] | None:
        """Learn up to exactly this position, and end; returns the states of the learners.

        Returns None if that takes too long, or `go_on` says no, which is asked again and again: then it goes on as before.
        """
        until = time.monotonic() + _PATIENCE
        self.follow(position)
        self._target = dict(position)
        while self._thread.is_alive():
            self._thread.join(_LOOK_SECONDS)
            if not go_on() or time.monotonic() > until:
                with self._lock:
                    if not self._there:
                        self._target = None
                        return None
        if self._failed is not None:
            raise self._failed
        return self.parts

    def _run(self) -> None:
        try:
            for chunk in self._source.chunks(None):
                begin = time.monotonic()
                if chunk is not None:
                    for _ in self._loop.take(chunk):
                        pass
                if self._stopped or self._is_there():
                    return
                if self._target is None:
                    time.sleep((time.monotonic() - begin) * (1 - _SHARE) / _SHARE)
        except BaseException as error:  # told on the thread of the run
            self._failed = error
        finally:
            self._source.close(_CLOSE_SECONDS)

    def _is_there(self) -> bool:
        """Whether all is learned up to the target, if there is one."""
        learned: Any = self._progress.position or {}
        with self._lock:
            self._there = self._target is not None and self._consumer.is_at(self._target, learned)
            return self._there

    def close(self) -> None:
        """Give up."""
        self._stopped = True
        self._thread.join()
