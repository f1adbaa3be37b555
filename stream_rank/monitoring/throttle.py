"""A throttle for periodic work, which limits its share of the time."""

import time
from collections.abc import Callable

__all__ = ["Throttle"]

_PAUSE_FACTOR = 100.0
"""The pause after the work, as a multiple of its duration: it takes at most a hundredth of the time, ..."""
_LONGEST_PAUSE = 30.0
"""... but the pause is at most so many seconds, so that the result does not become too old."""


class Throttle:
    """Runs work when it is due.

    >>> moments = iter([0.0, 5.0, 5.5, 8.0])
    >>> throttle = Throttle(2.0, clock=lambda: next(moments))
    >>> throttle.run(lambda: None)  # at 5.0, and done at 5.5
    >>> throttle.run(lambda: 1 / 0)  # at 8.0 it is not due yet
    """

    def __init__(self, period: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`period` is in seconds."""
        self._period, self._clock = period, clock
        self._next = clock()

    def run(self, work: Callable[[], object]) -> None:
        """Do the work, if it is due."""
        begun = self._clock()
        if begun >= self._next:
            work()
            ended = self._clock()
            self._next = ended + max(
                self._period, min(_LONGEST_PAUSE, _PAUSE_FACTOR * (ended - begun))
            )
