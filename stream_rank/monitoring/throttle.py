"""Work that is done every so often, and hardly ever for more than its share of the time."""

import time
from collections.abc import Callable

__all__ = ["Throttle"]

_PATIENCE = 100.0
"""Times that the work took, before it is done again: so it has a hundredth of the time, ..."""
_LONGEST = 30.0
"""... unless that were longer than so many seconds: what is older is not worth looking at."""


class Throttle:
    """Says when it is time.

    >>> moments = iter([0.0, 5.0, 5.5, 8.0])
    >>> throttle = Throttle(2.0, clock=lambda: next(moments))
    >>> throttle.run(lambda: None)  # at 5.0, and done at 5.5
    >>> throttle.run(lambda: 1 / 0)  # at 8.0 it is not time yet
    """

    def __init__(self, period: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`period` is in seconds."""
        self._period, self._clock = period, clock
        self._next = clock()

    def run(self, work: Callable[[], object]) -> None:
        """Do it, if it is time to."""
        begun = self._clock()
        if begun >= self._next:
            work()
            ended = self._clock()
            self._next = ended + max(self._period, min(_LONGEST, _PATIENCE * (ended - begun)))
