"""What is measured of a group's pairs by what lies around each point as it comes and goes."""

from stream_rank.metrics.pairs.points import Points, Side

__all__ = ["PointPart"]

_ROUNDING = 2.0**-52
_TOLERANCE = 1e-11
"""Errors above this, relative to the distances of all pairs, are mended."""


class PointPart:
    """Points, and a sum over pairs of them.

    What lies around a point is found with the rounding errors of sums over all points, so one event far off, or
    one that weighs far more, spoils what is added while it is there. How much is counted; where it is too much, the
    sum is formed anew when that event goes, and at the latest when as many were taken away as are left.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._points = Points()
        self._taken = 0
        self._error = self._scale = 0.0
        self._farthest = self._heaviest = 0.0
        self._clear()

    def _clear(self) -> None:
        """Begin the sum over pairs."""
        raise NotImplementedError

    def _weigh(self, lower: Side, upper: Side, w: float) -> None:
        """Add a point's pairs with all others; `w` is negative for a point that goes."""
        raise NotImplementedError

    @property
    def events(self) -> int:
        """How many events there are."""
        return self._points.events

    def _place(self, y: float, f: float, w: float, count: int) -> None:
        """Let equal points come, or go if the count is negative."""
        if count < 0:
            self._points.add(y, f, w, count)
        lower, upper = self._points.around(y, f)
        weight, others = w * count, lower.all + upper.all
        self._farthest = max(self._farthest, abs(self._points.distance(y)) + 1)
        self._heaviest = max(self._heaviest, abs(weight) + others)
        self._error += _ROUNDING * abs(weight) * self._heaviest * self._farthest
        self._scale += weight * (others + lower.all_steps + upper.all_steps)
        self._weigh(lower, upper, weight)
        if count > 0:
            self._points.add(y, f, w, count)

    def _change(self, y: float, f: float, w: float, sign: int) -> None:
        """Let a point come or go."""
        distance = abs(self._points.distance(y))
        # of the one that distances are kept from, all others are far
        out = distance == 0 or 2 * (distance + 1) >= self._farthest or 2 * w >= self._heaviest
        self._place(y, f, w, sign)
        if sign > 0:
            return
        self._taken += 1
        if (out or self._taken > self.events) and self._error > _TOLERANCE * self._scale:
            content = self._points.content()
            self._begin()
            for point in content:
                self._place(*point)
        elif self._taken > self.events:
            self._taken = 0
