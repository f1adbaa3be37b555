"""On-line MPRank with kernel values of the events kept."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.differences import duals, mprank_kernel
from stream_rank.engine.memory import Layout, Memory, aligned, padded
from stream_rank.kernels import Gaussian, Polynomial
from stream_rank.learners.models.dual import BOUND, Dual
from stream_rank.learners.models.model import Learning, column_of, takes_no_entries
from stream_rank.learners.models.support_set import SupportSet
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["DualKernel"]

Array = npt.NDArray[Any]


class DualKernel(Dual):
    """The events kept, their kernel values with each other, and the coefficients of their dual variables."""

    dtype = "float64"
    most_features: float = math.inf
    always_blocks = True
    calibrated_every = 1
    few: Array | None = None
    take_few = staticmethod(takes_no_entries)

    def __init__(
        self,
        trade_off: float | None,
        rate: float | None,
        budget: int,
        revisits: int,
        kernel: Polynomial | Gaussian,
    ) -> None:
        self.budget, self.scaled = budget, trade_off is None
        self.support = SupportSet(kernel, budget, self.dtype, BOUND**2)
        self.longest = self.support.longest
        self.bound = math.sqrt(self.longest)
        self.n_slots = self.support.n_slots
        self.row = aligned((1,), self.dtype)  # single events come as blocks
        self.gram = self._empty_gram()
        self._keep(Memory(self.dtype, self._layout(self.n_slots)))
        self._begin(trade_off, rate, revisits)

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block = memory, memory.block

    @property
    def events(self) -> int:
        """Events learned."""
        return int(self.memory["sizes"][duals.EVENTS])

    def _empty_gram(self) -> Array:
        return aligned((self.budget, padded(self.budget, self.dtype)), self.dtype)

    def _layout(self, n_slots: int) -> Layout:
        return mprank_kernel.layout(self.budget, self.n_rows, self.scaled)

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        self.support.resize(n_features, exactly=self.events == 0)
        self.n_slots = self.support.n_slots

    def forget(self, slots: Array) -> None:
        """Take the features in slots out of the events kept. Cost: O(budget**2 * features)."""
        self.support.forget(slots)
        mprank_kernel.renew(*self._parts())

    def _parts(self) -> tuple[Array, Array, Array]:
        return self.block, self.support.block, self.gram

    def run(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: Learning,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""
        written = self.support.rows(rows)
        groups = np.zeros(len(answers), np.int64) if groups is None else groups
        learned = column_of(learning, len(answers))
        mprank_kernel.run(*self._parts(), *written, answers, groups, predictions, learned)

    def absorb(self, rows: DenseBlock | SparseBlock, answers: Array, groups: Array) -> None:
        """Learn rows, each as one of its group, and discard the predictions."""
        self.run(rows, answers, np.empty(len(answers)), True, groups)

    def run_pairs(
        self, pairs: PairBlock, magnitudes: Array, ahead: Array, shares: Array, groups: Array
    ) -> None:
        """Learn pairs, each a group of its own; by how much the preferred were ahead before, unless `ahead` is empty. Nobody votes."""
        written = *self.support.rows(pairs.preferred), *self.support.rows(pairs.other)
        mprank_kernel.run_pairs(*self._parts(), *written, magnitudes, groups, ahead)

    def sweep(self) -> None:
        """Step along the dual variables of all events kept, once each."""
        mprank_kernel.sweep(*self._parts())

    def costs(self) -> tuple[float, float]:
        """The cost that is minimised, and the dual, a lower bound of it."""
        cost, bound = mprank_kernel.costs(*self._parts())
        return cost, bound

    def coefficients(self) -> list[float]:
        """The coefficients of the events kept, by slot."""
        coefficients: list[float] = self.memory["betas"][: len(self)].tolist()
        return coefficients

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {**super().memories(), "support": self.support.memory}

    def resume(self) -> None:
        """Recompute the kernel values of the events kept, which are not in snapshots."""
        super().resume()
        mprank_kernel.fill(*self._parts())

    def __getstate__(self) -> dict[str, Any]:
        views = ("block", "row", "gram")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
        self.row = aligned((1,), self.dtype)
        self.gram = self._empty_gram()
        mprank_kernel.fill(*self._parts())
