"""Tuning of Python's garbage collector for many short-lived objects and few cycles."""

import gc

from stream_rank.monitoring.throttle import Throttle

__all__ = ["GarbageCollection"]

_OBJECTS, _ROUNDS = 100_000, 50
"""Collection thresholds: with the defaults, the collector scans the thousands of messages of a poll repeatedly, half of their cost."""
_PERIOD = 5.0
"""Seconds between two collections: under full load kafka-python leaves about 2 MB of cycles in that time."""


class GarbageCollection:
    """Freezes the objects that exist when it is created, and collects the others at intervals."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()
        gc.set_threshold(_OBJECTS, _ROUNDS, _ROUNDS)
        self._throttle = Throttle(_PERIOD)

    def tick(self) -> None:
        """Collect, if the period has passed."""
        self._throttle.run(gc.collect)
