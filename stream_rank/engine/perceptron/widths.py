"""A Gaussian kernel's width that follows the stream: the root of half the mean square of the events learned so far.

It depends on the events alone, and not on how many features are known, which are met a batch at a time. Support vectors are kept as they came,
so a width that changes leaves nothing behind.

Cost: O(1) an event.
"""

import numpy as np

from stream_rank.engine.jit import inlined
from stream_rank.engine.pointers import get, put
from stream_rank.engine.support import GAUSSIAN, KIND

__all__ = ["FOLLOWING", "observe"]

FOLLOWING = 1.0
"""The second parameter of a Gaussian kernel that follows, before any event: one more than the events it knows. Others have 0."""

_LEAST = 1e-100


@inlined
def observe(support, square):
    """Let the width follow an event that was learned, by its square."""
    place = get(support.parameters, 1)
    if get(support.sizes, KIND) == GAUSSIAN and place >= FOLLOWING:
        width = get(support.parameters, 0)
        mean = 2.0 * width * width if place > FOLLOWING else 0.0
        mean += (square - mean) / place
        put(support.parameters, 0, max(np.sqrt(0.5 * mean), _LEAST))
        put(support.parameters, 1, place + 1.0)
