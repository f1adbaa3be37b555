"""The daemon: topics through the loop, for as long as nobody says stop."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import stream_rank
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import ConfigError, RetriableKafkaError, TooManyRejectsError, WriteError
from stream_rank.ingest.backoff import Trouble
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.clients import consumer_of, producer_of
from stream_rank.ingest.kafka.port import Consumer, Place, Subscription
from stream_rank.ingest.kafka.topic_source import Topics
from stream_rank.monitoring.exporter import Exporter
from stream_rank.monitoring.http_server import Endpoints, Server
from stream_rank.monitoring.logs import Log
from stream_rank.monitoring.observer import Observer, Sent
from stream_rank.pipeline.run_control import RunControl
from stream_rank.runtime.learning_run import Run, as_json
from stream_rank.runtime.shutdown_deadline import ShutdownDeadline
from stream_rank.sinks.dead_letters import DeadLetters
from stream_rank.sinks.journal import Journal
from stream_rank.sinks.predictions import PredictionTopic
from stream_rank.sinks.rejects import RejectFile, RejectLimit, Rejects
from stream_rank.sinks.sink import Outlet

__all__ = ["Daemon"]

_ANSWER = 2.0
"""Seconds that a question for the status waits for the loop to come by."""


class Daemon(Run):
    """One run on topics. `run` learns until it is asked to stop, or has reason to."""

    config: DaemonConfig

    def __init__(
        self,
        config: DaemonConfig,
        log: Log,
        asked: RunControl | None = None,
        watch: ShutdownDeadline | None = None,
    ) -> None:
        self._log = log
        self._watch = watch or ShutdownDeadline(config.stop_seconds, 1, log.warning)
        self._kafka = Trouble("Kafka", log.warning)
        self._snapshots = Trouble("snapshots", log.warning)
        self._connection = config.connection()
        self.source = Topics(
            config.topics,
            self._consumer(config),
            self._kafka,
            config.start,
            config.on_lost_offsets,
            log.warning,
        )
        self._limit = RejectLimit(config.max_reject_ratio, config.max_consecutive_rejects)
        outlets: dict[str, Outlet] = {}
        sent: dict[Any, Sent] = {}
        rejects = self._reject_outlet(config, outlets, sent)
        predictions = None
        if config.predictions is not None:
            producer = producer_of(config.client, self._connection)
            predictions = PredictionTopic(producer, config.predictions)
            outlets["predictions"] = sent["predictions"] = predictions
        super().__init__(
            config,
            True,
            rejects,
            _nowhere if predictions is None else predictions.put,
            outlets,
            log.info,
            asked,
        )
        self._rejects_before = self.loop.counts.rejects
        self._start = self._came = time.monotonic()
        self._next_try = 0.0
        self._next_line = self._start + config.log_seconds
        self._line_records = self.loop.counts.records
        self._asking, self._answered = threading.Event(), threading.Event()
        self._status = ""
        self.observer = Observer(
            self.loop,
            self.source,
            self.keeper,
            config.client,
            config.snapshot_seconds,
            sum((self.resumed_from or {}).values()),
            self._counted,
            sent,
        )
        self.server = Server(
            config.host,
            config.port,
            Endpoints(
                self._live, self._ready, Exporter(self.observer.readings).text, self._status_of_loop
            ),
        )

    def _to_resume(self) -> Snapshot | None:
        if self.foreign:
            raise ConfigError(
                f"{self.foreign[0]} is not of this package, and cannot be kept in snapshots: "
                "the daemon takes stream-rank's own learners; others can ride on a replay"
            )
        return super()._to_resume()

    def _consumer(self, config: DaemonConfig) -> Any:
        member = Subscription(
            config.topics, config.group_id, config.session_timeout_seconds, config.group_protocol
        )

        def consumer(place: Place) -> Consumer:
            return consumer_of(config.client, self._connection, member, place)

        return consumer

    def _reject_outlet(
        self, config: DaemonConfig, outlets: dict[str, Outlet], sent: dict[Any, Sent]
    ) -> Rejects:
        if config.dead_letters is None:
            file = RejectFile(Journal(config.out / "rejects.jsonl"))
            outlets["rejects"] = file.journal
            return file
        producer = producer_of(config.client, self._connection)
        letters = DeadLetters(producer, config.dead_letters)
        outlets["rejects"] = sent["dead_letters"] = letters
        return letters

    # Running --------------------------------------------------------------------------------

    def run(self, between: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Learn until somebody wants it to stop, or all that was wanted is done; the summary.

        `between` is called between chunks.
        """
        log, config = self._log, self.config
        log.say(
            "info",
            "begun" if self.resumed_from is None else "gone on with",
            version=stream_rank.__version__,
            topics=self.source.name,
            group_id=config.group_id,
            learners=", ".join(each.name for each in self.contestants),
            records=self.loop.counts.records,
            snapshots=self.store.url,
            http=self.server.address,
        )
        try:
            for _ in self._steps():
                self._tick()
                between()
                if self.asked.stop_requested or self.loop.ended or self._idle():
                    break
            return self._stop()
        except OSError as error:
            raise WriteError(f"{config.out} cannot be written: {error}") from error
        except (
            RetriableKafkaError
        ) as error:  # within a portion, which only a new start can learn whole
            raise WriteError(f"rejects or predictions cannot be sent: {error}") from error
        finally:
            self.server.close()

    def _steps(self) -> Iterator[None]:
        """Learn, coming up for air after every chunk, and when nothing came for a moment.

        Whenever it does, nothing is being learned: the learners are whose turn it is.
        """
        if self.loop.ended:
            return
        learned: Future[None] | None = None
        placements = 0
        with ThreadPoolExecutor(1, "learning") as elsewhere:
            chunks = self.source.chunks(self.loop.position)
            while True:
                with self.loop.stopwatch.stage("polling"):
                    chunk = next(chunks)
                if learned is not None:
                    learned.result()
                    self._check_rejects()
                    learned = None
                    if (
                        self.source.placements > placements
                    ):  # it is known now where they begin, and must stay so
                        placements, self.asked.snapshot_requested = self.source.placements, True
                    yield
                if chunk is not None:  # learned while the next one is fetched
                    learned = elsewhere.submit(self._learn, chunk)
                else:
                    yield

    def _learn(self, chunk: Records) -> None:
        for _ in self.loop.take(chunk):
            pass
        self._came = time.monotonic()
        if len(chunk):
            assert chunk.origin_of is not None  # of messages
            self.observer.learned(len(chunk), chunk.origin_of(0)[2].timestamp)

    def _tick(self) -> None:
        """All that is not learning."""
        now = time.monotonic()
        self.observer.turned()
        self.passed(now - self._start)
        if now >= self._next_try:
            self._keep(now)
        if self._asking.is_set():
            self._asking.clear()
            self._status = self._log.hidden(as_json(self.status(), indent=2))
            self._answered.set()
        if now >= self._next_line:
            self._say_how_it_goes(now)

    def _keep(self, now: float) -> None:
        """Write a snapshot if one is due, and tell the group; what cannot be written now is tried again."""
        written = self.keeper.written
        try:
            self.keeper.tick()
        except (WriteError, RetriableKafkaError) as error:
            self._next_try = now + self._snapshots.met(str(error))
            self.asked.snapshot_requested = True
            return
        if self.keeper.written > written:
            self._snapshots.over()
            self.source.commit(self.loop.position)

    def _idle(self) -> bool:
        """Whether nothing came for long enough, of partitions that something could have come from."""
        limit = self.config.idle_timeout
        if self._kafka.lasts or not self.source.assignment:
            self._came = time.monotonic()
        return limit is not None and time.monotonic() - self._came >= limit

    def _say_how_it_goes(self, now: float) -> None:
        counts, period = self.loop.counts, self.config.log_seconds
        boards = self.loop.scoreboard.boards
        losses = {name: board.recent_loss for name, board in boards.items()}
        self._log.say(
            "info",
            "learning" if self.source.assignment else "waiting for partitions",
            records=counts.records,
            a_second=round(
                (counts.records - self._line_records) / (now - self._next_line + period)
            ),
            rejects=counts.rejects,
            lag=sum(self.observer.lag.values()),
            recent_loss={name: loss and round(loss, 4) for name, loss in losses.items()},
        )
        self._line_records, self._next_line = counts.records, now + period

    def _check_rejects(self) -> None:
        rejects = self.loop.counts.rejects - self._rejects_before
        records = self.loop.counts.records - self._records_before
        if self._limit.exceeded(rejects, records):
            self.keeper.write()
            raise TooManyRejectsError(
                f"{rejects:,} of {records:,} records since the start were rejected, more than "
                f"max_reject_ratio {self._limit.ratio:g} allows; {self._where_rejects_are()}"
            )
        if self._limit.too_many_in_a_row(self.loop.longest_streak):
            self.keeper.write()
            raise TooManyRejectsError(
                f"{self.loop.longest_streak:,} records in a row were rejected, and "
                f"max_consecutive_rejects is {self._limit.in_a_row:,}; {self._where_rejects_are()}"
            )

    def _where_rejects_are(self) -> str:
        if self.config.dead_letters is None:
            return f"see {self.config.out / 'rejects.jsonl'}"
        return f"see topic {self.config.dead_letters}: stream-rank dead-letters list"

    # Stopping -------------------------------------------------------------------------------

    def _stop(self) -> dict[str, Any]:
        """Snapshot, tell the group, and leave it: within the time there is for that."""
        self._watch.begin()
        self.keeper.write()
        self.source.commit(self.loop.position)
        self.source.close(max(1.0, self._watch.left - 1.0))
        self._watch.end()
        summary = self.summary()
        counts = self.loop.counts
        self._log.say("info", "stopped", records=counts.records, rejects=counts.rejects,
                      snapshot=self.keeper.last.name)  # fmt: skip
        return summary

    def close(self) -> None:
        """Let go of everything, at once."""
        super().close()
        self.source.close(1.0)

    # What others see ------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What `/status` says: the summary, and how it stands with the partitions."""
        lag = {str(p): behind for p, behind in self.source.lag(self.loop.position).items()}
        return {
            **self.summary(),
            "assigned": [str(partition) for partition in sorted(self.source.assignment)],
            "lag": lag,
            "rebalances": self.source.rebalances,
            "snapshot": self.keeper.last.name or None,
        }

    def _status_of_loop(self) -> str | None:
        """The status, as the loop gives it when it comes by: nobody else may touch a learner."""
        self._answered.clear()
        self._asking.set()
        return self._status if self._answered.wait(_ANSWER) else None

    def _live(self) -> tuple[bool, str]:
        age = self.observer.tick_age
        good = age < self.config.live_seconds
        return good, f"the loop turned {age:.1f} seconds ago"

    def _ready(self) -> tuple[bool, str]:
        assigned = len(self.source.assignment)
        if assigned:
            return True, f"restored, and {assigned} partitions are assigned"
        return False, "restored, and waiting for partitions"

    def _counted(self) -> dict[str, int]:
        return {
            "kafka": self._kafka.count,
            "snapshots": self._snapshots.count,
            "client": self._log.client_warnings,
        }


def _nowhere(_: Any, __: dict[str, float]) -> None:
    """Nobody wants to know what is predicted."""
