"""The daemon: learns from topics until it is stopped."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn

import stream_rank
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import (
    RecoverableError,
    RetriableKafkaError,
    TooManyRejectsError,
    WriteError,
    cause_of,
)
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.clients import consumer_of
from stream_rank.ingest.kafka.port import Consumer, ResolveOffsets, Subscription
from stream_rank.monitoring.exporter import Exporter
from stream_rank.monitoring.http_server import Endpoints, Server
from stream_rank.monitoring.observer import Observer
from stream_rank.monitoring.shared_answer import SharedAnswer
from stream_rank.pipeline.run_control import RunControl
from stream_rank.runtime.catch_up import CatchUp
from stream_rank.runtime.daemon_parts import predictions_of, rejects_of, source_of
from stream_rank.runtime.joining import join, seated
from stream_rank.runtime.leading import Leading
from stream_rank.runtime.learning_run import open_run
from stream_rank.runtime.load import Load
from stream_rank.runtime.progress_log import ProgressLog
from stream_rank.runtime.shutdown_deadline import ShutdownDeadline
from stream_rank.runtime.stand_by import StandBy
from stream_rank.runtime.status_requests import StatusRequests
from stream_rank.runtime.study import Study
from stream_rank.runtime.summary import as_json, summary_of
from stream_rank.sinks.reject_limit import RejectLimit
from stream_rank.sinks.topic_sink import TopicSink

__all__ = ["Daemon"]

logger = logging.getLogger(__name__)

_STUDIED_AHEAD_BYTES = 1 << 20
"""Little, for whoever catches up: a client fetches as fast as it can, in threads of its own, and takes the processor from the run."""
_ANSWER_SECONDS = 2.0
"""Seconds that a request for /status waits for the loop."""


class Daemon:
    """A learning run on topics. `run` learns until a stop is requested, or a limit is reached."""

    def __init__(
        self,
        config: DaemonConfig,
        control: RunControl | None = None,
        deadline: ShutdownDeadline | None = None,
        client_warnings: Callable[[], int] = lambda: 0,
        redact: Callable[[str], str] = str,
        stand_by: StandBy | None = None,
    ) -> None:
        """`client_warnings` returns the number of warnings that Kafka's clients logged; `redact` removes secrets from the status.

        `stand_by` has waited until this process leads. Without it, a `LeaseError` if another process does.
        """
        self.config, self._redact = config, redact
        self._deadline = deadline or ShutdownDeadline(config.stop_seconds, 1, logger.warning)
        self._kafka = Backoff("Kafka", logger.warning)
        self._snapshots = Backoff("snapshots", logger.warning)
        self._registry = Backoff("schema registry", logger.warning)
        self.source = source_of(config, self._kafka, self._registry)
        self._limit = RejectLimit(config.max_reject_ratio, config.max_consecutive_rejects)
        self.learning = open_run(
            config,
            self.source,
            rejects_of(config),
            predictions_of(config),
            logger.info,
            resume=True,
            control=control,
            commit_offsets=self.source.commit,
            catches_up=config.catch_up == "retained",
            store_backoff=self._snapshots,
            place=None if stand_by is None else stand_by.place,
        )
        self._leading = Leading(self.learning.store.lease, logger.warning)
        late = self.learning.late
        load = Load(self.learning.loop, self.source.lag)
        catch_up = CatchUp(late, self._study, load, logger.warning)
        self._catch_up = catch_up if late else None
        counts = self.learning.progress.counts
        self._rejects_before, self._records_before = counts.rejects, counts.records
        self._start = self._last_arrival = time.monotonic()
        self._next_attempt = 0.0
        self._log = ProgressLog(
            *(self._start, config.log_seconds, counts.records),
            lambda: sum(self.observer.lag.values()),
        )
        self._fetched = False
        self._status_requests = StatusRequests(_ANSWER_SECONDS)
        self.observer = Observer(
            self.learning.loop,
            self.learning.checkpointer,
            self.learning.waiting,
            {
                metric: sink
                for metric, sink in (
                    ("dead_letters", self.learning.sinks["rejects"]),
                    ("predictions", self.learning.sinks["predictions"]),
                )
                if isinstance(sink, TopicSink)
            },
            self.source,
            config.client,
            config.snapshot_seconds,
            self.learning.resumed_after or 0,
            {
                "kafka": self._kafka,
                "snapshots": self._snapshots,
                "schema_registry": self._registry,
                "lease": self.learning.place.lease_backoff,
                "catching_up": catch_up,
            },
            client_warnings,
            self.learning.store.lease,
        )
        endpoints = Endpoints(
            self._live,
            self._ready,
            SharedAnswer(Exporter(self.observer.readings).text),
            self._status_requests.ask,
        )
        try:
            self.server = (
                stand_by.server if stand_by else Server(config.host, config.port, endpoints)
            )
        except BaseException:
            self.close()
            raise
        self.server.serve(endpoints)

    def __enter__(self) -> "Daemon":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close everything, with a second for leaving the group."""
        if self._catch_up is not None:
            self._catch_up.close()
        self.learning.close()
        self.source.close(1.0)
        self._deadline.end()

    # Running --------------------------------------------------------------------------------

    def run(self, between: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Learn until a stop is requested, or a limit is reached; returns the summary.

        `between` is called between chunks.
        """
        config, learning = self.config, self.learning
        logger.info(
            "started" if learning.resumed_after is None else "resumed",
            extra={
                "version": stream_rank.__version__,
                "topics": self.source.name,
                "group_id": config.group_id,
                "learners": ", ".join(each.name for each in learning.contestants),
                "records": learning.progress.counts.records,
                "snapshots": learning.store.url,
                "http": self.server.address,
            },
        )
        logger.info(str(learning.room))
        try:
            for _ in self._steps():
                self._between_chunks()
                between()
                if learning.control.stop_requested or learning.ended or self._idle():
                    break
            return self._stop()
        except OSError as error:
            raise WriteError(cause_of(error)) from error
        except RetriableKafkaError as error:  # not retried: a chunk may be half learned, and only a restart from the snapshot repairs that
            raise WriteError(f"rejects or predictions cannot be sent: {error}") from error
        finally:
            self.server.close()

    def _steps(self) -> Iterator[None]:
        """Learn, and yield after every chunk and every empty poll.

        A chunk is learned on another thread while the next one is fetched. Nothing is being learned whenever this yields, so the
        caller can take snapshots and answer requests for the status.
        """
        if self.learning.ended:
            return
        learned: Future[None] | None = None
        assignments = 0
        with ThreadPoolExecutor(1, "learning") as learning_thread:
            chunks = self.source.chunks(self._position())
            while True:
                with self.learning.loop.stopwatch.stage("polling"):
                    chunk = next(chunks)
                if learned is not None:
                    learned.result()
                    self._check_rejects()
                    learned = None
                    if self.source.assignments > assignments:
                        # persist the offsets at which new partitions begin
                        assignments = self.source.assignments
                        self.learning.control.snapshot_requested = True
                    yield
                if chunk is not None:
                    yield from self._leading.until_it_may()
                    if self._catch_up is not None:
                        self._catch_up.take(chunk)
                    learned = learning_thread.submit(self._learn, chunk)
                else:
                    yield

    def _learn(self, chunk: Records) -> None:
        records = len(chunk)
        timestamp = chunk.origin_of(0)[2].timestamp if records and chunk.origin_of else -1
        for _ in self.learning.loop.take(chunk):
            pass
        self._last_arrival = time.monotonic()
        if records:
            self.observer.learned(records, timestamp)

    def _position(self) -> Any:
        return self.learning.progress.position

    def _between_chunks(self) -> None:
        """Update metrics, take a due snapshot, answer status requests, and log the progress."""
        now = time.monotonic()
        if self._log.assignment(self.source.assignment):
            self._fetched = False
        self.observer.turned()
        self.learning.rate.passed(now - self._start, self.learning.progress.counts.records)
        if self._catch_up is not None and self.source.assignment:
            self._let_catch_up(self._catch_up)
        if self._leading.check():
            self._commit(now)
        self._status_requests.answer(lambda: self._redact(as_json(self.status(), indent=2)))
        self._log.progress(now, self.learning)

    def _commit(self, now: float) -> None:
        """Settle the commit that is written by now, or begin one that is due; what fails is tried again after a back-off."""
        checkpointer = self.learning.checkpointer
        written = checkpointer.written
        try:
            checkpointer.settle(wait=False)
            if checkpointer.due and now >= self._next_attempt:
                checkpointer.begin()
        except RecoverableError as error:
            self._next_attempt = now + self._snapshots.failed(str(error))
            self.learning.control.snapshot_requested = True
        else:
            if checkpointer.written > written:
                self._snapshots.succeeded()

    # Learners that catch up ------------------------------------------------------------------

    def _study(self, backoff: Backoff) -> Study:
        config, learning = self.config, self.learning

        def reader(topics: Sequence[str], resolve_offsets: ResolveOffsets) -> Consumer:
            alone = Subscription(topics, read_ahead_bytes=_STUDIED_AHEAD_BYTES)
            return consumer_of(config.client, config.connection(), alone, resolve_offsets)

        limits = learning.loop.decoder.limits
        settings = config, learning.late, limits, learning.room.max_features
        return Study(*settings, reader, backoff, lambda said: logger.info(f"catching up: {said}"))

    def _let_catch_up(self, catch_up: CatchUp) -> None:
        """Go on with catching up, and have the learners join that are where the run is."""
        study = catch_up.turn(self._position())
        if study is None:
            return
        try:
            joined = seated(self.learning, study)
        except Exception as error:
            catch_up.fail(error)
            return
        self.learning = join(self.learning, joined)
        self.observer.joined()
        catch_up.close()
        self._catch_up = None
        self.learning.control.snapshot_requested = True
        logger.info(
            "learners have caught up, and joined",
            extra={"learners": ", ".join(catch_up.names), "records": study.records},
        )

    def _idle(self) -> bool:
        """Whether `idle_timeout` has passed without an event, since every assigned partition was fetched from, while whatever is
        needed was reachable."""
        limit = self.config.idle_timeout
        if not self._fetched:
            self._fetched = bool(self._log.assigned) and self.source.fetched
        if self._kafka.active or self._registry.active or not self._fetched:
            self._last_arrival = time.monotonic()
        return limit is not None and time.monotonic() - self._last_arrival >= limit

    def _commit_and_end(self) -> None:
        """The last commit of a run that ends by itself; a store that hangs does not keep it from ending."""
        self._deadline.begin()
        self.learning.checkpointer.commit()

    def _check_rejects(self) -> None:
        counts = self.learning.progress.counts
        rejects = counts.rejects - self._rejects_before
        records = counts.records - self._records_before
        if self._limit.exceeded(rejects, records):
            self._end_by(
                f"{rejects:,} of {records:,} records since the start were rejected, more than "
                f"`max_reject_ratio` {self._limit.ratio:g} allows; {self._where_rejects_are()}"
            )
        streak = self.learning.loop.reject_counts.longest_streak
        if self._limit.too_many_in_a_row(streak):
            self._end_by(
                f"{streak:,} records in a row were rejected, and "
                f"`max_consecutive_rejects` is {self._limit.in_a_row:,}; {self._where_rejects_are()}"
            )

    def _end_by(self, words: str) -> NoReturn:
        """Commit, and end by too many rejects, also where the commit fails: the next start learns again what is not in it."""
        try:
            self._commit_and_end()
        except RecoverableError as error:
            logger.warning(str(error))
        raise TooManyRejectsError(words)

    def _where_rejects_are(self) -> str:
        if self.config.dead_letters is None:
            return f"see {self.config.out / 'rejects.jsonl'}"
        return f"see topic {self.config.dead_letters}: stream-rank dead-letters list"

    def _stop(self) -> dict[str, Any]:
        """Commit and leave the group, before the shutdown deadline."""
        self._commit_and_end()
        self.source.close(max(1.0, self._deadline.left - 1.0))
        self._deadline.end()
        counts = self.learning.progress.counts
        logger.info(
            "stopped",
            extra={
                "records": counts.records,
                "rejects": counts.rejects,
                "snapshot": self.learning.checkpointer.last.name,
            },
        )
        return summary_of(self.learning)

    # Status ---------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """The content of `/status`: the summary, and the state of the partitions."""
        lag = {str(p): behind for p, behind in self.source.lag(self._position()).items()}
        position, lease = self._position(), self.learning.store.lease
        return {
            **summary_of(self.learning),
            "position": None if position is None else position.shown(),
            "assigned": [str(partition) for partition in sorted(self.source.assignment)],
            "lag": lag,
            "rebalances": self.source.rebalances,
            "kafka_silence_seconds": round(self.source.silence, 3),
            "snapshot": self.learning.checkpointer.last.name or None,
            "leading": lease.fresh,
            "lease_number": lease.number,
            "missing_partitions": self.source.missing,
            "catching_up": self._catch_up and self._catch_up.shown(position),
        }

    def _live(self) -> tuple[bool, str]:
        age = self.observer.tick_age
        return age < self.config.live_seconds, f"the last loop iteration was {age:.1f} seconds ago"

    def _ready(self) -> tuple[bool, str]:
        why = self.observer.unready
        if why is not None:
            return False, f"restored, and {why}"
        return True, f"restored, and {len(self.source.assignment)} partitions are assigned"
