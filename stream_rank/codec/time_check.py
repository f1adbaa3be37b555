"""A look at the first times of a run: do they count what the settings say?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading.timestamps import NO_TIME

__all__ = ["TimeCheck"]

_ENOUGH = 100
_JANUARY = 31 * 86_400_000
"""Milliseconds of the first month: seconds since 1970, taken for milliseconds, have not left it."""


class TimeCheck:
    """Says once that times look like seconds. Cost: nothing an event, after the first hundred with a time."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say, self._seen = say, 0

    def see(self, times: npt.NDArray[Any]) -> None:
        """Look at the times of some events, until enough were seen or one is later."""
        if self._seen >= _ENOUGH:
            return
        timed = times[times != NO_TIME][: _ENOUGH - self._seen]
        if not ((timed >= 0) & (timed < _JANUARY)).all():
            self._seen = _ENOUGH
            return
        self._seen += len(timed)
        if self._seen == _ENOUGH and np.size(timed):
            self._say(
                f"the first {_ENOUGH} times (ts) are all in January 1970, as seconds would be: set `ts_unit` to s if they are"
            )
