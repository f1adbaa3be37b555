"""How often records come, and since when none has."""

import time
from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate, repeat
from operator import mul
from statistics import median

__all__ = ["Arrivals"]

_BOUNDS = tuple(accumulate(repeat(1.2, 115), mul, initial=0.001))
"""Gaps are told apart up to a fifth, from a millisecond to fifteen days."""
_FEW, _UNKNOWN = 10, 150.0
"""Of fewer gaps nobody knows what is usual; such a stream is held to be so slow."""
_MOST, _USUAL = 1 / 50, 0.9
"""A gap weighs as many seconds as it lasts, but, unless it is like the first ones, no more than so much of all: an outage is not usual. Usual is what so much of the
weight does not exceed: of a minute's silence between two bursts it is the minute, not the milliseconds within a burst."""
_MEMORY = 6 * 3600.0
"""Seconds of weight, after which the past counts half."""


class Arrivals:
    """Gaps between chunks that came. One thread notes them; any may read.

    >>> clock = iter(range(0, 2000, 20))
    >>> arrivals = Arrivals(lambda: next(clock))
    >>> for _ in range(12):
    ...     arrivals.came()
    >>> arrivals.usual_gap < 24, arrivals.age
    (True, 20)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._interrupted = True  # before the first there is no gap
        self._first: list[float] = []
        self._small = 0.0
        self._weights = [0.0] * len(_BOUNDS)

    def interrupted(self) -> None:
        """Nothing could come: what passes until the next is not counted."""
        self._interrupted = True

    def came(self) -> None:
        """A chunk came. Cost: some microseconds."""
        now = self._clock()
        gap, self._last = now - self._last, now
        counts, self._interrupted = not self._interrupted, False
        if not counts:
            return
        if len(self._first) < _FEW:
            self._first.append(gap)
            if len(self._first) == _FEW:
                self._small = 2 * median(self._first)  # a daemon that starts has other things to do
                for each in self._first:
                    self._weigh(each, min(each, self._small))
            return
        whole = sum(self._weights)
        self._weigh(gap, min(gap, max(self._small, _MOST * whole)))
        if whole > _MEMORY:
            self._weights = [weight / 2 for weight in self._weights]

    def _weigh(self, gap: float, weight: float) -> None:
        self._weights[min(bisect_left(_BOUNDS, gap), len(_BOUNDS) - 1)] += weight

    @property
    def age(self) -> float:
        """Seconds since the last came, or since the start."""
        return self._clock() - self._last

    @property
    def usual_gap(self) -> float:
        """Seconds that usually pass between two."""
        if len(self._first) < _FEW:
            return _UNKNOWN
        weights = list(self._weights)
        above = (1 - _USUAL) * sum(weights)
        for place in reversed(range(len(weights))):
            above -= weights[place]
            if above <= 0:
                return _BOUNDS[place]
        return _BOUNDS[0]
