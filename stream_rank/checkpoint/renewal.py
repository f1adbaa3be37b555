"""A lease that is renewed as long as a run lasts."""

import time
from concurrent import futures
from contextlib import suppress
from threading import Event, Thread

from stream_rank.background import in_background
from stream_rank.checkpoint.lease import Lease
from stream_rank.errors import LeaseError, cause_of
from stream_rank.ingest.backoff import Backoff

__all__ = ["Renewal"]

_SHARE = 0.25
"""Of the time for which a lease is good, after which it is renewed: an attempt that fails leaves time for others."""
_CLOSE_SECONDS = 5.0
"""For giving it back to a store that may hang; without that, others wait until it has run out."""


class Renewal:
    """Renews a lease on a thread of its own, until it is closed: a chunk may take longer than a lease lasts."""

    def __init__(self, lease: Lease, backoff: Backoff) -> None:
        self._lease, self._backoff = lease, backoff
        self._ended = Event()
        Thread(target=self._run, name="lease", daemon=True).start()

    def _run(self) -> None:
        usual = pause = self._lease.seconds * _SHARE
        while not self._ended.wait(pause):
            begun = time.monotonic()
            try:
                self._lease.renew()
            except LeaseError:
                return  # whoever learns asks the lease, and is told
            except Exception as error:  # a store may raise anything, and may be back in a moment
                said = cause_of(error) if isinstance(error, OSError) else repr(error)
                pause = min(usual, self._backoff.failed(said))
            else:
                self._backoff.succeeded()
                # since the lease counts from then: what was answered late has to be renewed soon
                pause = max(0.0, usual - (time.monotonic() - begun))

    def close(self) -> None:
        """Renew no more, and let others have the lease."""
        self._ended.set()
        with suppress(Exception):  # it runs out by itself
            futures.wait([in_background(self._lease.give_back, "lease")], _CLOSE_SECONDS)
