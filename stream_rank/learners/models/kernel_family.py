"""A family of PRank members over kernel values, with the support set that they share."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import kernels
from stream_rank.engine.check import bound_of
from stream_rank.engine.memory import Memory, aligned
from stream_rank.kernels import Gaussian, Polynomial
from stream_rank.learners.blocks import DenseBlock, SparseBlock
from stream_rank.learners.models.family import Family

__all__ = ["KernelFamily"]

Array = npt.NDArray[Any]


class KernelFamily(Family):
    """Members over the kernel values of at most `budget` support vectors."""

    always_blocks = True

    def __init__(
        self,
        n_ranks: int,
        n_members: int,
        rule: int,
        dtype: str,
        key: int,
        sampling: float,
        kernel: Polynomial | Gaussian,
        budget: int,
    ) -> None:
        super().__init__(n_ranks, n_members, rule, dtype, key, sampling, n_slots=budget)
        self.budget = budget
        self.longest = kernel.longest(bound_of(dtype))
        self.bound = self.longest**0.5
        self.row = aligned((1,), dtype)  # single events come as blocks too
        self.support = Memory(dtype, kernels.support_layout(budget, 1, dtype))
        sizes, parameters = self.support["sizes"], self.support["parameters"]
        sizes[kernels.BUDGET] = budget
        if isinstance(kernel, Polynomial):
            sizes[kernels.KIND] = kernels.POLYNOMIAL
            parameters[:] = kernel.offset, kernel.degree
        else:
            sizes[kernels.KIND] = kernels.GAUSSIAN
            parameters[0] = kernel.width
        self._keep_support(self.support)

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block = memory, memory.block

    def _keep_support(self, support: Memory) -> None:
        self.support = support
        self.n_slots = support["vectors"].shape[1]
        support["sizes"][kernels.FEATURES] = self.n_slots

    def _layout(self, n_slots: int, n_ranks: int) -> Any:
        return super()._layout(self.memory["mean"].size, n_ranks)  # coefficients, not features

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        if n_features > self.n_slots:
            wanted = n_features if self.events == 0 else max(n_features, self.n_slots * 3 // 2)
            layout = kernels.support_layout(self.budget, wanted, self.dtype)
            self._keep_support(self.support.reshaped(layout))

    @property
    def n_support(self) -> int:
        """How many support vectors there are."""
        return int(self.support["sizes"][kernels.USED])

    def _rows(self, events: DenseBlock | SparseBlock) -> tuple[Array, Array]:
        """Events as rows, and the product of each with itself."""
        assert isinstance(events, SparseBlock)
        rows = aligned((events.end - events.first, self.n_slots), self.dtype)
        squares = np.empty(len(rows))
        kernels.lay_out(events.starts, events.slots, events.values, rows, squares)
        return rows, squares

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: bool
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        written = self._rows(rows)
        kernels.run_kernel(self.block, self.support.block, *written, answers, predictions, learning)

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's share of the members' votes, and the averaged rule's score."""
        kernels.opinions_kernel(self.block, self.support.block, *self._rows(rows), shares, scores)

    def learn_items(self, pair: list[DenseBlock | SparseBlock], magnitude: float) -> None:
        """Learn that the first of two events is preferred to the second."""
        (first, one), (second, other) = map(self._rows, pair)
        rows, squares = aligned((2, self.n_slots), self.dtype), np.concatenate([one, other])
        rows[0], rows[1] = first[0], second[0]
        kernels.learn_pair_kernel(self.block, self.support.block, rows, squares, magnitude)

    def memories(self) -> dict[str, Memory]:
        """All there is to keep, by name."""
        return {"family": self.memory, "support": self.support}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
        self._keep_support(self.support)
