"""The limits on values, of all events of a chunk at once."""

import numpy as np

from stream_rank.engine.jit import compiled
from stream_rank.engine.reading.events import LABEL, PREFERENCE

__all__ = ["exceed"]


@compiled
def exceed(read, kinds, labels, entries, values, n_ranks, delayed, largest, longest, marks):
    """Mark the events that were not read, have no features or any beyond the limits, or a label that is none.

    `n_ranks` is 0 where labels are any numbers; labels alone need no features where they are `delayed`. Returns whether there are
    preferences, of whose two items more has to be looked at. Cost: half a nanosecond an entry.
    """
    preferences = False
    for line in range(len(marks)):
        label, kind = labels[line], kinds[line]
        good, square = entries[line, 0] < entries[line, 1], 0.0
        for entry in range(entries[line, 0], entries[line, 1]):
            good &= abs(values[entry]) <= largest
            square += values[entry] * values[entry]
        good &= square <= longest
        good |= delayed and kind == LABEL
        if n_ranks == 0:
            good &= not abs(label) > largest
        elif kind != PREFERENCE and not np.isnan(label):
            good &= label >= 1.0 and label <= n_ranks and label == np.floor(label)
        marks[line] = not (good and read[line])
        preferences |= kind == PREFERENCE
    return preferences
