"""One shard's run in memory: the parts of a run, fed with portions, its state as the bytes of a snapshot."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stream_rank.checkpoint.loading import load_parts
from stream_rank.checkpoint.model_file import open_snapshot
from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.checkpoint.stateful import Stateful
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.config.spark import ShardConfig
from stream_rank.contestants.preparations import Preparations
from stream_rank.errors import ConfigError, SnapshotError
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.pipeline.progress import Progress
from stream_rank.runtime.beginning import begin_with
from stream_rank.runtime.changes import WHY, kept_settings
from stream_rank.runtime.composition import compose
from stream_rank.runtime.learning_run import contestants_in
from stream_rank.sinks.sink import Prediction, Rejected
from stream_rank.spark.collected import Collected
from stream_rank.spark.portion import Portion

__all__ = ["Outcome", "Shard"]

_DECODERS = 4
"""As many decoders are kept, each of which knows other features."""


class Outcome(NamedTuple):
    """What a portion came to, beside the state."""

    records: int
    learned: int
    requests: int
    rejected: int
    skipped: int
    repeated: int
    """Records that were learned before, and were left out."""
    losses: Mapping[str, tuple[float, float]]
    """By learner, what its loss summed to, and over how many predictions or pairs of them."""
    rejects: Sequence[Rejected]
    predictions: Sequence[Prediction]

    def after(self, before: "Outcome") -> "Outcome":
        """What both came to, one after the other, without their rejects and predictions."""
        losses = dict(before.losses)
        for name, (total, terms) in self.losses.items():
            earlier = losses.get(name, (0.0, 0.0))
            losses[name] = earlier[0] + total, earlier[1] + terms
        return Outcome(
            self.records + before.records,
            self.learned + before.learned,
            self.requests + before.requests,
            self.rejected + before.rejected,
            self.skipped + before.skipped,
            self.repeated + before.repeated,
            *(losses, (), ()),
        )


def _offsets_in(snapshot: Snapshot) -> Offsets | None:
    """Where a daemon was in its topics; None of what was learned from files, or is an average."""
    if Progress.key not in snapshot.keys:
        return None
    position = snapshot.part(Progress.key).metadata["position"]
    try:
        return None if position is None else Offsets.from_json(position)
    except SnapshotError:
        return None


class Shard:
    """The run of one shard, or of many one after the other: `load` makes it the run of another.

    It is composed as a replay or a daemon is, and learns the same records to the same bits, however they are cut into portions,
    in whichever order the records of a portion come, and whichever come again.

    Cost: to make one takes some milliseconds; `load` and `dump` some tenths of one, and what it takes to copy the state.

    Examples
    --------
    >>> from stream_rank.ingest.kafka.port import Partition
    >>> shard = Shard(ShardConfig(learners=["raw | prank"], n_ranks=3))
    >>> portion = Portion.of(Partition("ratings", 0), [8, 7], [b'{"x": [1.0], "y": 1}', b'{"x": [2.0], "y": 9}'])
    >>> outcome = shard.take(portion)
    >>> outcome.learned, [(each.reason, each.place) for each in outcome.rejects]
    (1, [('label 9 is not one of the ranks 1..3', 'ratings[0]@7')])
    >>> other = Shard(ShardConfig(learners=["raw | prank"], n_ranks=3))
    >>> other.load(shard.dump())
    >>> other.take(portion).repeated
    2
    """

    def __init__(self, config: ShardConfig) -> None:
        self.config = config
        preparations = Preparations()
        self._contestants = contestants_in(config, config.learners, preparations)
        for each in self._contestants:
            if each.state is None:
                raise ConfigError(
                    f"{each.name} is not a learner of stream-rank, and has no state that Spark could keep"
                )
        self._rejects: Collected[Rejected] = Collected()
        self._predictions: Collected[Prediction] = Collected()
        self._progress = Progress(Offsets.from_json)
        self._composed = compose(
            *(config, self._contestants, preparations, self._progress),
            *(self._rejects, self._predictions),
            asked=self._contestants,
        )
        self._loop = self._composed.loop
        self._decoders = [self._loop.decoder]
        self._settings = {"by": config.by, **kept_settings(config, self._contestants)}
        self._blank, self._begun = self.dump(), False

    @property
    def position(self) -> Offsets:
        """The next offset of each partition that it has records of."""
        found = self._progress.position
        return found if isinstance(found, Offsets) else Offsets({})

    @property
    def scoreboards(self) -> dict[str, dict[str, Any]]:
        """The losses of each learner, by name."""
        boards = self._composed.scoreboard.boards
        return {name: board.summary() for name, board in boards.items()}

    @property
    def _loss_sums(self) -> dict[str, tuple[float, float]]:
        return {name: board.loss_sum for name, board in self._composed.scoreboard.boards.items()}

    def take(self, portion: Portion) -> Outcome:
        """Learn the records that it has not learned yet."""
        chunk, repeated = portion.after(self.position)
        before, sums = self._progress.counts.as_dict(), self._loss_sums
        for _ in self._loop.take(chunk):
            pass
        now = self._progress.counts.as_dict()
        more = {name: now[name] - before[name] for name in now}
        return Outcome(
            records=sum(more.values()),
            learned=more["learned"],
            requests=more["requests"] + more["labels"],
            rejected=more["rejects"],
            skipped=more["skipped"],
            repeated=repeated,
            losses={
                name: (total - sums[name][0], terms - sums[name][1])
                for name, (total, terms) in self._loss_sums.items()
            },
            rejects=self._rejects.taken(),
            predictions=self._predictions.taken(),
        )

    def dump(self) -> bytes:
        """Its whole state, as a snapshot."""
        states = {part.key: part.dump() for part in self._parts}
        return pack(Snapshot.of(states, settings=self._settings, sinks={}, folder=""))

    def load(self, content: bytes | None) -> None:
        """Go on from a state; without one, begin, as `begin_with` says if it is given.

        Raises
        ------
        ConfigError
            If it is the state of a run with other learners or settings.
        """
        if content is not None:
            self._restore(unpack(content))
            return
        self._restore(unpack(self._blank))
        if self.config.begin_with is not None and not self._begun:
            self._begin_with(self.config.begin_with)
            self._blank, self._begun = self.dump(), True

    def _begin_with(self, url: str) -> None:
        room = min(self.config.max_features, self._composed.room.max_features)
        given = self._contestants, self._composed.preparations, self._loop.decoder.index
        begin_with(url, *given, room, self.config.labels)
        self._progress.position = _offsets_in(open_snapshot(url))

    @property
    def _parts(self) -> list[Stateful]:
        index = self._loop.decoder.index
        return [index if isinstance(each, FeatureIndex) else each for each in self._composed.parts]

    def _restore(self, snapshot: Snapshot) -> None:
        self._check(snapshot)
        known = self._find_decoder(snapshot)
        load_parts([each for each in self._parts if each is not known], snapshot)
        waiting = self._composed.waiting
        if waiting is not None:
            try:
                waiting.check(len(self._loop.decoder.index), len(self._contestants))
            except ValueError as error:
                raise SnapshotError(f"the shard's parts do not fit together: {error}") from None
        self._loop.last_ratings = None
        self._rejects.taken(), self._predictions.taken()

    def _find_decoder(self, snapshot: Snapshot) -> FeatureIndex | None:
        """Have a decoder that knows the features of a state, and return its index; if a new one is needed, None.

        Decoders learn how records look, which costs a millisecond, and shards of one stream know the same features as a rule.
        """
        if FeatureIndex.key in snapshot.keys:
            state = snapshot.part(FeatureIndex.key)
            for decoder in self._decoders:
                if decoder.index.loads_again(state):
                    self._loop.decoder = decoder
                    return decoder.index
        self._loop.decoder = Decoder(self._loop.decoder.limits, form=self.config.form())
        self._decoders = [self._loop.decoder, *self._decoders][:_DECODERS]
        return None

    def _check(self, snapshot: Snapshot) -> None:
        """Raise a `ConfigError` if the state is not one of this configuration."""
        before = snapshot.metadata.get("settings")
        if not isinstance(before, dict):
            raise SnapshotError("the state of a shard was not written by a run")
        for name, now in self._settings.items():
            if before.get(name) != now:
                why = WHY.get(name, "it is what learned them")
                raise ConfigError(
                    f"the shards have `{name}` {json.dumps(before.get(name))}, now {json.dumps(now)} is given. It cannot change, since "
                    f"{why}: give it as before, or begin with another checkpoint"
                )
