"""Scores over normal features: sums of weighted features."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.streams.normal_features import NormalFeatures
from stream_rank.engine.products import products

__all__ = ["Linear"]

Array = npt.NDArray[Any]


class Linear:
    """Scores that are sums of weighted features; edges at equal distances between -1.5 and 1.5."""

    def __init__(
        self, seed: int, width: int, non_zeros: int, n_ranks: int, grows_every: int
    ) -> None:
        self._features = NormalFeatures(seed, "ratings", width, non_zeros, grows_every)
        self.names = self._features.names
        self.edges = 1.5 * (2 * np.arange(1, n_ranks) / n_ranks - 1)

    def table(self, first: int, count: int) -> Array:
        """Features."""
        return self._features.table(first, count)

    def scores(self, X: Array, rules: Array) -> Array:
        """Scores."""
        return products(np.where(np.isnan(X), 0.0, X), self._features.by_rule(rules))

    def unseen(self, seen: Array, rules: Array) -> Array:
        """Of a feature that is not seen, which is normal: the square of its weight."""
        weights = self._features.by_rule(rules)
        return products(np.where(seen, 0.0, weights), weights)
