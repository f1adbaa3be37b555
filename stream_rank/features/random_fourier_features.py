"""Random Fourier features: the Gaussian kernel as a random approximate map."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.features.values import columns_of, frame_from, values_of
from stream_rank.kernels import Gaussian
from stream_rank.learners.tables.vocabulary import in_order
from stream_rank.parameters import check_whole, key_of

__all__ = ["RandomFourierFeatures"]

Array = npt.NDArray[np.float64]


class RandomFourierFeatures(base.MiniBatchTransformer):
    """Cosine waves in random directions, whose inner products approximate the Gaussian kernel.

    Component `i` is `sqrt(2 / D) * cos(w_i.x + b_i)` with normal `w_i` of deviation `1 / width` and uniform
    `b_i`; the mean of the products over many components is `exp(-|x - z|**2 / (2 * width**2))`, with an
    error of about `1 / sqrt(D)`.

    A feature's share of the directions depends on its name and the seed alone, so features may come
    and go in any order.

    Cost: O(d * n_components) an event.

    Parameters
    ----------
    n_components
        The number of waves.
    width
        The kernel's width.
    seed
        Any whole number makes the directions repeatable.

    References
    ----------
    A. Rahimi and B. Recht. Random features for large-scale kernel machines. NIPS 2007.

    Examples
    --------
    >>> from stream_rank import RandomFourierFeatures
    >>> waves = RandomFourierFeatures(n_components=2000, width=1.0, seed=1)
    >>> near, far = waves.transform_one({"a": 0.1}), waves.transform_one({"a": 3.0})
    >>> round(sum(near[name] * far[name] for name in near), 1)
    0.0
    >>> round(sum(value * value for value in near.values()), 1)
    1.0
    """

    def __init__(
        self, n_components: int = 100, width: float = 1.0, seed: int | None = None
    ) -> None:
        check_whole("n_components", n_components)
        Gaussian(width)  # the same condition
        self.n_components = n_components
        self.width = width
        self.seed = seed
        self._key = key_of(seed)
        self._phases: Array = self._generator("").uniform(0, 2 * np.pi, n_components)
        self._directions: dict[str, Array] = {}

    def _generator(self, what: str) -> np.random.Generator:
        digest = hashlib.sha256(f"{self._key}/{what}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))

    def _direction(self, name: Hashable) -> Array:
        """What a feature adds to each wave's angle."""
        key = f"{type(name).__qualname__}/{name!r}"  # 1 and 1.0 are the same to a dict
        if key not in self._directions:
            generator = self._generator(key)
            self._directions[key] = generator.normal(0, 1 / self.width, self.n_components)
        return self._directions[key]

    def _waves(self, names: Sequence[Hashable], values: Array) -> Array:
        angles = np.tile(self._phases, (len(values), 1))
        for name, column in zip(
            names, values.T, strict=True
        ):  # one by one: the order is the names'
            angles += column[:, None] * self._direction(name)
        waves: Array = np.sqrt(2 / self.n_components) * np.cos(angles)
        return waves

    @property
    def _names(self) -> list[str]:
        return [f"wave_{i}" for i in range(self.n_components)]

    def transform_one(self, x: Mapping[Any, Any]) -> dict[Hashable, Any]:
        """The waves at an event."""
        names = in_order(x)
        values = np.array([values_of(x, names)])
        return dict(zip(self._names, self._waves(names, values)[0].tolist(), strict=True))

    def transform_many(self, X: Any) -> Any:
        """The waves at every row of a data frame."""
        frame = frame_from(X)
        names = in_order(X.columns)
        values = columns_of(frame, names)
        columns = self._waves(names, values).T
        result = nw.from_dict(
            dict(zip(self._names, columns, strict=True)), backend=frame.implementation
        ).to_native()
        if frame.implementation.is_pandas_like():
            result.index = X.index
        return result

    def matrix(self, X: npt.ArrayLike) -> Array:
        """The waves at every row of an array, whose column `i` is feature `i`."""
        values = np.asarray(X, np.float64)
        return self._waves(range(values.shape[1]), values)
