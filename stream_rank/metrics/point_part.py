"""What is measured of a group's pairs by what lies around each point as it comes and goes."""

from stream_rank.metrics.points import Points, Side

__all__ = ["PointPart"]

_LEAST = 64
"""Renewing a few points more often would be most of the work."""


class PointPart:
    """Points, and sums over pairs of them.

    What an event far off leaves of rounding errors when it goes is gone once as many events were taken away as
    are left: the sums are then formed anew.
    """

    def __init__(self) -> None:
        self._points = Points()
        self._taken = 0
        self._clear()

    def _clear(self) -> None:
        """Begin the sums over pairs."""
        raise NotImplementedError

    def _weigh(self, lower: Side, upper: Side, w: float) -> None:
        """Add a point's pairs with all others; `w` is negative for a point that goes."""
        raise NotImplementedError

    @property
    def events(self) -> int:
        """How many events there are."""
        return self._points.events

    def _place(self, y: float, f: float, w: float, count: int) -> None:
        if count < 0:
            self._points.add(y, f, w, count)
        self._weigh(*self._points.around(y, f), w)
        if count > 0:
            self._points.add(y, f, w, count)

    def _change(self, y: float, f: float, w: float, sign: int) -> None:
        """Let a point come or go."""
        self._place(y, f, sign * w, sign)
        self._taken += sign < 0
        if self._taken > max(_LEAST, self.events):
            content = self._points.content()
            self._points, self._taken = Points(), 0
            self._clear()
            for point in content:
                self._place(*point)
