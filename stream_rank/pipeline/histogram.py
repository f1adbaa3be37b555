"""Histograms of durations and sizes, as Prometheus's classic histograms."""

from bisect import bisect_left
from collections.abc import Sequence

__all__ = ["Histogram"]


class Histogram:
    """Counts of values by bucket; `bounds` are the inclusive upper bounds of the buckets.

    >>> times = Histogram([0.1, 1.0])
    >>> for seconds in (0.05, 0.1, 0.5, 7.0):
    ...     times.add(seconds)
    >>> times.counts, times.total
    ([2, 1, 1], 7.65)
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """By bucket, not cumulative; the last one counts values above all bounds."""
        self.total = 0.0

    def add(self, amount: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, amount)] += 1
        self.total += amount
