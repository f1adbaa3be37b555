"""Products of two features, such as a user and an item."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.crosses import count_products, products_of
from stream_rank.features.adding_stage import Added, AddingStage
from stream_rank.features.feature_stage import LARGEST
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.vocabulary import in_order

__all__ = ["Cross"]

Array = npt.NDArray[Any]

_BITS = 31
"""A product is known by two slots in one word."""


class Cross(AddingStage):
    """Adds the products of the features of two fields, for every pair of fields that is named.

    Of categories these are the indicators that both came: `user=ann*item=7`. A number may be crossed too: `price*brand=ann`.
    A product is learned from the first event that has it on; of `max_products` no more are made, nor of ten thousand in one
    event, and what others come is passed on without them. Where a feature gives its place to another, so do its products.

    Cost: O(features), and some tenths of a microsecond a product.

    Parameters
    ----------
    pairs
        Pairs of fields, as in `["user*item"]`.
    max_products
        The most products that are known.

    Examples
    --------
    >>> from stream_rank import Cross
    >>> stage = Cross(["user*item"])
    >>> stage.learn_one({"user": "ann", "item": 7.0, "hour": 3.0})
    >>> stage.transform_one({"user": "ann", "item": 2.0, "hour": 3.0})
    {'hour': 3.0, 'item': 2.0, 'user=ann': 1.0, 'user=ann*item': 2.0}
    """

    listed: ClassVar[str | None] = "pairs"

    def __init__(
        self, pairs: Sequence[str] = ("user*item",), max_products: int = 1_000_000
    ) -> None:
        split = [] if isinstance(pairs, str) else [str(pair).split("*") for pair in pairs]
        if not split or not all(len(pair) == 2 and all(pair) for pair in split):
            raise ValueError(
                f"pairs must be a list of two fields each, as in ['user*item'], not {pairs!r}"
            )
        self.pairs = pairs
        self.max_products = max_products
        super().__init__()
        self._factors = split
        self._kinds: Array = np.zeros((len(split), 2, 0), np.int64)
        self._keys: Array = np.empty(0, np.int64)
        """The known products, ascending, and the number of each."""
        self._numbers: Array = np.empty(0, np.int64)
        self._products: list[int] = []
        """The known products by number."""

    @property
    def largest(self) -> float:
        """The largest feature that it takes: a product of two is one that learners take."""
        return sqrt(LARGEST)

    def rule(self) -> dict[str, Any]:
        """The pairs of fields."""
        return {"pairs": list(self.pairs)}

    def _make_room(self) -> None:
        before, names = self._kinds.shape[2], self._vocabulary.names
        new = [
            [[_is_of(name, field) for name in names[before:]] for field in pair]
            for pair in self._factors
        ]
        self._kinds = np.concatenate([self._kinds, np.array(new, np.int64)], axis=2)

    def _forget(self, slots: Array) -> None:
        names = self._vocabulary.names
        for slot in slots.tolist():
            for kinds, pair in zip(self._kinds, self._factors, strict=True):
                kinds[:, slot] = [_is_of(names[slot], field) for field in pair]

    def _added_of(self, slots: Array) -> list[int]:
        one, two = _slots(np.array(self._products, np.int64))
        found: list[int] = np.flatnonzero(np.isin(one, slots) | np.isin(two, slots)).tolist()
        return found

    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        if unknown:  # of which no product is known
            block = _only(block, block.slots < self._kinds.shape[2])
        parts = [self._of_pair(place, block) for place in range(len(self._factors))]
        events, keys, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(events, kind="stable")
        events, keys, values = events[order], keys[order], values[order]
        fresh = self._learn(events, keys, learning)
        starts = np.searchsorted(events, np.arange(len(block.starts)), "left")
        return Added(starts, self._number(keys), values, fresh)

    def _of_pair(self, place: int, block: SparseBlock) -> tuple[Array, Array, Array]:
        """The products of a pair of fields: their events, their keys and their values."""
        first, second = self._kinds[place]
        count = count_products(block.starts, block.slots, first, second)
        events, one, two = (np.empty(count, np.int64) for _ in range(3))
        values = np.empty(count)
        products_of(
            *(block.starts, block.slots, block.values, first, second),
            *(events, one, two, values),
        )
        bound = self.largest  # a product of products must not grow beyond what can be squared
        return events, (one << _BITS) | two, np.clip(values, -bound, bound)

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

    def _named(self, key: int) -> str:
        one, two = _slots(key)
        return f"{self._vocabulary.names[one]}*{self._vocabulary.names[two]}"

    def _name_of(self, number: int) -> Hashable:
        return self._named(self._products[number])

    def _restore(self, state: State) -> None:
        self._products = state.arrays["products"].tolist()
        known = len(self._vocabulary)
        if not all(key >= 0 and max(_slots(key)) < known for key in self._products):
            raise ValueError("its products are of features that it does not have")
        super()._restore(state)
        self._sort()

    def _own_arrays(self) -> dict[str, Array]:
        return {"products": np.array(self._products, np.int64)}


def _slots(key: Any) -> tuple[Any, Any]:
    """The two slots of a product, or of many."""
    return key >> _BITS, key & ((1 << _BITS) - 1)


def _is_of(name: Hashable, field: str) -> bool:
    """Whether a feature is of a field: it is the field, or one of its categories."""
    return name == field or (isinstance(name, str) and name.startswith(f"{field}="))


def _only(block: SparseBlock, which: Array) -> SparseBlock:
    """Some of the entries of events."""
    kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(which)])
    starts = kept[block.starts]
    return SparseBlock(block.first, block.end, starts, block.slots[which], block.values[which])
