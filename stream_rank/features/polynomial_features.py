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
from river import base

from stream_rank.errors import FeatureError
from stream_rank.features.values import columns_of, frame_from, values_of
from stream_rank.kernels import Polynomial
from stream_rank.learners.tables.vocabulary import in_order

__all__ = ["PolynomialFeatures"]

_Term = tuple[tuple[int, ...], float]


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
            others = float(Fraction(offset) ** (degree - size))  # rounded once, on every machine
            terms.append((places, sqrt(ways * others)))
    return terms


class PolynomialFeatures(base.MiniBatchTransformer):
    r"""All products of up to `degree` features, scaled so that they are the polynomial kernel.

    The inner product of two transformed events is `(x.z + offset) ** degree`, exactly. A linear
    learner after this map is the kernel learner, without a support set to bound.

    Products are named by their factors in order, as "a*b", and the constant, the product of nothing, is "*" (a star
    in a feature's own name becomes "\*"). There are `C(d + degree, degree)` of them.

    Cost: O(number of products) an event.

    Parameters
    ----------
    degree
        The most factors of a product.
    offset
        The weight of lower degrees; 0 leaves products of exactly `degree` features.

    Examples
    --------
    >>> from stream_rank import PolynomialFeatures
    >>> PolynomialFeatures(degree=2).transform_one({"a": 2.0, "b": 3.0})
    {'*': 1.0, 'a': 2.828..., 'b': 4.242..., 'a*a': 4.0, 'a*b': 8.485..., 'b*b': 9.0}
    """

    def __init__(self, degree: int = 2, offset: float = 1.0) -> None:
        Polynomial(degree, offset)  # the same conditions
        self.degree = degree
        self.offset = offset

    def _plan(self, names: Sequence[Hashable]) -> tuple[list[str], list[_Term]]:
        terms = _terms(len(names), self.degree, float(self.offset))
        single = [str(name).replace("*", "\\*") for name in names]
        if len(set(single)) < len(single):
            raise FeatureError(f"features {names!r} cannot be told apart in the names of products")
        return ["*".join(single[place] for place in places) or "*" for places, _ in terms], terms

    def transform_one(self, x: Mapping[Any, Any]) -> dict[Hashable, Any]:
        """The products of an event's features."""
        names = in_order(x)
        values = values_of(x, names)
        shown, terms = self._plan(names)
        return {
            name: factor * prod(values[place] for place in places)
            for name, (places, factor) in zip(shown, terms, strict=True)
        }

    def transform_many(self, X: Any) -> Any:
        """The products of the features in every row of a data frame."""
        frame = frame_from(X)
        names = in_order(X.columns)
        columns = self.matrix(columns_of(frame, names))
        shown, _ = self._plan(names)
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
        for column, (places, factor) in enumerate(self._plan(range(values.shape[1]))[1]):
            result[:, column] = factor
            for place in places:
                result[:, column] *= values[:, place]
        return result
