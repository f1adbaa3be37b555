"""Items with features."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.streams.normal_features import NormalFeatures
from simulators.streams.told import written
from stream_rank.engine.products import products

__all__ = ["Described"]

Array = npt.NDArray[Any]


class Described:
    """Items with features, whose utility is a weighted sum of these. Around goes the cross product of the first two."""

    def __init__(self, seed: int, width: int, non_zeros: int, grows_every: int) -> None:
        self._sides = [
            NormalFeatures(seed, f"item {side}", width, non_zeros, grows_every) for side in (1, 2)
        ]

    def pairs(self, first: int, count: int) -> tuple[Array, Array]:
        """Two tables of features."""
        one, other = (side.table(first, count) for side in self._sides)
        return one, other

    def lead(self, one: Array, other: Array, rules: Array) -> Array:
        """The difference of utilities."""
        weights = self._sides[0].by_rule(rules)
        u, v = (products(np.where(np.isnan(X), 0.0, X), weights) for X in (one, other))
        return u - v

    def around(self, one: Array, other: Array) -> Array:
        """The cross product."""
        if one.shape[1] < 2:
            return np.zeros(len(one))
        a, b = (np.where(np.isnan(X[:, :2]), 0.0, X[:, :2]) for X in (one, other))
        found: Array = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        return found

    def written(self, items: Array) -> list[str]:
        """Features."""
        return [written(self._sides[0].names, x) for x in items.tolist()]
