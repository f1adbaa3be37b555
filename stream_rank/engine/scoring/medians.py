"""Running medians of labels, of all events and of each group, by counts of every label."""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import get, pointer, shift

__all__ = [
    *("ABSOLUTE", "BELOW", "COUNT", "GROUPED", "GROUP_ABSOLUTE", "NUMBER", "PLACE", "ROW", "SUMS"),
    *("TOTAL", "tally_medians"),
]

# Entries of the sums: predictions, their losses by the median and by the median of the group, and events that had a group.
COUNT, ABSOLUTE, GROUP_ABSOLUTE, GROUPED = range(4)
SUMS = 4

# Entries of a row: the number of its group, its events, the place of its median, and how many labels lie below that.
NUMBER, TOTAL, PLACE, BELOW = range(4)
ROW = 4


@inlined
def _moved(counts, place, total, middle, below):
    """Where the median of so many labels is after one more at a place, and how many lie below it."""
    below += place < middle  # without a branch: on which side labels fall cannot be foretold
    while 2 * below >= total:
        middle -= 1
        below -= get(counts, middle)
    while 2 * (below + get(counts, middle)) < total:
        below += get(counts, middle)
        middle += 1
    return middle, below


@compiled
def tally_medians(labels, places, values, numbers, counts, rows, sums, recent):
    """Predict each label by the medians of those before it, count the losses, and then the label.

    `values` are what labels may be, in order, and `places` where each stands among them; if that is empty, they are the ranks from 1
    on. Row 0 of `counts` has how often each value came, every other row the same of a group, and `rows` what
    is known of its median, the lower one of two. Of a group without an event yet, and of events without a group (number
    0), the median is that of all events. A group whose row another one needs is forgotten. `recent` is a ring of the
    last losses, its second row by group. The first event of all cannot be predicted, and is no loss.

    Cost: O(1) an event while the median stays, else the places that it moves by.
    """
    n_recent, last = recent.shape[1], len(values) - 1
    counted = pointer(counts, 0, np.int64)
    at = int(sums[COUNT]) % n_recent  # a remainder an event would be half of the time
    total, middle, below = rows[0, TOTAL], rows[0, PLACE], rows[0, BELOW]
    loss_sum, group_sum, grouped = sums[ABSOLUTE], sums[GROUP_ABSOLUTE], 0
    predicted = len(labels) if total > 0 else len(labels) - 1
    apart = sums[GROUPED] > 0.0  # until then both rows of the ring would be the same
    for i in range(len(labels)):
        label, number = labels[i], numbers[i]
        place = places[i] if len(places) > 0 else min(max(int(label) - 1, 0), last)
        loss = abs(label - values[middle])
        of_group = loss
        if number != 0:
            if not apart:
                recent[1, :] = recent[0, :]
                apart = True
            grouped += 1
            row = 1 + (number - 1) % (len(rows) - 1)
            if rows[row, NUMBER] != number:
                counts[row, :] = 0
                rows[row, NUMBER] = number
                rows[row, TOTAL] = 0
                rows[row, PLACE] = 0
                rows[row, BELOW] = 0
            elif rows[row, TOTAL] > 0:
                of_group = abs(label - values[rows[row, PLACE]])
            counts[row, place] += 1
            rows[row, TOTAL] += 1
            rows[row, PLACE], rows[row, BELOW] = _moved(
                *(shift(counted, row * len(values)), place, rows[row, TOTAL]),
                *(rows[row, PLACE], rows[row, BELOW]),
            )
        if total > 0:
            recent[0, at] = loss
            if apart:
                recent[1, at] = of_group
            at = at + 1 if at + 1 < n_recent else 0
            loss_sum += loss
            group_sum += of_group
        counts[0, place] += 1
        total += 1
        middle, below = _moved(counted, place, total, middle, below)
    rows[0, TOTAL], rows[0, PLACE], rows[0, BELOW] = total, middle, below
    sums[COUNT] += predicted
    sums[ABSOLUTE], sums[GROUP_ABSOLUTE] = loss_sum, group_sum
    sums[GROUPED] += grouped
