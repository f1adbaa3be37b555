"""Counting what was predicted of preferences, one after the other, so that it does not matter in what portions they come."""

import numpy as np

from stream_rank.engine.functions import logarithm
from stream_rank.engine.jit import compiled
from stream_rank.engine.scoring.odds import FIRST, SECOND, TIE

__all__ = [
    *("BLOCK_COUNT", "BRIER", "COUNT", "DECIDED", "DECIDED_ERROR", "ERROR", "LEAST_PROBABILITY"),
    *("LOG_LOSS", "MAGNITUDE_LOSS", "RECENT", "SUMS", "tally_preferences"),
]

# Entries of the sums; the first four are the rows of the recent ones too.
ERROR, LOG_LOSS, BRIER, MAGNITUDE_LOSS, COUNT, DECIDED, DECIDED_ERROR = range(7)
BLOCK_COUNT, BLOCK_ERROR = 7, 8
SUMS, RECENT = 9, 4

LEAST_PROBABILITY = 1e-15
"""A smaller probability counts as this one, as in River's log-loss: one event must not decide all."""


@compiled
def tally_preferences(leads, proba, magnitudes, block, sums, recent, block_means):
    """Count predictions; how many blocks of `block` predictions ended, whose mean errors are in `block_means`.

    A pair in the wrong order is an error, and a half where a tie was predicted, or where one came and an order was
    predicted. A lead that is NaN was no prediction, and does not count. `recent` is a ring of the last losses.
    """
    ended = 0
    for i in range(len(leads)):
        lead = leads[i]
        if np.isnan(lead):
            continue
        tied = magnitudes[i] == 0.0
        ahead = 1.0 if lead > 0.0 else -1.0 if lead < 0.0 else 0.0
        error = 0.5 * abs((0.0 if tied else 1.0) - ahead)
        first, tie, second = proba[i, FIRST], proba[i, TIE], proba[i, SECOND]
        likelihood = tie if tied else first
        log_loss = -logarithm(max(likelihood, LEAST_PROBABILITY))
        off = (0.0 if tied else 1.0) - first
        brier = off * off + second * second
        off = (1.0 if tied else 0.0) - tie
        brier += off * off
        distance = magnitudes[i] - lead
        losses = (error, log_loss, brier, distance * distance)
        place = np.int64(sums[COUNT]) % recent.shape[1]
        for k in range(RECENT):
            recent[k, place] = losses[k]
            sums[k] += losses[k]
        sums[COUNT] += 1.0
        if not tied:
            sums[DECIDED] += 1.0
            sums[DECIDED_ERROR] += error
        sums[BLOCK_COUNT] += 1.0
        sums[BLOCK_ERROR] += error
        if sums[BLOCK_COUNT] == block:
            block_means[ended] = sums[BLOCK_ERROR] / block
            ended += 1
            sums[BLOCK_COUNT] = 0.0
            sums[BLOCK_ERROR] = 0.0
    return ended
