"""Items with names."""

from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.streams.draws import Draws

__all__ = ["Named"]

Array = npt.NDArray[Any]


class Named:
    """So many items that are known by their names. Around goes who is one of three further, as in stone, paper, scissors."""

    def __init__(self, seed: int, n_items: int) -> None:
        self._n_items = n_items
        self._places, self._utilities = Draws(seed, "items"), Draws(seed, "utilities")

    def pairs(self, first: int, count: int) -> tuple[Array, Array]:
        """The numbers of items, two different ones."""
        one = self._places.below(first, count, 2, 1 << 32)
        a = one[:, 0] % self._n_items
        return a, (a + 1 + one[:, 1] % (self._n_items - 1)) % self._n_items

    def lead(self, one: Array, other: Array, rules: Array) -> Array:
        """The difference of utilities, which are standard normal."""
        known, places = np.unique(rules, return_inverse=True)
        by_rule = np.stack([self._utilities.normal(int(r), 1, self._n_items)[0] for r in known])
        found: Array = by_rule[places, one] - by_rule[places, other]
        return found

    def around(self, one: Array, other: Array) -> Array:
        """1 if the first is one further, -1 if the other is."""
        found: Array = np.array([0.0, 1.0, -1.0])[(one - other) % 3]
        return found

    def written(self, items: Array) -> list[str]:
        """Names."""
        return [f'{{"item": "i{item}"}}' for item in items.tolist()]
