"""Python's collector of garbage, for processes that make many small objects and no circles."""

import gc

__all__ = ["calm_collector"]

_OBJECTS, _ROUNDS = 100_000, 50
"""A poll makes thousands of messages, each of which the collector would look at, again and again: half of what they cost."""


def calm_collector() -> None:
    """Look at what was loaded never again, and at the rest rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS, _ROUNDS, _ROUNDS)
