"""Python's collector of garbage, for processes that make many small objects and few circles."""

import gc

from stream_rank.monitoring.throttle import Throttle

__all__ = ["Collector"]

_OBJECTS, _ROUNDS = 100_000, 50
"""A poll makes thousands of messages, each of which the collector would look at, again and again: half of what they cost."""
_PERIOD = 5.0
"""Seconds between two sweeps: kafka-python leaves circles behind, some 2 MB of them meanwhile under full load."""


class Collector:
    """Looks at what was loaded before it was made never again, and at the rest when there is time for it."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()
        gc.set_threshold(_OBJECTS, _ROUNDS, _ROUNDS)
        self._seldom = Throttle(_PERIOD)

    def tick(self) -> None:
        """Sweep, if it is time to."""
        self._seldom.run(gc.collect)
