"""A stage that passes events on at the pace of their timestamps."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from stream_rank.codec.batch import Batch
from stream_rank.ingest.timestamps import NO_TIME

__all__ = ["Pace"]

_LONGEST_SLEEP = 0.05
"""Seconds; between two sleeps the run can be stopped, or a snapshot taken."""


class Pace:
    """Passes events on so that `speed` seconds of event time pass in a second, as `tcpreplay` does with packets.

    An event without a time is passed on with the one before it. While no event is due, an empty part is yielded after
    every sleep, so that whoever runs the loop can stop it or take a snapshot.
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
        """Yield the events that are due, part by part, until all of them were yielded."""
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
                self._sleep(min(_LONGEST_SLEEP, max(wait, 0.001)))
            yield batch.part(done, end)
            done = end
