"""Single events that have few of the known features, as Python writes them into a learner's memory.

A section has the slots, in any order, and behind them the values. So an event costs one call that brings no array but the
memory, and what its own entries cost.
"""

import numpy as np

from stream_rank.engine.events import Sparse, bounded
from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Section, place
from stream_rank.engine.pointers import get, pointer, put

__all__ = ["MOST", "few_entries", "few_section"]

MOST = 256
"""As many entries fit in; their slots are sorted by insertion, whose cost is at worst the square of that."""


def few_section() -> Section:
    """The section that such an event is written to."""
    return Section("int64", (2 * MOST,), scratch=True)


@inlined
def few_entries(block, section, count, bound):
    """The event of `count` entries, its slots ascending from now on; of -1 entries if a value is beyond `bound`."""
    start = place(block, section)
    slots = pointer(block, start, np.int64)
    values = pointer(block, start + 8 * count, block.dtype)
    if not bounded(values, count, bound):
        return Sparse(slots, values, -1)
    for entry in range(1, count):
        slot, value, at = get(slots, entry), get(values, entry), entry
        while at > 0 and get(slots, at - 1) > slot:
            put(slots, at, get(slots, at - 1))
            put(values, at, get(values, at - 1))
            at -= 1
        put(slots, at, slot)
        put(values, at, value)
    return Sparse(slots, values, count)
