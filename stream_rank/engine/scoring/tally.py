"""Counting predictions, one after the other, so that it does not matter in what portions they come."""

import numpy as np

from stream_rank.engine.jit import compiled

__all__ = [
    "BLOCK_COUNT",
    "BLOCK_FIRST",
    "BLOCK_LOSS",
    "BLOCK_SQUARES",
    "BLOCK_SUM",
    "COUNT",
    "LOSS",
    "PAIRS",
    "SPREAD",
    "SUMS",
    "WRONG",
    "tally",
]

# Entries of the sums. The spread and the pairs are of groups that were forgotten. Of a block, the first residual, and the sums of the
# others' differences to it and of their squares: so much is not lost of them where residuals are large and alike.
COUNT, LOSS, WRONG, SPREAD, PAIRS, BLOCK_COUNT, BLOCK_LOSS = range(7)
BLOCK_FIRST, BLOCK_SUM, BLOCK_SQUARES = range(7, 10)
SUMS = 10


@compiled
def tally(
    labels, predictions, numbers, block, sums, recent, confusion, groups, block_means, block_spreads
):
    """Count predictions; how many blocks of `block` predictions ended, whose mean losses are in `block_means`.

    `block_spreads` has the mean squared difference of two residuals of each block, over all its pairs.

    `recent` is a ring of the last labels, predictions and numbers of groups; `confusion` has a row for each label, or none if
    labels are no ranks. `groups` has a column for each group: its number, and the count, the mean and the spread (the
    sum of squared distances to the mean) of its residuals, which are carried on as Welford did (1962). A
    group whose column another one needs (never group 0) is added to the sums. A prediction that is NaN was none, and does not count.
    """
    n_ranks, n_recent, ended = len(confusion), recent.shape[1], 0
    at = (
        np.int64(sums[COUNT]) % n_recent
    )  # a remainder an event would take longer than all the rest
    count, losses, wrong = sums[COUNT], sums[LOSS], sums[WRONG]
    block_count, block_loss = sums[BLOCK_COUNT], sums[BLOCK_LOSS]
    first, total, squares = sums[BLOCK_FIRST], sums[BLOCK_SUM], sums[BLOCK_SQUARES]
    for i in range(len(labels)):
        if np.isnan(predictions[i]):
            continue
        residual = labels[i] - predictions[i]
        loss = abs(residual)
        recent[0, at], recent[1, at], recent[2, at] = labels[i], predictions[i], numbers[i]
        at = at + 1 if at + 1 < n_recent else 0
        count += 1.0
        losses += loss
        wrong += loss != 0.0
        column = 0 if numbers[i] == 0 else 1 + (numbers[i] - 1) % (groups.shape[1] - 1)
        size, mean, spread = groups[1, column], groups[2, column], groups[3, column]
        if groups[0, column] != numbers[i]:
            sums[SPREAD] += size * spread
            sums[PAIRS] += size * size
            groups[0, column], size, mean, spread = numbers[i], 0.0, 0.0, 0.0
        size += 1.0
        step = residual - mean
        mean += step / size
        spread += step * (residual - mean)
        groups[1, column], groups[2, column], groups[3, column] = size, mean, spread
        if n_ranks > 0:
            row = min(max(np.int64(labels[i]) - 1, 0), n_ranks - 1)
            place = min(max(np.int64(predictions[i]) - 1, 0), n_ranks - 1)
            confusion[row, place] += 1
        if block_count == 0.0:
            first = residual
        block_count += 1.0
        block_loss += loss
        total += residual - first
        squares += (residual - first) * (residual - first)
        if block_count == block:
            block_means[ended] = block_loss / block
            spread = 2.0 * (squares - total * total / block) / block
            block_spreads[ended] = 0.0 if spread < 0.0 else spread  # by a last digit
            ended += 1
            block_count, block_loss, total, squares = 0.0, 0.0, 0.0, 0.0
    sums[COUNT], sums[LOSS], sums[WRONG] = count, losses, wrong
    sums[BLOCK_COUNT], sums[BLOCK_LOSS] = block_count, block_loss
    sums[BLOCK_FIRST], sums[BLOCK_SUM], sums[BLOCK_SQUARES] = first, total, squares
    return ended
