"""Counting predictions, one after the other, so that it does not matter in what portions they come."""

import numpy as np

from stream_rank.engine.jit import compiled

__all__ = ["BLOCK_COUNT", "BLOCK_LOSS", "COUNT", "LOSS", "MEAN", "SPREAD", "SUMS", "WRONG", "tally"]

# Entries of the sums. The mean and the spread (the sum of squared distances to the mean) are of the residuals.
COUNT, LOSS, WRONG, MEAN, SPREAD, BLOCK_COUNT, BLOCK_LOSS = range(7)
SUMS = 7


@compiled
def tally(labels, predictions, block, sums, recent, confusion, block_means):
    """Count predictions; how many blocks of `block` predictions ended, whose mean losses are in `block_means`.

    `recent` is a ring of the last labels and predictions; `confusion` has a row for each label, or none if
    labels are no ranks. A prediction that is NaN was none, and does not count. The mean and
    the spread are carried on as Welford did (1962).
    """
    n_ranks, n_recent, ended = len(confusion), recent.shape[1], 0
    for i in range(len(labels)):
        if np.isnan(predictions[i]):
            continue
        residual = labels[i] - predictions[i]
        loss = abs(residual)
        place = np.int64(sums[COUNT]) % n_recent
        recent[0, place], recent[1, place] = labels[i], predictions[i]
        sums[COUNT] += 1.0
        sums[LOSS] += loss
        sums[WRONG] += loss != 0.0
        step = residual - sums[MEAN]
        sums[MEAN] += step / sums[COUNT]
        sums[SPREAD] += step * (residual - sums[MEAN])
        if n_ranks > 0:
            row = min(max(np.int64(labels[i]) - 1, 0), n_ranks - 1)
            column = min(max(np.int64(predictions[i]) - 1, 0), n_ranks - 1)
            confusion[row, column] += 1
        sums[BLOCK_COUNT] += 1.0
        sums[BLOCK_LOSS] += loss
        if sums[BLOCK_COUNT] == block:
            block_means[ended] = sums[BLOCK_LOSS] / block
            ended += 1
            sums[BLOCK_COUNT] = 0.0
            sums[BLOCK_LOSS] = 0.0
    return ended
