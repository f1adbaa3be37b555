"""Points that come and go, in compiled memory that grows."""

from typing import NamedTuple

import numpy as np

from stream_rank.engine import dominance
from stream_rank.engine.memory import Memory

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

    Coordinates are kept from the first point, so that an offset common to all costs no digits.

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
        self._origin = (0.0, 0.0)
        self._memory = Memory("float64", dominance.layout(self._top))
        self._memory["sizes"][dominance.TOP] = self._top

    def _grow(self) -> None:
        self._top += 1
        self._memory = self._memory.reshaped(dominance.layout(self._top))
        self._memory["sizes"][dominance.TOP] = self._top

    def add(self, y: float, f: float, w: float, sign: int) -> None:
        """Add a point, or take it away."""
        if not self.events:
            self._origin = (y, f)
        self.events += sign
        y0, f0 = self._origin
        while not dominance.add(self._memory.block, y - y0, f - f0, sign * w, sign):
            self._grow()

    def around(self, y: float, f: float) -> tuple[Side, Side]:
        """The points that are lower in y, and those that are higher."""
        answers = np.empty(dominance.ANSWERS)
        y -= self._origin[0]
        dominance.around(self._memory.block, y, f - self._origin[1], answers)
        found = answers.tolist()
        for at in range(0, 6, 2):
            found[at + 1] = y * found[at] - found[at + 1]
            found[at + 7] -= y * found[at + 6]
        return Side(*found[:6]), Side(*found[6:])
