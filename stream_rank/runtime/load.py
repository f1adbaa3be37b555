"""How much of its time a run works."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from stream_rank.pipeline.loop import Loop

__all__ = ["Load"]

_SECONDS = 0.5
"""Between two looks."""
_STAGES = ("decoding", "learning", "scoring")


class Load:
    """The share of its time that a run works, with the thread that asks and the one that learns: 1 if it has more to do than it can.

    Both are summed, as if they had one core. By itself that would be too little on a machine that has other things to do; so a run
    that is behind by more than it learned since the last look is one that works all the time.
    """

    def __init__(self, loop: Loop, lag: Callable[[Any], Mapping[Any, int]]) -> None:
        """`lag` is how far behind a position is, by partition."""
        self._loop, self._lag = loop, lag
        self._before = self._now()
        self._share = 1.0

    def _now(self) -> tuple[float, float, int]:
        stages, counts = self._loop.stopwatch.stages, self._loop.progress.counts
        worked = time.thread_time() + sum(stages[name].total for name in _STAGES)
        return time.monotonic(), worked, counts.records

    def __call__(self) -> float:
        """The share of the last half second or so; to be asked for between two chunks, by the thread of the run."""
        moment, worked, records = self._before
        if time.monotonic() - moment >= _SECONDS:
            self._before = now = self._now()
            behind = sum(self._lag(self._loop.progress.position).values())
            share = (now[1] - worked) / (now[0] - moment)
            self._share = 1.0 if behind > now[2] - records else min(1.0, share)
        return self._share
