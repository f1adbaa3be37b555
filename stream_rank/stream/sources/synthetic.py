"""The synthetic stream of the OAP paper, as a source."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stream_rank.maps.polynomial_features import PolynomialFeatures
from stream_rank.stream.chunk import Columns, Position
from stream_rank.stream.json_rows import as_json

__all__ = ["Synthetic", "blocks"]

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


class Synthetic:
    """So many events of the stream."""

    def __init__(self, events: int, seed: int = 1, features: str = "quadratic") -> None:
        self.name = f"synthetic:{events}"
        self._events, self._seed, self._features = events, seed, features

    def chunks(self, position: Position | None) -> Iterator[Columns | None]:
        """Events from a position on."""
        done, begin = (position["rows"] if position else 0), 0
        for X, y in blocks(self._seed, self._features):
            end = min(begin + len(y), self._events)
            if end > done:
                some = slice(max(0, done - begin), end - begin)
                yield self._columns(X[some], y[some], max(begin, done))
            begin = end
            if begin >= self._events:
                return

    def _columns(self, X: npt.NDArray[np.float64], y: npt.NDArray[np.int64], begin: int) -> Columns:
        names = [f"x{i}" for i in range(X.shape[1])]
        return Columns(
            features=dict(zip(names, X.T, strict=True)),
            missing={},
            labels=y.astype(np.float64),
            times=None,
            ids=None,
            groups=None,
            wrong={},
            count=len(y),
            raw=lambda i: as_json(names, X[i], int(y[i])),
            position_after=lambda done: {"rows": begin + done},
            place_of=lambda i: f"{self.name}: event {begin + i + 1}",
        )

    def progress(self, position: Position | None) -> float | None:
        """The share of the events."""
        return (position["rows"] if position else 0) / self._events
