"""A sum over the pairs of a group, updated with the weights around each point that is added or removed."""

from stream_rank.metrics.pairs.points import Points, Side

__all__ = ["PointPart"]

_ROUNDING = 2.0**-52
_TOLERANCE = 1e-11
"""With a larger error, relative to the distances of all pairs, the sum is formed anew."""


class PointPart:
    """Points, and a sum over pairs of them.

    The weights around a point have the rounding errors of sums over all points, so an outlier, in distance or in weight,
    spoils what is added while it is there. A bound of the error is kept; if it is too large, the sum is formed anew when
    the outlier is removed, and at the latest when as many points were removed as are left.
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
        """Add a point's pairs with all others; `w` is negative for a point that is removed."""
        raise NotImplementedError

    @property
    def events(self) -> int:
        """How many events there are."""
        return self._points.events

    def _place(self, y: float, f: float, w: float, count: int) -> None:
        """Add equal points, or remove them if the count is negative."""
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
        """Add a point, or remove it if `sign` is negative."""
        distance = abs(self._points.distance(y))
        # distances are measured from one point; for that one, all others may be far
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
