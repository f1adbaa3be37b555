"""The observer, which collects the values of all metrics from a run."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

import stream_rank
from stream_rank.checkpoint.checkpointer import Checkpointer
from stream_rank.checkpoint.lease import Lease
from stream_rank.codec.batch import REJECTED_FOR
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.preference_board import PreferenceBoard
from stream_rank.evaluation.probe import Probe, probe
from stream_rank.ingest.kafka.port import LONGEST_SILENCE_SECONDS, Partition
from stream_rank.ingest.kafka.topic_source import TopicSource
from stream_rank.monitoring.arrivals import Arrivals
from stream_rank.monitoring.baseline_readings import BaselineReadings
from stream_rank.monitoring.exporter import Readings
from stream_rank.monitoring.throttle import Throttle
from stream_rank.pipeline.counts import Counts
from stream_rank.pipeline.histogram import Histogram
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.topic_sink import TopicSink

__all__ = ["Observer"]

_PERIOD = 1.0
"""Seconds between two readings of what only the loop may read: shorter than any scrape interval."""
_AWAY = 5.0
"""Seconds of a broker's silence in which nothing could come: members of a group hear of it more often."""
_MOST_RANKS = 20
"""The most ranks for which every pair and every threshold is a time series: 400 series per learner are enough."""
_RECORDS = tuple(4.0**power for power in range(11))
"""Histogram bounds for the records of a chunk, from one to a million."""
_LATENCIES = (0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0, 60.0, 600.0, 3600.0, 86400.0)
"""Histogram bounds for the latency in seconds: milliseconds without lag, days with a backlog."""

Values = dict[tuple[str, ...], float | Histogram | None]


class Attempts(Protocol):
    """What is tried again if it fails."""

    @property
    def failures(self) -> int:
        """Failed attempts so far."""

    @property
    def active(self) -> bool:
        """Whether the last one failed."""


