"""The base class of stages that make products of features."""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stream_rank.features.adding_stage import AddingStage
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.vocabulary import in_order

__all__ = ["ProductStage"]

Array = npt.NDArray[Any]


class ProductStage(AddingStage):
    """A stage that knows at most `max_products` products, each by a key that is made of its factors' slots.

    A product is learned from the first event that has it on, and has the number of its turn.
    """

    def __init__(self, max_products: int, keeps: bool = True) -> None:
        self.max_products = max_products
        super().__init__(keeps)
        self._keys: Array = np.empty(0, np.int64)
        """The known products, ascending, and the number of each."""
        self._numbers: Array = np.empty(0, np.int64)
        self._products: list[int] = []
        """The known products by number."""

    @abstractmethod
    def _named(self, key: int) -> str:
        """What a product is called."""

    @abstractmethod
    def _factors_of(self, keys: Array) -> list[Array]:
        """The slots of the factors of products: for each place among them a column; -1 where there is none."""

    @abstractmethod
    def _key_of(self, slots: Sequence[int]) -> int:
        """The key of the product of factors in slots, in the order of `_factors_of`; -1 if no such product is made here."""

    def _join(self, other: Self, places: Array) -> None:
        where = [*places.tolist(), -1]  # of no factor
        columns = [
            column.tolist() for column in other._factors_of(np.array(other._products, np.int64))
        ]
        keys = [
            self._key_of([where[slot] for slot in slots]) for slots in zip(*columns, strict=True)
        ]
        number_of = {key: number for number, key in enumerate(self._products)}
        for key in keys:
            if key >= 0 and key not in number_of and len(self._products) < self.max_products:
                number_of[key] = len(self._products)
                self._products.append(key)
        self._sort()
        self._join_outputs(other, places, [number_of.get(key, -1) for key in keys])

    def _added_of(self, slots: Array) -> list[int]:
        columns = self._factors_of(np.array(self._products, np.int64))
        found: list[int] = np.flatnonzero(np.isin(columns, slots).any(axis=0)).tolist()
        return found

    def _number(self, keys: Array) -> Array:
        """The numbers of products; -1 of those that are not known."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._numbers[at], -1)

    def _learn(self, events: Array, keys: Array, learning: Any) -> list[tuple[int, int]]:
        """Number the products that learned events bring, event by event and within one by name."""
        new = np.flatnonzero(learning[events] & (self._number(keys) < 0))
        room = self.max_products - len(self._products)
        if not len(new) or room <= 0:
            return []
        _, first = np.unique(keys[new], return_index=True)
        brought: dict[int, dict[Hashable, list[int]]] = {}
        for place in new[np.sort(first)].tolist():
            key = int(keys[place])
            brought.setdefault(int(events[place]), {}).setdefault(self._named(key), []).append(key)
        fresh: list[tuple[int, int]] = []
        for event, named in brought.items():
            for key in [key for name in in_order(named) for key in sorted(named[name])]:
                if len(fresh) < room:
                    fresh.append((event, len(self._products)))
                    self._products.append(key)
        self._sort()
        return fresh

    def _sort(self) -> None:
        keys = np.array(self._products, np.int64)
        self._numbers = np.argsort(keys, kind="stable")
        self._keys = keys[self._numbers]

    def _name_of(self, number: int) -> Hashable:
        return self._named(self._products[number])

    def _restore(self, state: State) -> None:
        keys = state.arrays["products"]
        if keys.ndim != 1 or keys.dtype != np.int64:
            raise ValueError("its products are no keys")
        columns = np.array(self._factors_of(keys))
        if (keys < 0).any() or (columns >= len(self._vocabulary)).any():
            raise ValueError("its products are of features that it does not have")
        self._products = keys.tolist()
        super()._restore(state)
        self._sort()

    def _own_arrays(self) -> dict[str, Array]:
        return {"products": np.array(self._products, np.int64)}
