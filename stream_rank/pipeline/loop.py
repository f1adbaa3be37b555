"""The one loop: decode, predict, learn, count."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import REJECTED_FOR, Batch, Reject
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.schema import Kind
from stream_rank.codec.timestamps import FIRST, LAST, NO_TIME
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import Columns, Position, Records
from stream_rank.learners.tables.rows import Rows
from stream_rank.pipeline.contestant import Contestant
from stream_rank.pipeline.counts import Counts
from stream_rank.pipeline.pace import Pace
from stream_rank.pipeline.stopwatch import Stopwatch
from stream_rank.pipeline.waiting_room import Waiter, WaitingRoom
from stream_rank.sinks.rejects import Rejects

__all__ = ["Loop", "Predictions"]

Array = npt.NDArray[Any]
Predictions = Callable[[Any, dict[str, float]], None]
"""Takes the id of a request, and what every learner predicted."""

_SKIPPED = -1
_SAMPLE = 64
"""Ratings that learners are looked at by: enough for a mean."""


class Loop:
    """Learns chunks: every event is predicted before it is learned, and that prediction is what counts.

    What is known after a chunk depends on the events alone, not on how they were cut into chunks.
    """

    def __init__(
        self,
        contestants: list[Contestant],
        decoder: Decoder,
        scoreboard: Scoreboard,
        rejects: Rejects,
        predictions: Predictions,
        waiting: WaitingRoom | None = None,
        between: tuple[int, int] | None = None,
        pace: Pace | None = None,
        max_events: int | None = None,
    ) -> None:
        self.contestants, self.decoder, self.scoreboard = contestants, decoder, scoreboard
        self.waiting = waiting
        self.counts = Counts()
        self.position: Position | None = None
        self.time: int | None = None
        self.names_met = len(decoder.known)
        """How many features were known after the last record that is done."""
        self.untimed = 0
        """Events that were left out because it is not known when they happened."""
        self.streak = self.longest_streak = 0
        """Rejects in a row: the last ones, and the most that there ever were."""
        self.rejected_for = dict.fromkeys(REJECTED_FOR, 0)
        """Rejects by what was wrong, since the loop was made."""
        self.stopwatch = Stopwatch([each.name for each in contestants])
        self.last_ratings: tuple[Rows, Array] | None = None
        """Some of the last ratings with their labels, as good as their batch is."""
        self._rejects, self._predictions = rejects, predictions
        self._between, self._pace = between, pace
        self._most = max_events

    @property
    def ended(self) -> bool:
        """Whether as many events were taken as were wanted."""
        return self._most is not None and self.counts.taken >= self._most

    def take(self, chunk: Records | Columns) -> Iterator[None]:
        """Learn the events of a chunk, as many of them as are wanted, in portions as they are due."""
        decoder = self.decoder
        with self.stopwatch.stage("decoding"):
            batch = decoder.records(chunk) if isinstance(chunk, Records) else decoder.columns(chunk)
        kinds = self._wanted(batch)
        end, enough = self._end(kinds)
        times = batch.times
        if self._between is not None:
            times = np.where(kinds == _SKIPPED, NO_TIME, times)
        portions = [end] if self._pace is None else self._pace.portions(times[:end])
        done, rejected = 0, 0
        for until in portions:
            if until == len(batch) and not enough:
                n_records, self.names_met = len(chunk), len(decoder.known)
            elif until > done:
                n_records = int(batch.records[until - 1]) + 1
                self.names_met = int(batch.rows.met[until - 1])
            else:
                yield
                continue
            rejects = [each for each in batch.rejects if rejected <= each.record < n_records]
            rejects += self._learn(batch, kinds, done, until, chunk)
            timed = np.flatnonzero(times[done:until] != NO_TIME)
            if len(timed):
                self.time = int(times[done + timed[-1]])
            self._put_rejects(rejects, chunk)
            self._count_streak(batch.records[done:until], rejects)
            rejected = n_records
            self.position = chunk.position_after(n_records)
            done = until
            yield

    def _wanted(self, batch: Batch) -> npt.NDArray[np.int8]:
        """The kinds of the events, `_SKIPPED` for those outside of the times that are asked for."""
        if self._between is None:
            return batch.kinds
        first, last = self._between
        untimed = batch.times == NO_TIME
        self.untimed += int((untimed & (batch.kinds != Kind.LABEL)).sum())
        # a label without a time goes with its features
        inside = (batch.times >= first) & (batch.times <= last) & ~untimed
        inside |= untimed & (batch.kinds == Kind.LABEL)
        return np.where(inside, batch.kinds, np.int8(_SKIPPED))

    def _end(self, kinds: npt.NDArray[np.int8]) -> tuple[int, bool]:
        """Where the events end that are still to be taken, and whether these are all that are wanted."""
        if self._most is None:
            return len(kinds), False
        left = self._most - self.counts.taken
        counted = np.cumsum((kinds != _SKIPPED) & (kinds != Kind.LABEL))
        if left <= 0:
            return 0, True
        if not len(kinds) or counted[-1] < left:
            return len(kinds), False
        return int(np.searchsorted(counted, left, "left")) + 1, True

    def _put_rejects(self, rejects: list[Reject], chunk: Records | Columns) -> None:
        """Hand on rejects in the order of their records."""
        for reject in sorted(rejects):
            self._rejects.put(reject, chunk)
            self.rejected_for[reject.kind] += 1
        self.counts.rejects += len(rejects)

    def _count_streak(self, events: Array, rejects: list[Reject]) -> None:
        """Note how many rejects came in a row, without an event between them."""
        wrong = [reject.record for reject in rejects]
        if wrong:  # labels that nobody waited for are among both
            events = np.setdiff1d(events, wrong, assume_unique=True)
        last = 0
        for before in np.searchsorted(events, wrong).tolist():
            self.streak = self.streak + 1 if before == last else 1
            self.longest_streak = max(self.longest_streak, self.streak)
            last = before
        if last < len(events):
            self.streak = 0

    # Portions of one kind -------------------------------------------------------------------

    def _learn(
        self,
        batch: Batch,
        kinds: npt.NDArray[np.int8],
        begin: int,
        end: int,
        chunk: Records | Columns,
    ) -> list[Reject]:
        """Learn some events, those of one kind at a time; the labels that nobody waited for."""
        rejects: list[Reject] = []
        changes = np.flatnonzero(np.diff(kinds[begin:end])) + begin + 1
        edges = [begin, *changes.tolist(), end]
        for first, last in pairwise(edges):
            if first == last:
                continue
            kind = int(kinds[first])
            if kind == _SKIPPED:
                self.counts.skipped += last - first
            elif kind == Kind.RATING:
                self._ratings(batch, first, last)
            else:
                with self.stopwatch.stage("learning"):
                    if kind == Kind.REQUEST:
                        self._requests(batch, first, last)
                    elif kind == Kind.PREFERENCE:
                        self._preferences(batch, first, last)
                    else:
                        rejects += self._labels(batch, first, last, chunk)
        return rejects

    def _groups(self, batch: Batch, first: int, last: int) -> list[Any] | None:
        return None if batch.groups is None else batch.groups[first:last]

    def _time_at(self, batch: Batch, place: int) -> int | None:
        time = int(batch.times[place])
        return time if FIRST <= time <= LAST else None

    def _ratings(self, batch: Batch, first: int, last: int) -> None:
        stopwatch = self.stopwatch
        while first < last:
            end = min(last, first + self.scoreboard.room)
            rows, labels = batch.rows.part(first, end), batch.labels[first:end]
            groups = self._groups(batch, first, end)
            found = {}
            with stopwatch.stage("learning"):
                for each in self.contestants:
                    with stopwatch.learner(each.name):
                        found[each.name] = each.test_then_train(rows, labels, groups)
            with stopwatch.stage("scoring"):
                self.scoreboard.count(labels, found, groups)
                self.counts.learned += end - first
                self.scoreboard.advance(end - first, self._time_at(batch, end - 1))
            some = max(first, end - _SAMPLE)
            self.last_ratings = batch.rows.part(some, end), batch.labels[some:end]
            first = end

    def _requests(self, batch: Batch, first: int, last: int) -> None:
        rows = batch.rows.part(first, last)
        strange = {
            event - first: batch.strange[event]
            for event in range(first, last)
            if event in batch.strange
        }
        found = np.stack([each.predict(rows, strange) for each in self.contestants])
        for place in range(last - first):
            name = batch.ids.get(first + place)
            if self.waiting is not None and name is not None:
                groups = self._groups(batch, first + place, first + place + 1)
                entries = slice(int(rows.first[place]), int(rows.last[place]))
                waiter = Waiter(
                    rows.slots[entries].copy(),
                    rows.values[entries].copy(),
                    found[:, place].copy(),
                    int(rows.met[place]),
                    None if groups is None else groups[0],
                )
                self.waiting.put(name, waiter)
            self._predictions(
                name,
                {each.name: float(found[i, place]) for i, each in enumerate(self.contestants)},
            )
        self.counts.requests += last - first

    def _preferences(self, batch: Batch, first: int, last: int) -> None:
        for place in range(first, last):
            preferred, other = batch.pairs[place]
            for each in self.contestants:
                ahead = each.prefer(preferred, other, float(batch.labels[place]))
                self.scoreboard.boards[each.name].count_pair(ahead)
            self.counts.learned += 1
            self.scoreboard.advance(1, self._time_at(batch, place))

    def _labels(
        self, batch: Batch, first: int, last: int, chunk: Records | Columns
    ) -> list[Reject]:
        """Learn the events that waited for these labels; the labels that nobody waited for."""
        rejects: list[Reject] = []
        assert self.waiting is not None  # the decoder rejects labels that nobody waits for
        for place in range(first, last):
            waiter = self.waiting.take(batch.ids[place])
            if waiter is None and self._between is not None and batch.times[place] == NO_TIME:
                self.counts.skipped += 1  # as its features were
                continue
            if waiter is None:
                record = int(batch.records[place])
                reason = f"id: no features wait under {batch.ids[place]!r}"
                if self.waiting.dropped:
                    reason += f"; {self.waiting.dropped:,} were dropped, since more may not wait"
                rejects.append(Reject(record, reason, chunk.raw(record), "unmatched"))
                continue
            count = np.array([len(waiter.slots)])
            rows = Rows(
                batch.rows.names,
                np.zeros(1, np.int64),
                count,
                waiter.slots,
                waiter.values,
                np.array([waiter.met]),
            )
            label = batch.labels[place : place + 1]
            told = enumerate(self.contestants)
            found = {each.name: waiter.predictions[i : i + 1] for i, each in told}
            self.scoreboard.count(label, found, [waiter.group])
            for each in self.contestants:
                each.learn(rows, label, [waiter.group])
            self.counts.requests -= 1
            self.counts.learned += 1
            self.counts.labels += 1
            self.last_ratings = rows, label
            self.scoreboard.advance(1, self._time_at(batch, place))
        return rejects
