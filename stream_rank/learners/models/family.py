"""A family of linear PRank members: one state for PRank and all OAP learners, which differ in their rule."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import bound_of
from stream_rank.engine.coins import chance
from stream_rank.engine.memory import Memory
from stream_rank.engine.perceptron import family, pairs, state
from stream_rank.engine.products import combined
from stream_rank.learners.models.family_merging import merge_families
from stream_rank.learners.models.model import Learning, column_of
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["Family"]

Array = npt.NDArray[Any]


class Family:
    """Members over features."""

    most_features: float = math.inf
    always_blocks = False
    calibrated_every = 1
    apart = False
    longest = math.inf
    learn_row = staticmethod(family.learn_row)
    predict_row = staticmethod(family.predict_row)
    take_few = staticmethod(family.take_few)
    few: Array | None = None
    learn_pair = staticmethod(family.learn_pair)
    _pairs = staticmethod(pairs.run_pairs)
    _pairs_sparse = staticmethod(pairs.run_pairs_sparse)

    def __init__(
        self,
        n_ranks: int,
        n_members: int,
        rule: int,
        dtype: str,
        key: int = 0,
        sampling: float = 1.0,
        n_slots: int = 1,
    ) -> None:
        self.dtype, self.bound = dtype, bound_of(dtype)
        self._keep(Memory(dtype, state.layout(n_members, n_slots, n_ranks, dtype, rule)))
        sizes = self.memory["sizes"]
        sizes[state.MEMBERS], sizes[state.RANKS], sizes[state.RULE] = n_members, n_ranks, rule
        sizes[state.SLOTS] = self.memory["mean"].size
        sizes[state.KEY] = np.uint64(key).astype(np.int64)
        sizes[state.RATE] = np.uint64(chance(sampling)).astype(np.int64)
        self.memory["everybody"][:n_members] = np.arange(n_members)
        self._fence(self.memory, n_ranks)

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block, self.row = memory, memory.block, memory["row"]
        self.n_slots, self.few = self.row.size, memory["few"]

    @staticmethod
    def _fence(memory: Memory, n_ranks: int) -> None:
        """Put the first threshold at minus infinity, and those that are not in use at infinity."""
        for edges in (memory["thresholds"], memory["mean_thresholds"][None]):
            edges[:, 0] = -np.inf
            edges[:, n_ranks:] = np.inf

    def _size(self, entry: int) -> int:
        return int(self.memory["sizes"][entry])

    @property
    def n_ranks(self) -> int:
        """How many ranks there are."""
        return self._size(state.RANKS)

    @property
    def events(self) -> int:
        """Events learned."""
        return self._size(state.EVENTS)

    @property
    def updates(self) -> int:
        """Members' mistakes so far."""
        return self._size(state.UPDATES)

    def _layout(self, n_slots: int, n_ranks: int) -> Any:
        members, rule = self._size(state.MEMBERS), self._size(state.RULE)
        return state.layout(members, n_slots, n_ranks, self.dtype, rule)

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        if n_features > self.n_slots:
            # half as much again: exact sizes would copy the memory for every new name
            wanted = n_features if self.events == 0 else max(n_features, self.n_slots * 3 // 2)
            self._keep(self.memory.reshaped(self._layout(wanted, self.n_ranks)))
            self.memory["sizes"][state.SLOTS] = self.n_slots

    def forget(self, slots: Array) -> None:
        """Put every member's weights of slots back to 0, and their averages with them."""
        memory = self.memory
        memory["weights"][:, slots] = 0.0
        memory["mean"][slots] = 0.0
        if self._size(state.RULE) == state.PRESENT:
            memory["late"][0] -= int((memory["clocks"][slots] > 0).sum())
            memory["clocks"][slots] = memory["lag"][slots] = 0.0

    def insert_rank(self, place: int) -> None:
        """Make room for a new rank above the lowest `place` ranks.

        It splits a threshold: the one between its neighbours, or the outermost if it is the lowest or
        highest. Both halves begin where the threshold was, so their order holds.
        """
        old, n_ranks = self.memory, self.n_ranks
        self._keep(old.reshaped(self._layout(self.n_slots, n_ranks + 1)))
        split = min(max(place, 1), n_ranks - 1)
        for name in ("thresholds", "mean_thresholds"):
            before = old[name].reshape(-1, old[name].shape[-1])
            after = self.memory[name].reshape(len(before), -1)
            if n_ranks == 1:
                after[:, 1] = 0.0
            else:
                after[:, 1 : split + 1] = before[:, 1 : split + 1]
                after[:, split + 1 : n_ranks + 1] = before[:, split:n_ranks]
        self.memory["sizes"][state.RANKS] = n_ranks + 1
        self._fence(self.memory, n_ranks + 1)

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        learned = column_of(learning, len(answers))
        if isinstance(rows, SparseBlock):
            family.run_sparse(
                self.block, rows.starts, rows.slots, rows.values, answers, predictions, learned
            )
        else:
            family.run(self.block, rows.rows, answers, predictions, learned)

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's share of the members' votes, and the averaged rule's score."""
        if isinstance(rows, SparseBlock):
            family.opinions_sparse(self.block, rows.starts, rows.slots, rows.values, shares, scores)
        else:
            family.opinions(self.block, rows.rows, shares, scores)

    def run_pairs(
        self,
        pairs: PairBlock,
        magnitudes: Array,
        ahead: Array,
        shares: Array,
        learning: bool = True,
    ) -> None:
        """Learn pairs if `learning`; what was expected of each before.

        `ahead` gets by how much the preferred items were ahead, `shares` the share of members who had them ahead; nobody
        asks for one that is empty.
        """
        asked = magnitudes, ahead, shares, learning
        if pairs.sparse:
            self._pairs_sparse(self.block, *pairs.entries(self.dtype), *asked)
        else:
            self._pairs(self.block, *pairs.rows(self.dtype), *asked)

    def averaged(self) -> tuple[Array, Array]:
        """Weights (one a slot) and thresholds of the averaged rule."""
        memory, rule = self.memory, self._size(state.RULE)
        inner = slice(1, self.n_ranks)
        if rule == state.AVERAGED:
            n_members = self._size(state.MEMBERS)
            return memory["mean"] / n_members, memory["mean_thresholds"][inner] / n_members
        if rule in (state.LASTING, state.PRESENT):
            rounds = max(1, self.events)
            thresholds = memory["thresholds"][0, inner] - memory["mean_thresholds"][inner] / rounds
            weights = memory["weights"][0] - memory["mean"] / rounds
            return weights + memory["lag"] if rule == state.PRESENT else weights, thresholds
        ballots = np.ones(self._size(state.MEMBERS))
        if rule == state.WEIGHTED and memory["correct"].any():
            ballots = memory["correct"].astype(np.float64)
        ballots /= ballots.sum()  # a sum of whole numbers is exact in any order
        thresholds = combined(ballots, memory["thresholds"][:, inner])
        return combined(ballots, memory["weights"]), thresholds

    def merge(self, parts: Sequence[Part]) -> None:
        """Be the average of families, the first of which it is itself."""
        merge_families(parts)

    def resume(self) -> None:
        """Check that the thresholds are finite, and put the infinite ones around them."""
        inner = slice(1, self.n_ranks)
        for name in ("thresholds", "mean_thresholds"):
            if not np.isfinite(self.memory[name][..., inner]).all():
                raise ValueError(f"section {name} has numbers that are not finite")
        self._fence(self.memory, self.n_ranks)

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"family": self.memory}

    def __getstate__(self) -> dict[str, Any]:
        views = ("block", "row", "few") if not self.always_blocks else ("block",)
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
