"""The Page-Hinkley test of whether a mean has grown."""

from dataclasses import dataclass
from math import inf

__all__ = ["PageHinkley"]


@dataclass
class PageHinkley:
    """The cumulative sum of the numbers' deviations from their running mean, compared with its minimum.

    This is the test of `river.drift.PageHinkley(alpha=1, mode="up")`, to the bit, with its slack and threshold given
    anew with every number, and with fields that a snapshot can hold. After an alarm a new test has to begin. The fall
    is not tested; it is kept because it is part of the snapshot format.

    >>> test = PageHinkley()
    >>> found = [test.update(x, slack=0.5, threshold=20.0, first=5) for x in [1.0] * 10 + [9.0] * 10]
    >>> found.index(True)
    13
    """

    tested: float = 0.0
    """The number of numbers tested, a float as in River."""
    expected: float = 0.0
    """Their mean."""
    rise: float = 0.0
    fall: float = 0.0
    lowest: float = inf
    """The minimum of the rise."""
    highest: float = (
        -1.0
    )  # as it is restored: snapshots of a run that was resumed are those of one that was not
    """The maximum of the fall."""
    detected: bool = False

    def update(self, x: float, slack: float, threshold: float, first: int) -> bool:
        """Test a number; return whether the mean has grown. There is no alarm before number `first`."""
        self.tested += 1.0
        self.expected += (1.0 / self.tested) * (x - self.expected)
        above = x - self.expected
        self.rise = self.rise + above - slack
        self.fall = self.fall + above + slack
        self.lowest = min(self.lowest, self.rise)
        self.highest = max(self.highest, self.fall)
        if self.tested >= first:
            self.detected = bool(self.rise - self.lowest > threshold)
        return self.detected
