"""Weighted points that can be added and removed, in engine memory that grows."""

from typing import NamedTuple

import numpy as np

from stream_rank.engine.memory import Memory
from stream_rank.engine.scoring import dominance

__all__ = ["Points", "Side"]


class Side(NamedTuple):
    """Points on one side of another in y: those below it in f, those not above it in f, and all of them.

    Each as their weight, and as weight times distance in y.
    """

    below: float
    below_steps: float
    not_above: float
    not_above_steps: float
    all: float
    all_steps: float


class Points:
    """Weighted points `(y, f)`, and the weight around any point.

    Distances are measured from the y of the first point, so that a common offset costs no precision.

    Cost: O(log n)**2.

    >>> points = Points()
    >>> for y, f in [(1, 5), (2, 6), (3, 6), (4, 1)]:
    ...     points.add(y, f, 1.0, 1)
    >>> lower, upper = points.around(3, 6)
    >>> lower.below, lower.not_above, upper.below, upper.below_steps
    (1.0, 2.0, 1.0, 1.0)
    """

    def __init__(self) -> None:
        self.events = 0
        self._top = dominance.FIRST + 1
        self._origin = 0.0
        self._memory = Memory("float64", dominance.layout(self._top))
        self._memory["sizes"][dominance.TOP] = self._top

    def _grow(self) -> None:
        self._top += 1
        self._memory = self._memory.reshaped(dominance.layout(self._top))
        self._memory["sizes"][dominance.TOP] = self._top

    def add(self, y: float, f: float, w: float, count: int) -> None:
        """Add `count` equal points that weigh `w` each, or take them away if it is negative."""
        if not self.events:
            self._origin = y
            dominance.begin(self._memory.block, y)
        self.events += count
        while not dominance.add(self._memory.block, y, f, w, count):
            self._grow()

    def distance(self, y: float) -> float:
        """The signed distance of a y from the origin of distances."""
        return y - self._origin

    def around(self, y: float, f: float) -> tuple[Side, Side]:
        """The points that are lower in y, and those that are higher."""
        answers = np.empty(dominance.ANSWERS)
        dominance.around(self._memory.block, y, f, answers)
        found, distance = answers.tolist(), self.distance(y)
        for at in range(0, 6, 2):
            found[at + 1] = distance * found[at] - found[at + 1]
            found[at + 7] -= distance * found[at + 6]
        return Side(*found[:6]), Side(*found[6:])

    def content(self) -> list[tuple[float, float, float, int]]:
        """The points: y, f, the weight of one, and how many."""
        ys, fs, weights, counts = dominance.content(self._memory.block)
        return [*zip(ys.tolist(), fs.tolist(), weights.tolist(), counts.tolist(), strict=True)]
