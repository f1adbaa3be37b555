"""The loop of a run: decode, pass through stages, predict, learn, count."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import SEVERAL, SKIPPED, UNMATCHED, Batch
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.event import Kind
from stream_rank.contestants.contestant import Contestant
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import Chunk
from stream_rank.ingest.timestamps import FIRST, LAST, NO_TIME
from stream_rank.learners.tables.rows import Rows
from stream_rank.pipeline.counts import RejectCounts
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.stage import KeepsFeatures, Stage, through
from stream_rank.pipeline.stopwatch import Stopwatch
from stream_rank.sinks.sink import Prediction, Rejected, Sink

__all__ = ["Loop", "within"]

Array = npt.NDArray[Any]

_MOST_PREFERENCES = 1 << 16
"""As many preferences as are written out at a time, in columns of some megabytes."""
_MOST_SHARES = 1 << 19
"""As many probabilities of ranks as a learner gives at a time, in columns of some megabytes."""
_SAMPLE = 64
"""The number of recent ratings that `evaluation.probe` averages over."""


def within(batch: Batch, first: int, end: int) -> int:
    """The end of the events that are at most `_MOST_PREFERENCES` together, or the next one: rankings are many each."""
    while end - first > 1 and batch.n_preferences(first, end) > _MOST_PREFERENCES:
        end = first + (end - first) // 2
    return end


def _with_requests(batch: Batch, first: int, last: int, room: int) -> int:
    """The end of the events of which at most `room` are learned, all others being requests."""
    learned = np.flatnonzero(batch.kinds[first:last] != Kind.REQUEST)
    return last if len(learned) < room else first + int(learned[room - 1]) + 1


class Loop:
    """Learns chunks test-then-train: every event is predicted before it is learned, and that prediction is scored.

    The state after a chunk depends on the events and their order alone, not on how they were cut into chunks.
    """

    def __init__(
        self,
        contestants: Sequence[Contestant],
        decoder: Decoder,
        stages: Sequence[Stage],
        scoreboard: Scoreboard,
        progress: Progress,
        rejects: Sink[Rejected],
        predictions: Sink[Prediction],
        on_all: Callable[[Callable[[Contestant], Any], Sequence[Contestant]], Iterable[Any]] = map,
    ) -> None:
        """`on_all` calls a function with every learner, one after the other or at once, and gives on what it returns in their order."""
        self._on_all = on_all
        self.contestants, self.decoder, self.stages = contestants, decoder, stages
        self.scoreboard, self.progress = scoreboard, progress
        self._rejects, self._predictions = rejects, predictions
        self.reject_counts = RejectCounts()
        self.stopwatch = Stopwatch([each.name for each in contestants])
        self.last_ratings: tuple[Rows, Array] | None = None
        """At most `_SAMPLE` of the last ratings with their labels, as long as no feature gives its slot to another."""

    @property
    def _most(self) -> int:
        """As many events as learners that give probabilities predict at a time."""
        probable = any(each.gives_probabilities for each in self.contestants)
        ranks = (self.scoreboard.n_ranks or 1) if probable else 1
        return max(1, _MOST_SHARES // ranks)

    def _shares(self, count: int) -> dict[str, Array]:
        """Room for the probabilities that the scoreboard wants of so many events."""
        shape = count, self.scoreboard.n_ranks or 0
        return {name: np.empty(shape) for name in self.scoreboard.probable}

    def join(self, contestants: Sequence[Contestant]) -> None:
        """Go on with these, between two chunks; some are new, and have learned the events so far elsewhere."""
        known = [each.name for each in self.contestants]
        self.stopwatch.join([each.name for each in contestants if each.name not in known])
        self.contestants = contestants

    def take(self, chunk: Chunk) -> Iterator[None]:
        """Learn the events of a chunk part by part, yield after each part, and release the chunk at the end."""
        rest: Chunk | None = chunk
        try:
            while rest is not None:
                if len(rest):
                    self._exchange()
                with self.stopwatch.stage("decoding"):
                    batch, rest = self.decoder.decode_round(rest)
                for part in through(batch, self.stages):
                    self._learn(part)
                    self._rejects.push()
                    self._predictions.push()
                    yield
                if self.decoder.index.learned_records < batch.end_record:
                    break  # a stage has cut it off
        finally:
            chunk.release()

    def _exchange(self) -> None:
        """Have features give their slots to others, where it is time for it."""
        found = self.decoder.exchange()
        if found is None or not found[0]:
            return
        names, slots = found
        for each in self.contestants:
            each.exchange(names)
        for stage in self.stages:
            if isinstance(stage, KeepsFeatures):
                stage.forget(slots)
        self.last_ratings = None  # their slots have other names now

    def _learn(self, batch: Batch) -> None:
        """Learn a batch, one run of events of the same kind at a time, and record the position after it."""
        for kind, first, last in batch.runs():
            if kind == SKIPPED:
                self.progress.counts.skipped += last - first
            elif kind == Kind.REQUEST:
                with self.stopwatch.stage("learning"):
                    for begin in range(first, last, self._most):
                        self._requests(batch.events(begin, min(last, begin + self._most)))
            elif kind != UNMATCHED:
                self._learned(kind, batch, first, last)
        timed = np.flatnonzero(batch.times != NO_TIME)
        if len(timed):
            self.progress.time = int(batch.times[timed[-1]])
        self._put_rejects(batch)
        if batch.passes_records:
            self.progress.position = batch.chunk.position_after(batch.end_record)
            self.decoder.index.passed(batch)

    def _learned(self, kind: int, batch: Batch, first: int, last: int) -> None:
        """Learn a run, which is cut where a point of the learning curves is due."""
        learn = {
            Kind.RATING: self._ratings,
            Kind.PREFERENCE: self._preferences,
            Kind.LABEL: self._labels,
            SEVERAL: self._several,
        }[kind]
        while first < last:
            end = min(last, first + self.scoreboard.room, first + self._most)
            if kind == Kind.PREFERENCE:
                end = within(batch, first, end)
            elif kind == SEVERAL:
                end = _with_requests(
                    batch, first, min(last, first + self._most), self.scoreboard.room
                )
            learn(batch.events(first, end))
            learned = end - first
            if kind == SEVERAL:
                learned -= int((batch.kinds[first:end] == Kind.REQUEST).sum())
            self.progress.counts.learned += learned
            time = int(batch.times[end - 1])
            self.scoreboard.advance(learned, time if FIRST <= time <= LAST else None)
            first = end

    def _by_all(self, learn: Callable[[Contestant], Any]) -> dict[str, Any]:
        """Have all contestants learn, and measure how long each takes; what each returned, by its name."""

        def timed(each: Contestant) -> Any:
            with self.stopwatch.learner(each.name):
                return learn(each)

        found: dict[str, Any] = {}
        for voting in (False, True):  # so that a committee's time is not that of its members
            some = [each for each in self.contestants if bool(each.votes_of) == voting]
            found |= zip([each.name for each in some], self._on_all(timed, some), strict=True)
        return {each.name: found[each.name] for each in self.contestants}

    def _learn_some(self, each: Contestant, given: tuple[Any, ...]) -> Array:
        """Have a contestant predict and learn; one that orders items counts on the way what users liked next."""
        rows, labels, groups, asking, learning, shares = given
        watched = self.scoreboard.watched(each.name, asking)
        return each.learn_some(rows, labels, groups, asking, learning, shares, watched)

    def _ratings(self, batch: Batch) -> None:
        """Predict and learn ratings, each predicted before it is learned."""
        given = batch.rows, batch.labels, batch.groups
        everything, shares = np.ones(len(batch), np.bool_), self._shares(len(batch))

        def learn(each: Contestant) -> Array:
            if each.name not in shares:
                return each.test_then_train(*given)
            return self._learn_some(each, (*given, everything, everything, shares[each.name]))

        with self.stopwatch.stage("learning"):
            found = self._by_all(learn)
        with self.stopwatch.stage("scoring"):
            self.scoreboard.count(batch.labels, found, batch.groups, shares)
        self._sample(batch)

    def _preferences(self, batch: Batch) -> None:
        """Predict and learn preferences, each predicted before it is learned."""
        pairs = batch.preferences()
        with self.stopwatch.stage("learning"):
            found = self._by_all(lambda each: each.test_then_train_pairs(*pairs))
        with self.stopwatch.stage("scoring"):
            self.scoreboard.count_preferences(pairs[2], found)

    def _labels(self, batch: Batch) -> None:
        """Learn the events that labels came for; the predictions made when their features came are scored."""
        assert batch.earlier is not None  # without a waiting room every label is a reject
        assert batch.tickets is not None
        predictions = batch.earlier.recall(batch.tickets)
        found = {each.name: predictions[i] for i, each in enumerate(self.contestants)}
        with self.stopwatch.stage("learning"):
            self.scoreboard.count(batch.labels, found, batch.groups)
            self._by_all(lambda each: each.learn(batch.rows, batch.labels, batch.groups))
        # in this order: their sum is a counter, and is read by other threads
        self.progress.counts.labels += len(batch)
        self.progress.counts.requests -= len(batch)
        self._sample(batch)

    def _several(self, batch: Batch) -> None:
        """Predict and learn ratings, requests and labels in their order, at once."""
        kinds = batch.kinds
        requests, labels = kinds == Kind.REQUEST, kinds == Kind.LABEL
        with self.stopwatch.stage("learning"):
            given = batch.rows, batch.labels, batch.groups, ~labels, ~requests
            shares = self._shares(len(batch))
            by_name = self._by_all(
                lambda each: self._learn_some(each, (*given, shares.get(each.name)))
            )
            found = np.stack([*by_name.values()])
            if batch.earlier is not None and batch.tickets is not None:  # else there are no labels
                batch.earlier.note(batch.tickets[requests], found[:, requests])
                found[:, labels] = batch.earlier.recall(batch.tickets[labels])
        learned = np.flatnonzero(~requests)
        with self.stopwatch.stage("scoring"):
            groups = None if batch.groups is None else batch.groups[learned]
            scored = dict(zip(by_name, found[:, learned], strict=True))
            for each in shares.values():
                each[labels] = np.nan  # nobody asked now, and what was said then is not kept
            sure = {name: each[learned] for name, each in shares.items()}
            self.scoreboard.count(batch.labels[learned], scored, groups, sure)
        ids = None if batch.ids is None else batch.ids[requests]
        self._put_predictions(ids, found[:, requests])
        n_labels = int(labels.sum())
        # in this order: their sum is a counter, and is read by other threads
        self.progress.counts.requests += int(requests.sum())
        self.progress.counts.labels += n_labels
        self.progress.counts.requests -= n_labels
        if len(learned):
            last = learned[-_SAMPLE:]
            self.last_ratings = batch.rows.chosen(last).copied(), batch.labels[last]

    def _requests(self, batch: Batch) -> None:
        """Predict requests, and store the predictions of those with a ticket until their label comes."""
        found = np.stack(
            [each.predict(batch.rows, batch.unknown_features) for each in self.contestants]
        )
        if batch.earlier is not None and batch.tickets is not None:
            batch.earlier.note(batch.tickets, found)
        self._put_predictions(batch.ids, found)
        self.progress.counts.requests += len(batch)

    def _put_predictions(self, ids: Array | None, found: Array) -> None:
        """Put the predictions of requests (a row for each learner) into their sink."""
        names = [each.name for each in self.contestants]
        asked = [None] * found.shape[1] if ids is None else ids.tolist()
        predicted: list[list[Any]] = found.tolist()
        scale = self.decoder.form.labels
        if scale is not None:
            for row, each in enumerate(self.contestants):
                if each.predicts == "ranks":
                    predicted[row] = [scale.label_of(rank) for rank in predicted[row]]
        for name, values in zip(asked, zip(*predicted, strict=True), strict=True):
            self._predictions.put(Prediction(name, dict(zip(names, values, strict=True))))

    def _sample(self, batch: Batch) -> None:
        some = max(0, len(batch) - _SAMPLE)
        rows = batch.rows.part(some, len(batch)).copied()  # a batch ends with the next chunk
        self.last_ratings = rows, batch.labels[some:]

    def _put_rejects(self, batch: Batch) -> None:
        """Put the rejects of a batch into their sink, in the order of their records."""
        chunk = batch.chunk
        for reject in batch.rejects:
            origin = None if chunk.origin_of is None else chunk.origin_of(reject.record)
            place = chunk.place_of(reject.record)
            self._rejects.put(Rejected(reject.reason, reject.kind, place, reject.raw, origin))
        self.progress.counts.rejects += len(batch.rejects)
        self.reject_counts.count(batch)
