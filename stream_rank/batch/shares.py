"""The small quadratic programme of a model of planes."""

import numpy as np

from stream_rank.engine.jit import compiled

__all__ = ["share_out"]


@compiled
def share_out(G, heights, shares, tolerance, most_steps):  # type: ignore[no-untyped-def]
    """Change shares, which are not negative and sum to 1, until `heights.shares - shares.G shares / 2` is within the tolerance of its most.

    A step moves share from one plane to another, as far as it pays: from that whose slope is the least to that which gains
    most, of second order. The sum over planes of share times how far each slope is behind the best bounds what is missing.
    """
    n = len(heights)
    slopes = heights - G @ shares
    for _ in range(most_steps):
        best = 0
        for i in range(n):
            if slopes[i] > slopes[best]:
                best = i
        missing, source, most = 0.0, -1, 0.0
        for j in range(n):
            if shares[j] > 0.0 and slopes[j] < slopes[best]:
                behind = slopes[best] - slopes[j]
                missing += shares[j] * behind
                bend = max(G[best, best] + G[j, j] - 2.0 * G[best, j], 1e-300)
                step = min(shares[j], behind / bend)
                gain = step * (behind - step * bend / 2.0)
                if gain > most:
                    most, source = gain, j
        if missing <= tolerance or source < 0:
            break
        bend = max(G[best, best] + G[source, source] - 2.0 * G[best, source], 1e-300)
        step = min(shares[source], (slopes[best] - slopes[source]) / bend)
        shares[best] += step
        shares[source] = max(0.0, shares[source] - step)
        slopes -= step * (np.ascontiguousarray(G[best]) - G[source])
