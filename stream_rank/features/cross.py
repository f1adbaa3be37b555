"""Products of two features, such as a user and an item."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.crosses import count_products, products_of
from stream_rank.features.adding_stage import Added
from stream_rank.features.feature_stage import LARGEST
from stream_rank.features.product_stage import ProductStage
from stream_rank.learners.tables.blocks import SparseBlock

__all__ = ["Cross"]

Array = npt.NDArray[Any]

_BITS = 31
"""A product is known by two slots in one word."""


class Cross(ProductStage):
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
        super().__init__(max_products)
        self._factors = split
        self._kinds: Array = np.zeros((len(split), 2, 0), np.int64)

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

    def _factors_of(self, keys: Array) -> list[Array]:
        return list(_slots(keys))

    def _key_of(self, slots: Sequence[int]) -> int:
        return slots[0] << _BITS | slots[1]

    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        if unknown:  # of which no product is known
            block = block.only(block.slots < self._kinds.shape[2])
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

    def _named(self, key: int) -> str:
        one, two = _slots(key)
        return f"{self._vocabulary.names[one]}*{self._vocabulary.names[two]}"


def _slots(key: Any) -> tuple[Any, Any]:
    """The two slots of a product, or of many."""
    return key >> _BITS, key & ((1 << _BITS) - 1)


def _is_of(name: Hashable, field: str) -> bool:
    """Whether a feature is of a field: it is the field, or one of its categories."""
    return name == field or (isinstance(name, str) and name.startswith(f"{field}="))
