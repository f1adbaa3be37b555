"""What metrics are read off: the run, as it is seen from outside."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import stream_rank
from stream_rank.checkpoint.checkpointer import Checkpointer
from stream_rank.codec.batch import REJECTED_FOR
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.probe import Probe, probe
from stream_rank.ingest.kafka.port import Partition
from stream_rank.ingest.kafka.topic_source import TopicSource
from stream_rank.monitoring.exporter import Readings
from stream_rank.monitoring.throttle import Throttle
from stream_rank.pipeline.counts import Counts
from stream_rank.pipeline.histogram import Histogram
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.topic_sink import TopicSink

__all__ = ["Observer"]

_PERIOD = 1.0
"""Seconds between two looks at what only the loop may look at: less than anybody scrapes by."""
_MOST_RANKS = 20
"""Of more ranks neither every pair nor every threshold is a series: 400 are enough for Prometheus, a learner."""
_RECORDS = tuple(4.0**power for power in range(11))
"""Bounds of the records in a chunk: one when little comes, a million when a lot does."""
_LATENCIES = (0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0, 60.0, 600.0, 3600.0, 86400.0)
"""Bounds of how late an event is learned: milliseconds behind the live end, days when a backlog is learned."""

Values = dict[tuple[str, ...], float | Histogram | None]


class Observer:
    """Looks at a run. `look` is for the loop, between chunks; `readings` for anybody, at any time.

    Counters begin at 0 with the process, whatever the run had counted before: Prometheus takes a counter that
    goes back a little, as one gone on with from a snapshot would, for one that began again and went up by all of it.
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
        failures: Mapping[str, Callable[[], int]],
        client_warnings: Callable[[], int],
    ) -> None:
        """`topic_sinks` by metric; `failures` count attempts that failed, by what failed."""
        self._loop, self._checkpointer, self._waiting = loop, checkpointer, waiting
        self._topic_sinks, self._source = topic_sinks, source
        self._client, self._interval = client, snapshot_seconds
        self._resumed_after = resumed_after
        self._failures, self._client_warnings = failures, client_warnings
        self._counts_before = _outcomes(loop.progress.counts)
        boards = loop.scoreboard.boards
        self._boards_before = {name: _sums(board) for name, board in boards.items()}
        self._updates_before = {
            each.name: each.insight(None).updates or 0 for each in loop.contestants
        }
        self._began = self._turned = time.monotonic()
        self._looks, self._probings = Throttle(_PERIOD), Throttle(_PERIOD)
        self._probes: dict[str, Probe] = {}
        self._chunks, self._latency = Histogram(_RECORDS), Histogram(_LATENCIES)
        self._lag: dict[Partition, int] = {}
        self._looked: dict[str, Values] = {}

    # What the loop tells --------------------------------------------------------------------

    def turned(self) -> None:
        """Note that the loop turned, and look at what nobody else may, if it is time to."""
        self._turned = time.monotonic()
        self._probings.run(self._probe)
        self._looks.run(self._look)

    def learned(self, records: int, timestamp: int) -> None:
        """Note that a chunk was learned, and the time of its first message in milliseconds, if it has one."""
        self._chunks.add(records)
        if timestamp > 0:
            self._latency.add(max(0.0, time.time() - timestamp / 1000))

    @property
    def tick_age(self) -> float:
        """Seconds since the loop turned."""
        return time.monotonic() - self._turned

    @property
    def lag(self) -> dict[Partition, int]:
        """Offsets behind the end by partition, when last looked at."""
        return self._lag

    def _position(self) -> Any:
        return self._loop.progress.position

    def _probe(self) -> None:
        """Look at the rules, which takes longer the more features there are."""
        ratings = self._loop.last_ratings
        rows, labels = (None, np.empty(0)) if ratings is None else ratings
        self._probes = {each.name: probe(each, rows, labels) for each in self._loop.contestants}

    def _look(self) -> None:
        self._lag = self._source.lag(self._position())  # a client's locks are for one thread
        boards = self._loop.scoreboard.boards
        looked: dict[str, Values] = {}
        for name, board in boards.items():
            for metric, values in self._of_learner(name, board, self._probes[name]).items():
                looked.setdefault(f"stream_rank_{metric}", {}).update(values)
        self._looked = looked

    def _of_learner(self, name: str, board: Board, seen: Probe) -> dict[str, Values]:
        """What is known of a learner, by metric."""
        kind = "rank" if board.ranks else "magnitude"
        before, now = self._boards_before[name], _sums(board)
        loss, recent = board.loss, board.recent_loss
        total, terms, scored = (now[i] - before[i] for i in range(3))
        good = seen.finite and all(math.isfinite(each or 0.0) for each in (loss, recent, now[0]))
        found: dict[str, Values] = {
            "learner_info": {(name, self._role(name), kind): 1.0},
            "scored_predictions_total": {(name,): scored},
            "loss_total": {(name, kind): total if good else None},
            "loss_terms_total": {(name, kind): terms if good else None},
            "loss": {(name, kind): loss},
            "recent_loss": {(name, kind): recent},
            "drifts_total": {(name,): board.drifts_met},
            "disagreement": {(name,): seen.disagreement},
            "margin": {(name,): seen.margin},
            "weight_norm": {(name,): seen.norm},
            "finite": {(name,): float(good)},
        }
        if seen.updates is not None:
            found["updates_total"] = {(name,): seen.updates - self._updates_before[name]}
        if len(seen.thresholds) < _MOST_RANKS:
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

    def _role(self, name: str) -> str:
        return "champion" if name == self._loop.contestants[0].name else "challenger"

    # What anybody may ask -------------------------------------------------------------------

    def readings(self) -> Readings:
        """All metrics now."""
        loop, source, checkpointer = self._loop, self._source, self._checkpointer
        last, now = checkpointer.last, time.monotonic()
        written = last.size if last.name else None
        offsets = self._position() or {}
        waiting, watch, counts = self._waiting, loop.stopwatch, loop.progress.counts
        once: dict[str, float | Histogram | None] = {
            "repeated_messages_total": source.again,
            "run_records": counts.records,
            "features": loop.decoder.index.learned,
            "waiting_events": 0 if waiting is None else len(waiting),
            "assigned_partitions": len(source.assignment),
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
            "ready": float(bool(source.assignment)),
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
            "failures_total": {(key,): count() for key, count in self._failures.items()},
            "build_info": {(stream_rank.__version__, self._client): 1.0},
        }
        named.update({name: {(): value} for name, value in once.items()})
        return {**{f"stream_rank_{name}": value for name, value in named.items()}, **self._looked}


def _outcomes(counts: Counts) -> dict[str, int]:
    """What became of the records, in counts that never fall: a label that came later counts as what was learned by it."""
    return {
        "learned": counts.learned,
        "requested": counts.requests + counts.labels,
        "skipped": counts.skipped,
        "rejected": counts.rejects,
    }


def _sums(board: Board) -> tuple[float, float, int, Any]:
    """What a board has counted."""
    return *board.loss_sum, board.events, np.array(board.confusion)