class Observer:
    """Reads metrics from a run. The loop calls `turned` between chunks; any thread may call `readings`.

    Counters start at 0 with the process, whatever the run had counted before: restored from a snapshot, they would fall a
    little, and Prometheus would take that for a reset to 0 and add the whole value again.
    """

    def __init__(
        self,
        loop: Loop,
        checkpointer: Checkpointer,
        waiting: WaitingRoom | None,
        topic_sinks: Mapping[str, TopicSink[Any]],
        source: TopicSource,
        client: str,
        snapshot_seconds: float | None,
        resumed_after: int,
        attempts: Mapping[str, Attempts],
        client_warnings: Callable[[], int],
        lease: Lease,
    ) -> None:
        """`topic_sinks` by metric; `attempts` by operation."""
        self._loop, self._checkpointer, self._waiting = loop, checkpointer, waiting
        self._topic_sinks, self._source = topic_sinks, source
        self._client, self._interval = client, snapshot_seconds
        self._resumed_after = resumed_after
        self._attempts, self._client_warnings = attempts, client_warnings
        self._lease = lease
        self._counts_before = _outcomes(loop.progress.counts)
        self._dropped_before = loop.decoder.index.admission.dropped
        self._expired_before = loop.decoder.index.admission.expiry.expired
        self._boards_before: dict[str, tuple[float, float, int, Any]] = {}
        self._preferences_before: dict[str, tuple[int, float]] = {}
        self._updates_before: dict[str, float] = {}
        self._learns_preferences: dict[str, bool] = {}
        self._know()
        self._baselines = BaselineReadings(loop.scoreboard, any(self._learns_preferences.values()))
        self._turned = time.monotonic()
        self._arrivals = Arrivals()
        self._looks, self._probings = Throttle(_PERIOD), Throttle(_PERIOD)
        self._probes: dict[str, Probe] = {}
        self._chunks, self._latency = Histogram(_RECORDS), Histogram(_LATENCIES)
        self._lag: dict[Partition, int] = {}
        self._looked: dict[str, Values] = {}

    def _know(self) -> None:
        """Have the counters of the learners begin that are new."""
        boards = self._loop.scoreboard.boards
        for each in self._loop.contestants:
            if each.name not in self._boards_before:
                self._boards_before[each.name] = _sums(boards[each.name])
                self._preferences_before[each.name] = _preference_sums(
                    boards[each.name].preferences
                )
                self._updates_before[each.name] = each.insight(None).updates or 0
                self._learns_preferences[each.name] = each.learns_preferences

    # Called by the loop --------------------------------------------------------------------

    def joined(self) -> None:
        """Learners have joined the loop."""
        self._know()
        self._probe()

    def turned(self) -> None:
        """Record an iteration of the loop, and read what only the loop may read, if it is due."""
        self._turned = time.monotonic()
        self._probings.run(self._probe)
        self._looks.run(self._look)

    def learned(self, records: int, timestamp: int) -> None:
        """Record a learned chunk, and the timestamp of its first message in milliseconds, -1 if it has none."""
        self._chunks.add(records)
        self._arrivals.came()
        if timestamp > 0:
            self._latency.add(max(0.0, time.time() - timestamp / 1000))

    @property
    def tick_age(self) -> float:
        """Seconds since the last iteration of the loop."""
        return time.monotonic() - self._turned

    @property
    def unready(self) -> str | None:
        """Why it is not ready; None if it is."""
        silence = self._source.silence
        if silence > LONGEST_SILENCE_SECONDS:
            return f"Kafka has not answered for {silence:.0f} seconds"
        if not self._lease.fresh:
            return "the lease could not be renewed: nothing is learned until it is"
        assigned, missing = len(self._source.assignment), self._source.missing
        if assigned and missing:
            return f"{assigned} partitions are assigned; others of the group have {missing}, which are not learned"
        return None if assigned else "waiting for partitions"

    @property
    def lag(self) -> dict[Partition, int]:
        """The lag by partition, as last read."""
        return self._lag

    def _position(self) -> Any:
        return self._loop.progress.position

    def _probe(self) -> None:
        """Probe the learned rules; the cost grows with the number of features."""
        ratings = self._loop.last_ratings
        rows, labels = (None, np.empty(0)) if ratings is None else ratings
        self._probes = {each.name: probe(each, rows, labels) for each in self._loop.contestants}

    def _look(self) -> None:
        if self._source.silence > _AWAY or not self._source.assignment:
            self._arrivals.interrupted()
        self._lag = self._source.lag(
            self._position()
        )  # here: a Kafka client is used by one thread only
        boards = self._loop.scoreboard.boards
        looked: dict[str, Values] = {
            f"stream_rank_{metric}": {**values}
            for metric, values in self._baselines.values().items()
        }
        for name, board in boards.items():
            found = (
                self._of_learner(name, board, self._probes[name]),
                self._of_preferences(name, board.preferences),
            )
            for metric, values in (each for some in found for each in some.items()):
                looked.setdefault(f"stream_rank_{metric}", {}).update(values)
        self._looked = looked

    def _of_learner(self, name: str, board: Board, seen: Probe) -> dict[str, Values]:
        """The values of a learner by metric."""
        kind = "rank" if board.ranks else "magnitude"
        before, now = self._boards_before[name], _sums(board)
        loss, recent = board.loss, board.recent_loss
        total, terms, scored = (now[i] - before[i] for i in range(3))
        losses = (loss, recent, now[0], *_preference_losses(board))
        good = seen.finite and all(math.isfinite(each or 0.0) for each in losses)
        found: dict[str, Values] = {
            "learner_info": {(name, self._role(name), kind): 1.0},
            "scored_predictions_total": {(name,): scored},
            "loss_total": {(name, kind): total if good else None},
            "loss_terms_total": {(name, kind): terms if good else None},
            "loss": {(name, kind): loss},
            "recent_loss": {(name, kind): recent},
            "drifts_total": {(name, kind): board.drifts_met},
            "disagreement": {(name,): seen.disagreement},
            "margin": {(name,): seen.margin},
            "weight_norm": {(name,): seen.norm},
            "finite": {(name,): float(good)},
        }
        if board.sets is not None:
            found["coverage"] = {(name,): board.sets.recent_coverage}
            found["set_size"] = {(name,): board.sets.recent_size}
        if board.finding is not None and board.finding.questions:
            liked = board.finding.summary()
            for metric in ("recall_at_10", "ndcg_at_10"):
                by_popularity = liked[f"popularity_{metric}"]
                found[metric] = {
                    (name, "learner"): liked[metric],
                    (name, "popularity"): by_popularity,
                }
            found["recall_questions"] = {(name,): liked["recall_questions"]}
        if board.loss_by_group is not None:
            found["rank_loss_by_group"] = {(name,): board.loss_by_group}
        if seen.updates is not None:
            found["updates_total"] = {(name,): seen.updates - self._updates_before[name]}
        # preferences move no threshold: as long as no rating came, all of them stand where they began
        if board.events and len(seen.thresholds) < _MOST_RANKS:
            found["threshold"] = {
                (name, str(i)): value for i, value in enumerate(seen.thresholds, 1)
            }
        confusion = now[3] - before[3]
        if len(confusion) <= _MOST_RANKS:
            found["confusion_total"] = {
                (name, str(row + 1), str(column + 1)): float(confusion[row, column])
                for row, column in np.ndindex(*confusion.shape)
            }
        return found

    def _of_preferences(self, name: str, board: PreferenceBoard) -> dict[str, Values]:
        """The values of a learner's preferences by metric.

        Counters are there from the start, as those of labels are: one that came with the first preference would begin
        above 0, and Prometheus would never know how it had grown. A learner that learns none has no loss of them.
        """
        before, now = self._preferences_before[name], _preference_sums(board)
        scored, total = (now[i] - before[i] for i in range(2))
        found: dict[str, Values] = {"scored_preferences_total": {(name,): scored}}
        if not self._learns_preferences[name]:
            return found
        place = (name, "preference")
        return found | {
            "loss_total": {place: total},
            "loss_terms_total": {place: scored},
            "loss": {place: board.error},
            "recent_loss": {place: board.recent_error},
            "preference_log_loss": {(name,): board.recent_log_loss},
            "preference_brier_score": {(name,): board.recent_brier_score},
            "drifts_total": {place: board.drifts_met},
        }

    def _role(self, name: str) -> str:
        return "champion" if name == self._loop.contestants[0].name else "challenger"

    # Called by any thread -------------------------------------------------------------------

    def readings(self) -> Readings:
        """The current values of all metrics."""
        loop, source, checkpointer = self._loop, self._source, self._checkpointer
        last, now = checkpointer.last, time.monotonic()
        written = last.size if last.name else None
        offsets = self._position() or {}
        waiting, watch, counts = self._waiting, loop.stopwatch, loop.progress.counts
        once: dict[str, float | Histogram | None] = {
            "repeated_messages_total": source.again,
            "passed_messages_total": source.passed,
            "run_records": counts.records,
            "features": loop.decoder.index.learned,
            "dropped_features_total": loop.decoder.index.admission.dropped - self._dropped_before,
            "expired_features_total": loop.decoder.index.admission.expiry.expired
            - self._expired_before,
            "waiting_events": 0 if waiting is None else len(waiting),
            "assigned_partitions": len(source.assignment),
            "missing_partitions": source.missing,
            "rebalances_total": source.rebalances,
            "latency_seconds": self._latency,
            "chunk_records": self._chunks,
            "snapshots_total": checkpointer.written,
            "snapshot_age_seconds": now - last.moment,
            "snapshot_interval_seconds": self._interval,
            "snapshot_size_bytes": written,
            "snapshot_duration_seconds": written and last.seconds,
            "unsaved_records": checkpointer.unsaved,
            "client_warnings_total": self._client_warnings(),
            "tick_age_seconds": self.tick_age,
            "ready": float(self.unready is None),
            "kafka_silence_seconds": source.silence,
            "record_age_seconds": self._arrivals.age,
            "usual_gap_seconds": self._arrivals.usual_gap,
            "resumed_after_records": self._resumed_after,
        }
        for name, sink in self._topic_sinks.items():
            once[f"{name}_total"] = sink.sent
        outcomes, before = _outcomes(counts), self._counts_before
        named: dict[str, Values] = {
            "records_total": {(key,): value - before[key] for key, value in outcomes.items()},
            "rejects_total": {(kind,): loop.reject_counts.by_kind[kind] for kind in REJECTED_FOR},
            "position": {(p.topic, str(p.number)): at for p, at in offsets.items()},
            "lag": {(p.topic, str(p.number)): behind for p, behind in self._lag.items()},
            "stage_duration_seconds": {(key,): value for key, value in watch.stages.items()},
            "learn_duration_seconds": {(key,): value for key, value in watch.learners.items()},
            "failures_total": {(key,): each.failures for key, each in self._attempts.items()},
            "failing": {(key,): float(each.active) for key, each in self._attempts.items()},
            "leading": {(self._lease.run,): float(self._lease.fresh)},
            "lease_number": {(self._lease.run,): self._lease.number},
            "build_info": {(stream_rank.__version__, self._client): 1.0},
        }
        named.update({name: {(): value} for name, value in once.items()})
        return {**{f"stream_rank_{name}": value for name, value in named.items()}, **self._looked}


def _outcomes(counts: Counts) -> dict[str, int]:
    """Records by outcome, as monotonic counts: a late label counts as the event that it completes."""
    return {
        "learned": counts.learned,
        "requested": counts.requests + counts.labels,
        "skipped": counts.skipped,
        "rejected": counts.rejects,
    }


def _sums(board: Board) -> tuple[float, float, int, Any]:
    """The sums of a board."""
    return *board.loss_sum, board.events, np.array(board.confusion)


def _preference_sums(board: PreferenceBoard) -> tuple[int, float]:
    """The preferences that a board has counted, and the sum of their errors, which is finite whatever the rule is."""
    return board.events, board.error_sum


def _preference_losses(board: Board) -> tuple[float | None, ...]:
    """The losses of preferences by which a rule that diverged is known; of one that learns ranks, magnitudes say nothing."""
    seen = board.preferences
    magnitude = None if board.ranks else seen.recent_magnitude_loss
    return seen.recent_log_loss, seen.recent_brier_score, magnitude
