"""What is measured of a group's pairs by what lies around each point as it comes and goes."""

from stream_rank.metrics.points import Points, Side

__all__ = ["PointPart"]

_ROUNDING = 2.0**-52
_TOLERANCE = 1e-11
"""Errors above this, relative to the distances of all pairs, are mended."""


class PointPart:
    """Points, and a sum over pairs of them.

    What lies around a point is found with the rounding errors of sums over all points, so one event far off
    spoils what is added while it is there. How much is counted; when as many events were taken away as are left
    and it is too much, the sum is formed anew.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._points = Points()
        self._taken = 0
        self._error = self._scale = 0.0
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
        self._error += _ROUNDING * abs(weight) * others * (abs(self._points.distance(y)) + 1)
        self._scale += weight * (others + lower.all_steps + upper.all_steps)
        self._weigh(lower, upper, weight)
        if count > 0:
            self._points.add(y, f, w, count)

    def _change(self, y: float, f: float, w: float, sign: int) -> None:
        """Let a point come or go."""
        self._place(y, f, w, sign)
        self._taken += sign < 0
        if self._taken > self.events:
            self._taken = 0
            if self._error > _TOLERANCE * self._scale:
                content = self._points.content()
                self._begin()
                for point in content:
                    self._place(*point)
