"""Prediction sets, one after the other: neighbouring ranks, the level that decides how many, and how often the label was among them."""

import numpy as np

from stream_rank.engine.jit import compiled

__all__ = ["COUNT", "COVERED", "LEVEL", "RECENT", "SIZE", "SUMS", "bounds", "count_sets"]

# Entries of the sums; of the recent ones the rows are whether a label was covered, and the size of its set.
LEVEL, COUNT, COVERED, SIZE = range(4)
SUMS, RECENT = 4, 2


@compiled
def bounds(shares, level):
    """The lowest rank that is more probable than `1 - level`, from 0 on, and the one behind the highest; all at a level of 1."""
    count = len(shares)
    if not level < 1.0:
        return 0, count
    first, end = count, 0
    for rank in range(count):  # nothing that could be foreseen: so nothing branches
        within = shares[rank] > 1.0 - level
        first = min(first, rank if within else count)
        end = rank + 1 if within else end
    return first, max(first, end)


@compiled
def count_sets(shares, labels, coverage, rate, sums, recent):
    """Compare the sets of events with their labels, the ranks from 1 on, and move the level after each, by `1 / sqrt(t)` at first.

    `recent` is a ring of the last ones. A row of shares that begins with NaN was no prediction, and does not count.
    """
    for i in range(len(labels)):
        if np.isnan(shares[i, 0]):
            continue
        first, end = bounds(shares[i], sums[LEVEL])
        covered = 1.0 if first < labels[i] <= end else 0.0
        place = np.int64(sums[COUNT]) % recent.shape[1]
        recent[0, place], recent[1, place] = covered, end - first
        sums[COUNT] += 1.0
        sums[COVERED] += covered
        sums[SIZE] += end - first
        now = max(rate, 1.0 / np.sqrt(sums[COUNT]))
        sums[LEVEL] += now * ((1.0 - covered) - (1.0 - coverage))
