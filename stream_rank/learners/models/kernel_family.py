"""A family of PRank members over kernel values, with the support set that they share."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import bound_of
from stream_rank.engine.memory import Memory, aligned
from stream_rank.engine.perceptron import kernels
from stream_rank.errors import MergeError
from stream_rank.kernels import Gaussian, Polynomial
from stream_rank.learners.models.family import Family
from stream_rank.learners.models.model import Learning, column_of
from stream_rank.learners.models.part import Part
from stream_rank.learners.models.support_set import SupportSet
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["KernelFamily"]

Array = npt.NDArray[Any]


class KernelFamily(Family):
    """Members over the kernel values of at most `budget` support vectors; further events go to the nearest of them if `merging`, else the oldest goes."""

    always_blocks = True
    apart = True
    _run = staticmethod(kernels.run_kernel)
    _run_pairs = staticmethod(kernels.run_pairs_kernel)

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
        merging: bool,
    ) -> None:
        super().__init__(n_ranks, n_members, rule, dtype, key, sampling, n_slots=budget)
        self._merging = merging
        self.support = SupportSet(kernel, budget, dtype, bound_of(dtype))
        self.longest = self.support.longest
        self.bound = math.sqrt(self.longest)
        self.row = aligned((1,), dtype)  # single events come as blocks too
        self.n_slots = self.support.n_slots

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block = memory, memory.block

    def _layout(self, n_slots: int, n_ranks: int) -> Any:
        return super()._layout(self.memory["mean"].size, n_ranks)  # coefficients, not features

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        self.support.resize(n_features, exactly=self.events == 0)
        self.n_slots = self.support.n_slots

    def forget(self, slots: Array) -> None:
        """Take the features in slots out of all support vectors."""
        self.support.forget(slots)

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        written = self.support.rows(rows)
        learned = column_of(learning, len(answers))
        self._run(
            self.block, self.support.block, *written, answers, predictions, learned, self._merging
        )

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's share of the members' votes, and the averaged rule's score."""
        kernels.opinions_kernel(
            self.block, self.support.block, *self.support.rows(rows), shares, scores
        )

    def learn_items(self, pair: list[DenseBlock | SparseBlock], magnitude: float) -> None:
        """Learn that the first of two events is preferred to the second."""
        nobody_asks = np.empty(0)
        self.run_pairs(PairBlock(*pair), np.array([magnitude]), nobody_asks, nobody_asks)

    def run_pairs(
        self,
        pairs: PairBlock,
        magnitudes: Array,
        ahead: Array,
        shares: Array,
        learning: bool = True,
    ) -> None:
        """Learn pairs if `learning`; what was expected of each before."""
        written = *self.support.rows(pairs.preferred), *self.support.rows(pairs.other)
        self._run_pairs(
            self.block,
            self.support.block,
            *written,
            magnitudes,
            ahead,
            shares,
            learning,
            self._merging,
        )

    def merge(self, parts: Sequence[Part]) -> None:
        """Refuse: there is no average of support sets within a budget."""
        raise MergeError(
            "with a kernel it is made of support vectors, and those of several would not fit into its budget"
        )

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"family": self.memory, "support": self.support.memory}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
