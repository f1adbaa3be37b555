"""A second run, of learners that are to join the first: they learn what the topics still have, up to a position."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.config.daemon import DaemonConfig
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.bounded_consumer import BoundedConsumer
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import Consumer, Partition, ResolveOffsets
from stream_rank.ingest.kafka.quarantine import Skip
from stream_rank.ingest.kafka.topic_source import TopicSource
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.sink import NullSink

__all__ = ["ReaderOf", "Study"]

ReaderOf = Callable[[Sequence[str], ResolveOffsets], Consumer]
"""Makes a consumer of topics that belongs to no group."""
_CLOSE_SECONDS = 1.0


class Study:
    """Learners, and all that it takes to learn: a decoder and a feature index, stages and a waiting room of their own.

    Every event is read, prepared and learned as the run does it, with the same limits. Rejects and predictions go nowhere: the run
    has sent them. What the settings pass over now is passed over, and what the run has passed over before.
    """

    def __init__(
        self,
        config: DaemonConfig,
        names: Sequence[str],
        limits: Limits,
        max_features: int,
        reader: ReaderOf,
        backoff: Backoff,
        say: Callable[[str], object],
    ) -> None:
        """`limits` are those of the run, and `max_features` is how many each of its learners may know; `backoff` says how long to
        wait while Kafka, or what values are read by, is away."""
        self._config, self._reader, self._backoff, self._say = config, reader, backoff, say
        self.preparations = Preparations()
        given = config.n_ranks, config.seed, config.preparation
        self.contestants = contestants_of(
            list(names), *given, self.preparations, config.allow_imports
        )
        for each in self.contestants:
            each.bound(max_features)
        self._progress = Progress(Offsets.from_json)
        self._loop = Loop(
            self.contestants,
            Decoder(limits, form=config.form()),
            [WaitingRoom(config.delay)] if config.delay else [],
            Scoreboard(self.contestants, config.n_ranks, config.window),
            self._progress,
            NullSink(),
            NullSink(),
        )
        self.index = self._loop.decoder.index
        self._values = config.values()
        self._mine: set[Partition] = set()

    @property
    def position(self) -> Any:
        """Where the learners are; None before the first message."""
        return self._progress.position

    @property
    def records(self) -> int:
        """How many records were learned, or found to be none."""
        return self._progress.counts.records

    def learn(self, chunk: Records) -> None:
        """Learn a chunk, the next one after the position."""
        for _ in self._loop.take(chunk):
            pass

    def read(self, target: Offsets) -> Iterator[bool]:
        """Learn what the topics have between the position and a target, and nothing from there on.

        Ends when all of it is learned; yields after every poll, whether there was anything to learn. Partitions that the target does
        not name were read by nobody, and those that it names of topics that are configured no more cannot be read: they are left out.
        """
        topics = sorted({partition.topic for partition in target} & set(self._config.topics))
        if not topics:
            return
        bounds = {at: offset for at, offset in target.items() if at.topic in topics}
        source = TopicSource(
            topics,
            lambda resolve: BoundedConsumer(partial(self._reader, topics), resolve, bounds),
            self._backoff,
            on_lost_offsets="earliest",  # what is deleted meanwhile is no longer there to be learned
            say=self._say,
            skips=_skips(self._config, target),
            values=self._values,
            values_backoff=self._backoff,
        )
        try:
            for chunk in source.chunks(self.position):
                if chunk is not None:
                    self.learn(chunk)
                yield chunk is not None and len(chunk) > 0
                assigned = source.assignment & bounds.keys()
                if source.assignment and self._is_past(bounds, assigned):
                    self._mine |= assigned
                    return
        finally:
            source.close(_CLOSE_SECONDS)

    def is_at(self, position: Offsets) -> bool:
        """Whether everything before a position was learned that can be, and nothing else."""
        learned = self.position or {}
        return all(learned.get(partition) == position.get(partition) for partition in self._mine)

    def _is_past(self, bounds: dict[Partition, int], partitions: frozenset[Partition]) -> bool:
        learned = self.position or {}
        return all(learned.get(each, -1) >= bounds[each] for each in partitions)


def _skips(config: DaemonConfig, target: Offsets) -> list[Skip]:
    """What the settings pass over now, and what the run has passed over that they do not name any more."""
    found = {each.text: each for each in config.skips()}
    for passed in target.passed.values():
        if passed.skip not in config.skip:
            skip = Skip.of(passed.skip)
            if skip.partition is not None:  # what came later was learned
                skip = skip._replace(first=passed.first, last=passed.last)
            found[passed.skip] = skip
    return list(found.values())
