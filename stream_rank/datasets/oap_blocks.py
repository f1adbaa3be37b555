"""The synthetic stream of the OAP paper as arrays, for those who need no River."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stream_rank.features.polynomial_features import PolynomialFeatures

__all__ = ["blocks"]

_EDGES = (-1.0, -0.1, 0.25, 1.0)
_NOISE = 0.125
_BLOCK = 1024
"""Events drawn at a time; a stream's first events are the same however many are taken."""


def blocks(
    seed: int, features: str
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]]:
    """Points of the unit square with their ranks, without end.

    The rank of `x` is where `10 * (x0 - 0.5) * (x1 - 0.5)` plus normal noise of deviation 0.125 lies among -1, -0.1,
    0.25 and 1. `features` is "raw" for the two coordinates, "quadratic" for the products that make a linear rule the one
    with kernel `(x.z + 1) ** 2`.
    """
    generator = np.random.default_rng(seed)
    products = PolynomialFeatures(degree=2, offset=1.0)
    while True:
        X = generator.random((_BLOCK, 2))
        saddle = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
        noisy = saddle + generator.normal(0, _NOISE, _BLOCK)
        y = np.searchsorted(_EDGES, noisy) + 1
        yield (X if features == "raw" else products.matrix(X)), y
