"""Python's garbage collection, for processes that make many small objects and few cycles."""

import gc

from stream_rank.monitoring.throttle import Throttle

__all__ = ["GarbageCollection"]

_OBJECTS, _ROUNDS = 100_000, 50
"""A poll makes thousands of messages, each of which the collector would look at, again and again: half of what they cost."""
_PERIOD = 5.0
"""Seconds between two sweeps: kafka-python leaves cycles behind, some 2 MB of them meanwhile under full load."""


class GarbageCollection:
    """Looks at what was loaded before it was made never again, and at the rest when there is time for it."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()
        gc.set_threshold(_OBJECTS, _ROUNDS, _ROUNDS)
        self._throttle = Throttle(_PERIOD)

    def tick(self) -> None:
        """Sweep, if it is time to."""
        self._throttle.run(gc.collect)
