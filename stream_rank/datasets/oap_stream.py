"""The synthetic stream of the OAP paper."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from river import datasets

from stream_rank.datasets.oap_blocks import blocks

__all__ = ["OAPStream"]


class OAPStream(datasets.base.SyntheticDataset):
    """Points of the unit square, ranked 1 to 5 by a saddle and noise.

    The rank of `x` is where `10 * (x0 - 0.5) * (x1 - 0.5)` plus normal noise of deviation 0.125 lies among
    -1, -0.1, 0.25 and 1. No rule does better than a rank loss of about 0.152.

    Parameters
    ----------
    seed
        Streams of the same seed are the same.
    features
        "raw" for the two coordinates, "quadratic" for the products that make
        a linear rule the one with kernel `(x.z + 1) ** 2`.

    Examples
    --------
    >>> from stream_rank import OAPStream
    >>> for x, y in OAPStream(seed=1).take(2):
    ...     print({name: round(value, 3) for name, value in x.items()}, y)
    {'x0': 0.512, 'x1': 0.95} 3
    {'x0': 0.144, 'x1': 0.949} 1
    """

    def __init__(self, seed: int = 0, features: str = "raw") -> None:
        if features not in ("raw", "quadratic"):
            raise ValueError(f"features must be 'raw' or 'quadratic', not {features!r}")
        super().__init__(  # type: ignore[no-untyped-call]
            n_features=2 if features == "raw" else 6, task=datasets.base.MULTI_CLF
        )
        self.seed = seed
        self.features = features

    def arrays(self, n_events: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """The first events as a matrix and a column of ranks."""
        found, count = [], 0
        for block in blocks(self.seed, self.features):
            found.append(block)
            count += len(block[1])
            if count >= n_events:
                break
        X = np.concatenate([X for X, _ in found])[:n_events]
        y = np.concatenate([y for _, y in found])[:n_events]
        return X, y

    def __iter__(self) -> Iterator[tuple[dict[str, float], Any]]:
        names = [f"x{i}" for i in range(self.n_features)]
        for X, y in blocks(self.seed, self.features):
            for row, rank in zip(X.tolist(), y.tolist(), strict=True):
                yield dict(zip(names, row, strict=True)), rank
