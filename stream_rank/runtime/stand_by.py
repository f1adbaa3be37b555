"""Standing by: another daemon leads, and this one is ready to go on where it ends."""

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import stream_rank
from stream_rank.background import in_background
from stream_rank.checkpoint.claim import Claim
from stream_rank.checkpoint.resuming import patiently
from stream_rank.checkpoint.store import reasons
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import SnapshotError, SnapshotReadError
from stream_rank.ingest.backoff import Backoff
from stream_rank.monitoring.exporter import Exporter, Readings
from stream_rank.monitoring.http_server import Endpoints, Server
from stream_rank.monitoring.shared_answer import SharedAnswer
from stream_rank.pipeline.run_control import RunControl
from stream_rank.runtime.changes import check_settings
from stream_rank.runtime.run_place import RunPlace
from stream_rank.runtime.summary import as_json
from stream_rank.runtime.warming import rehearse

__all__ = ["StandBy"]

logger = logging.getLogger(__name__)


class StandBy:
    """What a daemon is until it leads: the place of its run and its HTTP server, and no member of the consumer group.

    It looks at the lease once a second or more often. While another has it, it reads and checks every new snapshot, and has the engine compiled
    and loaded, so that it leads within a moment: when the lease is given back, when its holder is known to have ended, or when it has run out.
    """

    def __init__(
        self,
        config: DaemonConfig,
        control: RunControl | None = None,
        client_warnings: Callable[[], int] = lambda: 0,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._config, self._control = config, control or RunControl()
        self._client_warnings, self._redact = client_warnings, redact
        self._start = self._looked = time.monotonic()
        self._leader: Claim | None = None
        self._since = 0.0
        self._refused: str | None = None
        self._trouble: str | None = None
        """The latest snapshot, if it cannot be trusted, and why."""
        self._rehearsal: Future[None] | None = None
        self._backoff = Backoff("snapshots", logger.warning)
        self.place = RunPlace(config, logger.warning)
        endpoints = Endpoints(
            lambda: (True, f"the last look at the lease was {self._age:.1f} seconds ago"),
            self.ready,
            SharedAnswer(Exporter(self._readings).text),
            lambda: self._redact(as_json(self._status(), indent=2)),
        )
        try:
            self.server = Server(config.host, config.port, endpoints)
        except BaseException:
            self.place.close()
            raise

    def __enter__(self) -> "StandBy":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()
        self.place.close()

    # Waiting --------------------------------------------------------------------------------

    def wait(self) -> bool:
        """Wait until we lead; False if a stop was requested before.

        A store that cannot be reached is waited for, for a minute at the start, and for as long as it takes once it was.
        """
        leads = patiently(self.look, self._backoff, lambda: self._control.stop_requested)
        while not (leads or self._control.stop_requested):
            pause = self.place.store.lease.look_seconds
            try:
                leads = self.look()
            except SnapshotReadError as error:
                pause = max(pause, self._backoff.failed(str(error)))
            else:
                self._backoff.succeeded()
            if not leads:
                time.sleep(pause)
        return leads

    def look(self) -> bool:
        """Look at the lease; whether it is ours now."""
        store = self.place.store
        with reasons(store.url, "read or written"):
            claim = store.lease.look()
            if store.lease.seems_free and store.lease.take():
                self.place.keep()
                self._tell_of_leading()
                return True
        self._looked = time.monotonic()
        self._tell_of(claim)
        if claim.snapshot is not None:
            self._look_at(claim.snapshot)
        if self._rehearsal is None:
            self._rehearsal = in_background(lambda: rehearse(self._config), "rehearsal")
        return False

    def _look_at(self, name: str) -> None:
        """Read and check a snapshot; one that is not to be trusted is told of, once."""
        if name in self.place.known or name == self._refused:
            return
        try:
            self.place.look_at(name)
        except SnapshotReadError:
            raise
        except SnapshotError as error:
            logger.warning(str(error))
            self._refused, self._trouble = name, str(error)
        else:
            self._refused = self._trouble = None
            check_settings(self._config, self.place.known[name])

    def _tell_of(self, claim: Claim) -> None:
        before, self._leader = self._leader, claim
        if claim.holder is not None and (before is None or before.number != claim.number):
            self._since = time.monotonic()
            logger.info(
                "standing by",
                extra={
                    "leader": str(claim.holder),
                    "number": claim.number,
                    "since": claim.since,
                    "snapshots": self.place.store.url,
                    "http": self.server.address,
                },
            )

    def _tell_of_leading(self) -> None:
        lease, extra = self.place.store.lease, {}
        if self._leader is not None:
            waited = round(time.monotonic() - self._start, 1)
            extra = {"after": str(self._leader.holder), "stood_by_seconds": waited}
        logger.info("leading", extra={"number": lease.number, "run": lease.run, **extra})

    # What is asked over HTTP ----------------------------------------------------------------

    @property
    def _age(self) -> float:
        return time.monotonic() - self._looked

    @property
    def _words(self) -> str:
        if self._leader is None:
            return "starting"
        return f"standing by; {self._leader.holder} leads since {self._leader.since}"

    def ready(self) -> tuple[bool, str]:
        """A stand-by is ready when it could lead: whoever replaces daemons one by one waits for that, and not for it to lead."""
        if self._leader is None:
            return False, self._words
        if self._age >= self._config.live_seconds:
            return False, f"{self._words}; the store was not reached for {self._age:.0f} seconds"
        if self._trouble is not None:
            return False, f"{self._words}; {self._trouble}"
        if self._rehearsal is None or not self._rehearsal.done():
            return False, f"{self._words}; the engine is being compiled or loaded"
        return True, self._words

    def _status(self) -> dict[str, Any]:
        leader, known = self._leader, list(self.place.known)
        return {
            "version": stream_rank.__version__,
            "leading": False,
            "standing_by": self._words,
            "leader": None if leader is None or leader.holder is None else leader.holder._asdict(),
            "lease_number": 0 if leader is None else leader.number,
            "snapshot": known[0] if known else None,
            "settings": self._config.shown(),
        }

    def _readings(self) -> Readings:
        leader = self._leader
        found: dict[str, Mapping[tuple[str, ...], float]] = {
            "stream_rank_ready": {(): float(self.ready()[0])},
            "stream_rank_tick_age_seconds": {(): self._age},
            "stream_rank_failures_total": {("snapshots",): self._backoff.failures},
            "stream_rank_client_warnings_total": {(): self._client_warnings()},
            "stream_rank_build_info": {(stream_rank.__version__, self._config.client): 1.0},
        }
        if leader is not None:  # before the first look it is not known which run it is
            found["stream_rank_leading"] = {(leader.run,): 0.0}
            found["stream_rank_lease_number"] = {(leader.run,): leader.number}
        return found
