"""Features that are standard normal, rounded to four digits: all of them, or a few of many; some may be missing."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.streams.draws import Draws
from stream_rank.engine.products import product

__all__ = ["NormalFeatures", "rounded"]

Array = npt.NDArray[Any]


def rounded(values: Array) -> Array:
    """Numbers of four digits, none of which is -0.

    >>> rounded(np.array([0.12345, -0.00001])).tolist()
    [0.1234, 0.0]
    """
    found: Array = np.rint(values * 1e4) / 1e4 + 0.0
    return found


class NormalFeatures:
    """Tables of features, NaN where one is not there, and rules over them.

    Parameters
    ----------
    width
        How many there are.
    non_zeros
        So many are there of an event, one of each run of neighbours; all, if they are as many.
    grows_every
        Unless it is 0, only half are there at first, and after so many events one more each time.
    """

    def __init__(
        self, seed: int, purpose: str, width: int, non_zeros: int, grows_every: int
    ) -> None:
        self.names = [f"x{i}" for i in range(width)]
        self._width, self._non_zeros, self._grows_every = width, non_zeros, grows_every
        self._values = Draws(seed, f"{purpose}: features")
        self._places = Draws(seed, f"{purpose}: which features")
        self._weights = Draws(seed, "weights")

    def table(self, first: int, count: int) -> Array:
        """The features of some events."""
        X = rounded(self._values.normal(first, count, self._width))
        columns = np.arange(self._width)
        if self._non_zeros < self._width:
            edges = np.arange(self._non_zeros + 1) * self._width // self._non_zeros
            sizes = np.diff(edges)
            chosen = edges[:-1] + self._places.below(first, count, self._non_zeros, 1 << 32) % sizes
            there = np.zeros(X.shape, np.bool_)
            there[np.arange(count)[:, None], chosen] = True
            X[~there] = np.nan
        if self._grows_every:
            events = np.arange(first, first + count)
            n_there = (self._width + 1) // 2 + events // self._grows_every
            X[columns >= n_there[:, None]] = np.nan
        return X

    def weights(self, rule: int) -> Array:
        """The weights of a rule, by which scores have a deviation of 1 where all features may be there."""
        drawn = self._weights.normal(rule, 1, self._width)[0]
        found: Array = drawn * np.sqrt(self._width / (self._non_zeros * product(drawn, drawn)))
        return found

    def by_rule(self, rules: Array) -> Array:
        """Weights for each event."""
        known, places = np.unique(rules, return_inverse=True)
        return np.stack([self.weights(int(rule)) for rule in known])[places]
