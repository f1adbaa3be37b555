"""Scores on the OAP paper's saddle."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.streams.draws import Draws
from simulators.streams.normal_features import rounded

__all__ = ["Saddle"]

Array = npt.NDArray[Any]


class Saddle:
    """The OAP paper's: points of the unit square, scored by `10 (x0 - a) (x1 - b)`, with a and b of 1/2 by the first rule."""

    names = ["x0", "x1"]  # noqa: RUF012 - as of the others
    edges = np.array([-1.0, -0.1, 0.25, 1.0])

    def __init__(self, seed: int) -> None:
        self._points = Draws(seed, "points")
        self._centres = Draws(seed, "centres")

    def table(self, first: int, count: int) -> Array:
        """Points."""
        return rounded(self._points.uniform(first, count, 2))

    def scores(self, X: Array, rules: Array) -> Array:
        """Scores; the centres of other rules lie within 0.3 of the first."""
        known, places = np.unique(rules, return_inverse=True)
        centres = np.array([self._centres.uniform(int(rule), 1, 2)[0] for rule in known])
        centres = np.where((known == 0)[:, None], 0.5, 0.2 + 0.6 * centres)[places]
        found: Array = 10.0 * (X[:, 0] - centres[:, 0]) * (X[:, 1] - centres[:, 1])
        return found

    def unseen(self, seen: Array, rules: Array) -> Array:
        """Both coordinates are always there."""
        return np.where(seen.all(axis=1), 0.0, np.nan)
