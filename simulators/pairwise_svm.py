"""A support vector machine over pairs, as its dual has it: a coefficient for every pair.

The scores minimise `|f|**2 / 2 + C * sum of max(0, 1 - (f(h) - f(j)))` over all pairs in which h is preferred over j. A step takes the
best value of one pair's coefficient, between 0 and C, and costs as much as there are events where it changes anything. Pairs
whose coefficients lie at a bound and pull outwards are left out, until the others are done. This is what SVM-light does for
rankings, whose pairs are as many as the square of the events.

References
----------
T. Joachims. Optimizing search engines using clickthrough data. KDD 2002.
C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan. A dual coordinate descent method for large-scale linear SVM. ICML 2008.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.jit import compiled

__all__ = ["Trained", "train"]

Array = npt.NDArray[Any]

_PRECISION = 1e-3
"""By how much a pair may miss its margin, or pass it, as in SVM-light."""


class Trained(NamedTuple):
    """The scores of what was learned, the coefficients of its pairs, and how often pairs were gone through."""

    scores: Array
    coefficients: Array
    passes: int


@compiled
def _pass(
    order: Array,
    preferred: Array,
    other: Array,
    C: float,
    K: Array,
    coefficients: Array,
    scores: Array,
    bound: float,
    kept: Array,
) -> Any:
    """A step for each pair in this order; how many are kept, the most that one pulls, and the least."""
    m, n_kept, most, least = scores.size, 0, -np.inf, np.inf
    for place in range(order.size):
        pair = order[place]
        h, j, before = preferred[pair], other[pair], coefficients[pair]
        slope = scores[h] - scores[j] - 1.0
        pull = slope
        if before == 0.0:
            if slope > bound:
                continue
            pull = min(slope, 0.0)
        elif before == C:
            if slope < -bound:
                continue
            pull = max(slope, 0.0)
        kept[n_kept] = pair
        n_kept += 1
        most, least = max(most, pull), min(least, pull)
        curvature = K[h, h] + K[j, j] - 2.0 * K[h, j]
        if pull == 0.0 or curvature <= 0.0:
            continue
        after = min(max(before - slope / curvature, 0.0), C)
        step = after - before
        if step != 0.0:
            coefficients[pair] = after
            for i in range(m):
                scores[i] += step * (K[h, i] - K[j, i])
    return n_kept, most, least


def train(K: Array, preferred: Array, other: Array, C: float, seed: int = 0) -> Trained:
    """Learn pairs of events from the kernel's matrix.

    Cost: O(pairs) a pass, and O(events) for each coefficient that changes in it.

    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> found = train(K, np.array([0]), np.array([1]), C=10.0)
    >>> found.scores.round(6).tolist(), found.coefficients.round(6).tolist()
    ([0.5, -0.5], [1.0])
    """
    generator, passes = np.random.default_rng(seed), 0
    scores, coefficients = np.zeros(len(K)), np.zeros(len(preferred))
    everything = np.arange(len(preferred))
    active, bound = everything, np.inf
    while True:
        order, kept = generator.permutation(active), np.empty(len(active), np.int64)
        n_kept, most, least = _pass(
            order, preferred, other, C, K, coefficients, scores, bound, kept
        )
        passes += 1
        active = kept[:n_kept]
        if not n_kept or most - least <= _PRECISION:
            if len(order) == len(everything) and bound == np.inf:
                return Trained(scores, coefficients, passes)
            active, bound = everything, np.inf  # what was left out may pull again
            continue
        bound = max(most, -least) or np.inf
