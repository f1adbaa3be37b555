"""The means and deviations of two streams together, from those of each.

Reference: T. F. Chan, G. H. Golub and R. J. LeVeque. Updating formulae and a pairwise algorithm for computing sample variances. 1979.
"""

import numpy as np

from stream_rank.engine.jit import compiled
from stream_rank.engine.preparation.scaling import (
    CONSTANT,
    COUNT,
    FACTOR,
    MEAN,
    MORE,
    SPREAD,
)

__all__ = ["join_sums"]


@compiled
def join_sums(sums, other, places):
    """Add what is known of another stream's features, which are at `places`. Cost: O(features)."""
    for j in range(len(places)):
        at, more = places[j], other[COUNT, j]
        if more == 0.0:
            continue
        count, distance = sums[COUNT, at], other[MEAN, j] - sums[MEAN, at]
        whole = count + more
        squares = sums[SPREAD, at] + other[SPREAD, j]
        squares += distance * distance * (count * (more / whole))
        sums[COUNT, at] = whole
        sums[MEAN, at] += distance * (more / whole)
        sums[SPREAD, at] = squares
        sums[FACTOR, at] = np.sqrt(whole / squares) if squares > CONSTANT else 0.0
        sums[MORE, at] = max(sums[MORE, at], other[MORE, j])
