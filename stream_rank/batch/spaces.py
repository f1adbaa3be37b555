"""What a magnitude-preserving rule sees of events: how far they are from their group's mean, or from each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Centred", "Differences"]

Array = npt.NDArray[Any]


class Centred:
    """Events less the mean of their group, times the root of the group's share of events: a projection where there is one group."""

    def __init__(self, groups: Array) -> None:
        self._groups = groups
        self._counts = np.bincount(groups)[:, None]
        self._roots = np.sqrt(self._counts[groups] / len(groups))

    def times(self, B: Array) -> Array:
        """Of rows of events."""
        sums = np.zeros((len(self._counts), B.shape[1]))
        np.add.at(sums, self._groups, B)
        centred: Array = self._roots * (B - (sums / self._counts)[self._groups])
        return centred

    def back(self, A: Array) -> Array:
        """Coefficients of events from those of what is centred; the matrix is symmetric."""
        return self.times(A)


class Differences:
    """The preferred items less the others."""

    def __init__(self, n_events: int, preferred: Array, other: Array) -> None:
        self._n_events = n_events
        self._preferred = preferred
        self._other = other

    def times(self, B: Array) -> Array:
        """Of rows of items."""
        differences: Array = B[self._preferred] - B[self._other]
        return differences

    def back(self, A: Array) -> Array:
        """Coefficients of items from those of pairs."""
        items = np.zeros((self._n_events, A.shape[1]))
        np.add.at(items, self._preferred, A)
        np.add.at(items, self._other, -A)
        return items
