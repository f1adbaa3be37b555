"""Polynomial features: the polynomial kernel as an explicit map."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod, sqrt
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.powers import count_powers, powers_of
from stream_rank.errors import FeatureError
from stream_rank.features.adding_stage import Added
from stream_rank.features.feature_stage import LARGEST
from stream_rank.features.product_stage import ProductStage
from stream_rank.features.rows_of import rows_of_dicts
from stream_rank.features.values import columns_of, frame_from
from stream_rank.kernels import Polynomial
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.vocabulary import in_order
from stream_rank.parameters import check_whole

__all__ = ["PolynomialFeatures"]

Array = npt.NDArray[Any]
_Term = tuple[tuple[int, ...], float]


_KEY_BITS, _LARGEST_POWER = 62, 130
"""Bits for the factors of a product; and the power of ten that a product may be."""


@lru_cache(maxsize=64)
def _terms(n_features: int, degree: int, offset: float) -> list[_Term]:
    """The products of up to `degree` of `n_features` features, and the factor of each."""
    terms = []
    for size in range(degree + 1):
        if offset == 0 and size < degree:
            continue
        for places in combinations_with_replacement(range(n_features), size):
            repeated = prod(factorial(count) for count in Counter(places).values())
            ways = factorial(degree) / (repeated * factorial(degree - size))
            terms.append((places, sqrt(ways * _rest(offset, degree - size))))
    return terms


class PolynomialFeatures(ProductStage):
    r"""All products of up to `degree` features, scaled so that they are the polynomial kernel.

    The inner product of two transformed events is `(x.z + offset) ** degree`, exactly. A linear
    learner after this map is the kernel learner, without a support set to bound.

    Products are named by their factors in order, as "a*b", and the constant, the product of nothing, is "*" (a star
    in a feature's own name becomes "\*"). There are `C(d + degree, degree)` of them for `d` features of an event: it is for
    few of them. As a stage it makes those that learned events had, at most `max_products` and a hundred thousand an event; of
    `2 ** (62 / degree)` features, all that have their first.

    Cost: some tenths of a microsecond a product.

    Parameters
    ----------
    degree
        The most factors of a product.
    offset
        The weight of lower degrees; 0 leaves products of exactly `degree` features.
    max_products
        The most products that are known.
    max_factors
        Of how many features products are made, those that were met first; others are left out. None is all.

    Examples
    --------
    >>> from stream_rank import PolynomialFeatures
    >>> PolynomialFeatures(degree=2).transform_one({"a": 2.0, "b": 3.0})
    {'*': 1.0, 'a': 2.828..., 'b': 4.242..., 'a*a': 4.0, 'a*b': 8.485..., 'b*b': 9.0}
    """

    def __init__(
        self,
        degree: int = 2,
        offset: float = 1.0,
        max_products: int = 1_000_000,
        max_factors: int | None = None,
    ) -> None:
        Polynomial(degree, offset)  # the same conditions
        if max_factors is not None:
            check_whole("max_factors", max_factors)
        super().__init__(max_products, keeps=False)
        self.degree = degree
        self.offset = offset
        self.max_factors = max_factors
        self._bits = _KEY_BITS // degree
        self._others = np.array([_rest(offset, degree - size) for size in range(degree + 1)])

    @property
    def largest(self) -> float:
        """The largest feature that it takes: a product of so many is one that learners take."""
        return float(f"1e{_LARGEST_POWER // self.degree}")

    def rule(self) -> dict[str, Any]:
        """The degree and the offset."""
        return {"degree": self.degree, "offset": float(self.offset)}

    def _make_room(self) -> None:
        """Nothing: products are known by their factors' slots."""

    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        if self.max_factors is not None:
            block = block.only(block.slots < self.max_factors)
        least = self.degree if self.offset == 0 else 0
        sizes = least, self.degree
        count = count_powers(block.starts, block.slots, *sizes, self._bits)
        events, keys = np.empty(count, np.int64), np.empty(count, np.int64)
        values = np.empty(count)
        powers_of(
            *(block.starts, block.slots, block.values, *sizes, self._others, self._bits),
            *(events, keys, values),
        )
        fresh = self._learn(events, keys, learning)
        starts = np.searchsorted(events, np.arange(len(block.starts)), "left")
        return Added(starts, self._number(keys), values, fresh)

    def _factors_of(self, keys: Array) -> list[Array]:
        last = (1 << self._bits) - 1
        return [(keys >> place * self._bits & last) - 1 for place in range(self.degree)]

    def _key_of(self, slots: Sequence[int]) -> int:
        factors, key = sorted(slot for slot in slots if slot >= 0), 0
        most = (1 << self._bits) - 1 if self.max_factors is None else self.max_factors
        for slot in factors:
            key = key << self._bits | (slot + 1)
        return key if not factors or factors[-1] < most else -1

    def _named(self, key: int) -> str:
        slots = [int(slot) for slot in self._factors_of(np.array(key)) if slot >= 0]
        return _name(in_order(self._vocabulary.names[slot] for slot in slots))

    def transformed(self, rows: Rows) -> Rows:
        """The events as products, those too that were never learned. Cost: that of `transform_one` for each."""
        return rows_of_dicts(map(self._products_of, rows.dicts()), np.inf)

    def transform_one(self, x: Mapping[Any, Any]) -> dict[Hashable, Any]:
        """The products of an event's features."""
        return self._products_of(next(rows_of_dicts([x], self.largest).dicts()))

    def _factors_among(self, names: list[Hashable]) -> list[Hashable]:
        """The names, in order, of which products are made."""
        if self.max_factors is None:
            return names
        slot_of, after = self._vocabulary.slot_of, len(self._vocabulary)
        new = {name: after + i for i, name in enumerate(n for n in names if n not in slot_of)}
        return [
            name for name in names if slot_of.get(name, new.get(name, after)) < self.max_factors
        ]

    def _products_of(self, x: Mapping[Hashable, float]) -> dict[Hashable, float]:
        names = self._factors_among(in_order(x))
        # factors are multiplied in the order of their slots, as for many events at once
        after, slot_of = len(self._vocabulary), self._vocabulary.slot_of
        turns = [slot_of.get(name, after + place) for place, name in enumerate(names)]
        found: dict[Hashable, float] = {}
        for places, factor in _terms(len(names), self.degree, float(self.offset)):
            in_turn = sorted(places, key=turns.__getitem__)
            value = prod([x[names[place]] for place in in_turn]) * factor
            name = _name([names[place] for place in places])
            found[name] = found.get(name, 0.0) + min(max(value, -LARGEST), LARGEST)
        return found

    def transform_many(self, X: Any) -> Any:
        """The products of the features in every row of a data frame."""
        frame = frame_from(X)
        names = self._factors_among(in_order(X.columns))
        columns = self.matrix(columns_of(frame, names))
        shown = [
            _name([names[place] for place in places])
            for places, _ in _terms(len(names), self.degree, float(self.offset))
        ]
        if len(set(shown)) < len(shown):
            raise FeatureError(f"features {names!r} cannot be told apart in the names of products")
        result = nw.from_dict(
            dict(zip(shown, columns.T, strict=True)), backend=frame.implementation
        ).to_native()
        if frame.implementation.is_pandas_like():
            result.index = X.index
        return result

    def matrix(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The products of the columns of an array, in the order of the names "0", "1", ..."""
        values = np.asarray(X, np.float64)
        result = np.empty((len(values), len(_terms(values.shape[1], self.degree, self.offset))))
        terms = _terms(values.shape[1], self.degree, float(self.offset))
        for column, (places, factor) in enumerate(terms):
            result[:, column] = factor
            for place in places:
                result[:, column] *= values[:, place]
        return result


def _name(factors: Sequence[Hashable]) -> str:
    """What the product of features is called, which are in order."""
    return "*".join(str(name).replace("*", "\\*") for name in factors) or "*"


def _rest(offset: float, power: int) -> float:
    """A power of the offset, rounded once, on every machine."""
    return float(Fraction(offset) ** power)
