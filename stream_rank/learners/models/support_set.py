"""The support set: the vectors that a kernel learner keeps."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import support
from stream_rank.engine.memory import Memory, aligned
from stream_rank.engine.perceptron.widths import FOLLOWING
from stream_rank.kernels import Gaussian, Polynomial
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock

__all__ = ["SupportSet"]

Array = npt.NDArray[Any]


class SupportSet:
    """At most `budget` vectors and a kernel whose values are at most `largest`."""

    def __init__(
        self, kernel: Polynomial | Gaussian, budget: int, dtype: str, largest: float
    ) -> None:
        self.budget = budget
        self.dtype = dtype
        self.longest = kernel.longest(largest)
        self.memory = Memory(dtype, support.support_layout(budget, 1, dtype))
        sizes, parameters = self.memory["sizes"], self.memory["parameters"]
        sizes[support.BUDGET] = budget
        if isinstance(kernel, Polynomial):
            sizes[support.KIND] = support.POLYNOMIAL
            parameters[:] = kernel.offset, kernel.degree
        else:
            sizes[support.KIND] = support.GAUSSIAN
            following = kernel.width is None
            parameters[:] = (1.0, FOLLOWING) if following else (kernel.width, 0.0)
        sizes[support.FEATURES] = self.n_slots

    @property
    def block(self) -> Array:
        """The block of memory that the engine's functions take."""
        return self.memory.block

    @property
    def width(self) -> float:
        """The width of a Gaussian kernel as it is now."""
        return float(self.memory["parameters"][0])

    @property
    def n_slots(self) -> int:
        """How many features a vector has room for."""
        return int(self.memory["vectors"].shape[1])

    def resize(self, n_features: int, exactly: bool) -> None:
        """Make room for at least so many features, and for some more unless `exactly`."""
        if n_features > self.n_slots:
            wanted = n_features if exactly else max(n_features, self.n_slots * 3 // 2)
            layout = support.support_layout(self.budget, wanted, self.dtype)
            self.memory = self.memory.reshaped(layout)
            self.memory["sizes"][support.FEATURES] = self.n_slots

    def __len__(self) -> int:
        return int(self.memory["sizes"][support.USED])

    def vectors(self, n_features: int) -> list[list[float]]:
        """The vectors kept, by slot."""
        vectors: list[list[float]] = self.memory["vectors"][: len(self), :n_features].tolist()
        return vectors

    def forget(self, slots: Array) -> None:
        """Take the features in slots out of all vectors. Cost: O(vectors that have them * features)."""
        vectors = self.memory["vectors"][: len(self)]
        for at in np.flatnonzero((vectors[:, slots] != 0).any(axis=1)).tolist():
            vectors[at, slots] = 0.0
            left = np.flatnonzero(vectors[at])
            starts, square = np.array([0, len(left)]), np.empty(1)
            row = aligned((1, self.n_slots), self.dtype)
            support.lay_out(starts, left, vectors[at, left], row, square)
            self.memory["squares"][at] = square[0]

    def rows(self, events: DenseBlock | SparseBlock) -> tuple[Array, Array]:
        """Events as rows, and the product of each with itself."""
        assert isinstance(events, SparseBlock)
        rows = aligned((events.end - events.first, self.n_slots), self.dtype)
        squares = np.empty(len(rows))
        support.lay_out(events.starts, events.slots, events.values, rows, squares)
        return rows, squares
