"""Exponential back-off with jitter."""

import random
import time
from collections.abc import Callable

__all__ = ["Backoff"]

_FIRST_SECONDS, _LONGEST_SECONDS = 0.1, 2.0
"""Seconds between two attempts: short enough to reconnect soon after a broker's restart, long enough not to load one that is
down. A longer wait would keep a client from joining its group, which takes several polls."""
_JITTER = 0.25
"""The random share of a wait, so that daemons that lost the same broker do not all reconnect at once."""


class Backoff:
    """Exponential back-off for one operation. `say` is called with each new reason of failure, and on recovery.

    >>> backoff = Backoff("Kafka", print, draw=lambda: 0.0)
    >>> backoff.failed("connection refused")
    Kafka: connection refused
    0.1
    >>> backoff.failed("connection refused")
    0.2
    >>> backoff.succeeded()
    Kafka: recovered after ... seconds and 2 attempts
    """

    def __init__(
        self,
        what: str,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
        longest: float = _LONGEST_SECONDS,
    ) -> None:
        """`longest`: the most seconds between two attempts."""
        self._what, self._say, self._clock, self._draw = what, say, clock, draw
        self._longest = longest
        self._since: float | None = None
        self._attempts, self._last_reason = 0, ""
        self.failures = 0
        """Failed attempts since the object was created."""

    @property
    def active(self) -> bool:
        """Whether the last attempt failed."""
        return self._since is not None

    def failed(self, reason: str) -> float:
        """Record a failed attempt and its reason; returns the seconds to wait before the next one."""
        if self._since is None:
            self._since = self._clock()
        if reason != self._last_reason:
            self._say(f"{self._what}: {reason}")
        self._last_reason = reason
        self._attempts += 1
        self.failures += 1
        wait = min(_FIRST_SECONDS * 2.0 ** min(self._attempts - 1, 16), self._longest)
        return wait * (1.0 - _JITTER * self._draw())

    def succeeded(self) -> None:
        """Record a successful attempt."""
        if self._since is not None:
            seconds = self._clock() - self._since
            self._say(
                f"{self._what}: recovered after {seconds:.1f} seconds and {self._attempts} attempts"
            )
            self._since, self._attempts, self._last_reason = None, 0, ""
