"""Waiting longer and longer before something that failed is tried again."""

import random
import time
from collections.abc import Callable

__all__ = ["Backoff"]

_FIRST, _LONGEST = 0.1, 2.0
"""Seconds between two attempts: a broker that restarts is found again soon, and one that is down is left alone.
Longer ones would keep a client from joining its group, which takes several polls."""
_JITTER = 0.25
"""The part of a wait that is drawn: daemons that lost one broker together do not come back together."""


class Backoff:
    """Exponential back-off with jitter for one thing that may fail. `say` hears when it begins and ends to fail.

    >>> backoff = Backoff("Kafka", print, draw=lambda: 0.0)
    >>> backoff.failed("nobody answers")
    Kafka: nobody answers
    0.1
    >>> backoff.failed("nobody answers")
    0.2
    >>> backoff.succeeded()
    Kafka: well again after ... seconds and 2 attempts
    """

    def __init__(
        self,
        what: str,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._what, self._say, self._clock, self._draw = what, say, clock, draw
        self._since: float | None = None
        self._attempts, self._said = 0, ""
        self.failures = 0
        """Attempts that failed, since the object was made."""

    @property
    def active(self) -> bool:
        """Whether the last attempt failed."""
        return self._since is not None

    def failed(self, reason: str) -> float:
        """Note an attempt that failed, and why; for how many seconds not to try again."""
        if self._since is None:
            self._since = self._clock()
        if reason != self._said:
            self._say(f"{self._what}: {reason}")
        self._said = reason
        self._attempts += 1
        self.failures += 1
        longest = min(_FIRST * 2.0 ** min(self._attempts - 1, 16), _LONGEST)
        return longest * (1.0 - _JITTER * self._draw())

    def succeeded(self) -> None:
        """Note that an attempt succeeded."""
        if self._since is not None:
            seconds = self._clock() - self._since
            self._say(
                f"{self._what}: well again after {seconds:.1f} seconds and {self._attempts} attempts"
            )
            self._since, self._attempts, self._said = None, 0, ""
