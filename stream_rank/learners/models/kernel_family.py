"""A family of PRank members over kernel values, with the support set that they share."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import kernels
from stream_rank.engine.check import bound_of, first_beyond
from stream_rank.engine.memory import Memory, aligned
from stream_rank.kernels import Gaussian, Polynomial
from stream_rank.learners.models.family import Family
from stream_rank.learners.table import DenseBlock, SparseBlock

__all__ = ["KernelFamily"]

Array = npt.NDArray[Any]


class KernelFamily(Family):
    """Members over the kernel values of at most `budget` support vectors."""

    dense_only = True

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
        self.kernel, self.budget = kernel, budget
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
        self.bound = self.kernel.bound(bound_of(self.dtype), self.n_slots)
        self.row = aligned((self.n_slots,), self.dtype)

    def _layout(self, n_slots: int, n_ranks: int) -> Any:
        return super()._layout(self.memory["mean"].size, n_ranks)

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

    def learn_row(self, block: Array, answer: int, bound: float) -> bool:
        """Learn the event in `row`; False, and nothing learned, if a number is beyond `bound`."""
        return self._take_row(answer, bound, learning=True) != 0

    def predict_row(self, block: Array, bound: float) -> int:
        """The rank of the event in `row`; 0 if a number is beyond `bound`."""
        return self._take_row(1, bound, learning=False)

    def _take_row(self, answer: int, bound: float, learning: bool) -> int:
        rows = self.row[None]
        if first_beyond(rows, bound) >= 0:
            return 0
        rank = np.empty(1, np.int64)
        answers = np.array([answer], np.int64)
        kernels.run_kernel(self.block, self.support.block, rows, answers, rank, learning)
        self.row[:] = 0.0  # an unknown feature may have been written beyond the known ones
        return int(rank[0])

    def learn_pair_of(self, pair: Array, magnitude: float) -> None:
        """Learn that the first of two rows is preferred to the second."""
        kernels.learn_pair_kernel(self.block, self.support.block, pair, magnitude)

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: bool
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        assert isinstance(rows, DenseBlock)
        kernels.run_kernel(
            self.block, self.support.block, rows.rows, answers, predictions, learning
        )

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's share of the members' votes, and the averaged rule's score."""
        assert isinstance(rows, DenseBlock)
        kernels.opinions_kernel(self.block, self.support.block, rows.rows, shares, scores)
        self.row[:] = 0.0

    def memories(self) -> dict[str, Memory]:
        """All there is to keep, by name."""
        return {"family": self.memory, "support": self.support}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
        self._keep_support(self.support)
