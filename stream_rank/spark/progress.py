"""What is seen of a query: metrics that Spark observes on it, and the package's own for Prometheus, made of them.

Spark tells the driver after every trigger what it observed; nothing is counted for it elsewhere, and no worker is asked.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

import stream_rank
from stream_rank.codec.batch import REJECTED_FOR
from stream_rank.config.spark import ShardConfig
from stream_rank.monitoring.exporter import Readings
from stream_rank.pipeline.histogram import Histogram
from stream_rank.runtime.learning_run import contestants_in
from stream_rank.spark.outputs import COUNTS, REJECT, SCOREBOARD

__all__ = ["NAME", "Progress", "listener_of", "losses_of", "observed"]

NAME = "stream_rank"
"""What the observation is called in `observedMetrics` of a query's progress."""
_RECORDS = tuple(float(1 << 2 * power) for power in range(14))
_SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def observed(output: Any, config: ShardConfig) -> Any:
    """What comes out of shards, with its sums observed: counts of records, rejects by category, and each learner's losses."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    sums = {name: F.col(name) for name in COUNTS}
    for category in REJECTED_FOR:
        of_it = (F.col("kind") == REJECT) & (F.col("category") == category)
        sums[f"rejects_{category}"] = F.when(of_it, 1)
    for number, learner in enumerate(config.learners):
        of_it = (F.col("kind") == SCOREBOARD) & (F.col("learner") == learner)
        sums[f"loss_{number}"] = F.when(of_it, F.col("value"))
        sums[f"terms_{number}"] = F.when(of_it, F.col("terms"))
    return output.observe(NAME, *(F.sum(column).alias(name) for name, column in sums.items()))


class Progress:
    """The metrics of a query, out of what Spark tells after each trigger; any thread may ask.

    The recent loss is that of the last trigger that had labels, of all shards together.
    """

    def __init__(self, learners: Mapping[str, str], trigger_seconds: float) -> None:
        """`learners` are the kinds of their losses by name, the champion first."""
        self._learners, self._trigger_seconds = dict(learners), trigger_seconds
        self._sums: dict[str, float] = dict.fromkeys(COUNTS, 0)
        self._recent: dict[str, float] = {}
        self._offsets: dict[tuple[str, str], tuple[float, float]] = {}
        self._triggers = 0
        self._failures = 0
        self._seconds = 0.0
        self._came = self._triggered = self._heard = time.monotonic()
        self._chunks, self._durations = Histogram(_RECORDS), Histogram(_SECONDS)

    # Told by Spark --------------------------------------------------------------------------

    def idle(self) -> None:
        """A trigger found nothing new."""
        self._heard = time.monotonic()

    def failed(self) -> None:
        """The query ended with an error."""
        self._failures += 1

    def triggered(self, told: Mapping[str, Any], sums: Mapping[str, Any]) -> None:
        """A trigger is over: `told` is its progress as JSON has it, `sums` what was observed."""
        now = self._heard = self._triggered = time.monotonic()
        found = {name: float(value or 0) for name, value in sums.items()}
        for name, value in found.items():
            self._sums[name] = self._sums.get(name, 0) + value
        for number, learner in enumerate(self._learners):
            if found.get(f"terms_{number}"):
                self._recent[learner] = found[f"loss_{number}"] / found[f"terms_{number}"]
        if found.get("records"):
            self._came = now
            self._chunks.add(found["records"])
        self._triggers += 1
        self._seconds = float(told.get("durationMs", {}).get("triggerExecution", 0)) / 1000
        self._durations.add(self._seconds)
        for source in told.get("sources", ()):
            ends = _offsets_of(source.get("latestOffset"))
            for partition, at in _offsets_of(source.get("endOffset")).items():
                self._offsets[partition] = at, max(at, ends.get(partition, at))

    # Called by any thread -------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether a trigger is over, and none failed."""
        return self._triggers > 0 and not self._failures

    def status(self) -> str:
        """What was counted so far, as JSON."""
        return json.dumps({"triggers": self._triggers, **self._sums})

    def readings(self) -> Readings:
        """The current values of the metrics that a query has."""
        sums, now, offsets = self._sums, time.monotonic(), dict(self._offsets)
        once: dict[str, float | Histogram | None] = {
            "repeated_messages_total": sums["repeated"],
            "rebalances_total": 0,
            "assigned_partitions": len(offsets),
            "missing_partitions": 0,
            "record_age_seconds": now - self._came,
            "usual_gap_seconds": max(150.0, self._trigger_seconds),
            "tick_age_seconds": now - self._heard,
            "kafka_silence_seconds": now - self._heard,
            "chunk_records": self._chunks,
            "snapshots_total": self._triggers,
            "snapshot_age_seconds": now - self._triggered,
            "snapshot_interval_seconds": max(1.0, self._trigger_seconds),
            "snapshot_duration_seconds": self._seconds if self._triggers else None,
            "unsaved_records": 0,
            "ready": float(self.ready),
        }
        outcomes = {
            "learned": sums["learned"],
            "requested": sums["requests"],
            "skipped": sums["skipped"],
            "rejected": sums["rejected"],
        }
        champion = next(iter(self._learners), None)
        kinds = [(name, kind) for name, kind in self._learners.items()]
        named: dict[str, dict[tuple[str, ...], float | Histogram | None]] = {
            "records_total": {(name,): value for name, value in outcomes.items()},
            "rejects_total": {(each,): sums.get(f"rejects_{each}", 0) for each in REJECTED_FOR},
            "position": {partition: at for partition, (at, _) in offsets.items()},
            "lag": {partition: end - at for partition, (at, end) in offsets.items()},
            "stage_duration_seconds": {("learning",): self._durations},
            "failures_total": {("snapshots",): self._failures, ("kafka",): 0},
            "failing": {("snapshots",): float(self._failures > 0), ("kafka",): 0},
            "learner_info": {
                (name, "champion" if name == champion else "challenger", kind): 1.0
                for name, kind in kinds
            },
            "loss_total": {each: sums.get(f"loss_{i}", 0) for i, each in enumerate(kinds)},
            "loss_terms_total": {each: sums.get(f"terms_{i}", 0) for i, each in enumerate(kinds)},
            "recent_loss": {each: self._recent.get(each[0]) for each in kinds},
            "leading": {("spark",): 1.0},
            "finite": {(name,): 1.0 for name in self._learners},
            "build_info": {(stream_rank.__version__, "spark"): 1.0},
        }
        named.update({name: {(): value} for name, value in once.items()})
        return {f"stream_rank_{name}": value for name, value in named.items()}


def losses_of(config: ShardConfig) -> dict[str, str]:
    """The kinds of the losses of the learners of a run, by name."""
    kinds = {"ranks": "rank", "scores": "magnitude"}
    found = contestants_in(config, config.learners)
    return {each.name: kinds[each.predicts] for each in found if each.name in config.learners}


def _offsets_of(told: Any) -> dict[tuple[str, str], float]:
    """Offsets by topic and partition, which Spark tells as JSON, or as text of it."""
    try:
        found = json.loads(told) if isinstance(told, str) else told
        return {
            (str(topic), str(number)): float(offset)
            for topic, numbers in (found or {}).items()
            for number, offset in numbers.items()
        }
    except (ValueError, AttributeError, TypeError):
        return {}


def listener_of(progress: Progress) -> Any:
    """What Spark tells it tells `progress`; for `spark.streams.addListener`."""
    from pyspark.sql.streaming import StreamingQueryListener

    class Tells(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
            pass

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
            sums = event.progress.observedMetrics.get(NAME)
            progress.triggered(
                json.loads(event.progress.json), {} if sums is None else sums.asDict()
            )

        def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - Spark's name
            progress.idle()

        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
            if event.exception is not None:
                progress.failed()

    return Tells()
