"""Giving events on at the pace at which they happened."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from stream_rank.codec.batch import Batch
from stream_rank.ingest.timestamps import NO_TIME

__all__ = ["Pace"]

_NAP = 0.05
"""Seconds after which whoever waits may do something else."""


class Pace:
    """`speed` seconds of the events' time pass in a second; an event without a time comes with the one before it.

    Pacing, as in `tcpreplay`: while nothing is due, a part without events is given on every so often, so that
    whoever runs the loop can stop it or take a snapshot.
    """

    def __init__(
        self,
        speed: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._speed, self._clock, self._sleep = speed, clock, sleep
        self._began: tuple[float, int] | None = None

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Give on the events that are due, every so often until all of them were."""
        times = batch.times
        timed = times[times != NO_TIME]
        if self._began is None and len(timed):
            self._began = self._clock(), int(timed[0])
        if self._began is None or not len(times):
            yield batch
            return
        start, first = self._began
        due = np.maximum.accumulate(np.where(times == NO_TIME, first, times))
        done = 0
        while done < len(times):
            now = first + (self._clock() - start) * 1000 * self._speed
            end = int(np.searchsorted(due, now, "right"))
            if end == done:
                wait = (float(due[done]) - now) / 1000 / self._speed
                self._sleep(min(_NAP, max(wait, 0.001)))
            yield batch.part(done, end)
            done = end
