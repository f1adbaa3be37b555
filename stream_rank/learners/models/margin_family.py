"""A family of linear PRank members that are mended by another rule than the perceptron's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import Memory
from stream_rank.engine.perceptron import margins, updates
from stream_rank.learners.models.family import Family
from stream_rank.learners.models.model import Learning, column_of, takes_no_entries
from stream_rank.learners.models.part import Part, laid_out
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock

__all__ = ["UPDATES", "MarginFamily"]

Array = npt.NDArray[Any]

UPDATES = {
    "passive-aggressive": updates.PASSIVE_AGGRESSIVE,
    "romma": updates.ROMMA,
    "arow": updates.AROW,
}
"""The engine's rules by name; a perceptron is a `Family`."""


class MarginFamily(Family):
    """Members over features, and what the rule `update` keeps of each."""

    take_few = staticmethod(takes_no_entries)

    def __init__(
        self,
        n_ranks: int,
        n_members: int,
        rule: int,
        dtype: str,
        key: int,
        sampling: float,
        update: str,
    ) -> None:
        self._kind, self._n_members = UPDATES[update], n_members
        super().__init__(n_ranks, n_members, rule, dtype, key, sampling)
        self._rules = Memory(dtype, self._rules_layout())
        self._rules["sizes"][updates.KIND] = self._kind

    def _rules_layout(self) -> Any:
        return updates.rules_layout(self._kind, self._n_members, self.n_slots, self.dtype)

    def _keep(self, memory: Memory) -> None:
        super()._keep(memory)
        self.few = None

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        before = self.n_slots
        super().resize(n_features)
        if self.n_slots != before:
            self._rules = self._rules.reshaped(self._rules_layout())

    def forget(self, slots: Array) -> None:
        """Put every member's weights of slots back to 0, and what is known of them."""
        super().forget(slots)
        if self._kind == updates.AROW:
            self._rules["information"][:, slots] = 0.0

    def learn_row(self, block: Array, label: int, bound: float) -> bool:
        """Learn the event in `row`; False, and nothing learned, if a number is beyond `bound`."""
        learned: bool = margins.learn_row_by_margin(block, self._rules.block, label, bound)
        return learned

    def learn_pair(self, block: Array, magnitude: float, bound: float) -> bool:
        """Learn the pair whose difference is in `row`, under the same condition."""
        learned: bool = margins.learn_pair_by_margin(block, self._rules.block, magnitude, bound)
        return learned

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        asked = answers, predictions, column_of(learning, len(answers))
        if isinstance(rows, SparseBlock):
            entries = rows.starts, rows.slots, rows.values
            margins.run_by_margin_sparse(self.block, self._rules.block, *entries, *asked)
        else:
            margins.run_by_margin(self.block, self._rules.block, rows.rows, *asked)

    def _pairs(self, block: Array, *given: Any) -> None:
        margins.run_pairs_by_margin(block, self._rules.block, *given)

    def _pairs_sparse(self, block: Array, *given: Any) -> None:
        margins.run_pairs_by_margin_sparse(block, self._rules.block, *given)

    def merge(self, parts: Sequence[Part]) -> None:
        """Be the average of families; what is known of a weight adds up, and slack is that of the average."""
        events = [part.model.events for part in parts]
        total, romma = max(1, sum(events)), self._kind == updates.ROMMA
        own, information = np.zeros(self._n_members), np.zeros(self._rules["information"].shape)
        for part, count in zip(parts, events, strict=True):
            share = (
                count / total if romma else 1.0
            )  # slacks of different events are at right angles
            theirs = part.model.memories()["update"]
            own += share * share * theirs["own"]
            if self._kind == updates.AROW:
                information += laid_out(theirs["information"], part, self.n_slots)
        super().merge(parts)
        self._rules["own"][...] = own
        self._rules["information"][...] = information

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {**super().memories(), "update": self._rules}

    def resume(self) -> None:
        """Check what no rule can have come to."""
        super().resume()
        for name in ("own", "information"):
            if (self._rules[name] < 0).any():
                raise ValueError(f"section {name} has numbers below 0")
