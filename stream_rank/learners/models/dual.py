"""The base class of the models of on-line MPRank: the dual variables of the events kept, by group."""

import math
from collections.abc import Sequence

import numpy as np

from stream_rank.engine.differences import duals
from stream_rank.engine.memory import Memory
from stream_rank.errors import MergeError
from stream_rank.learners.models.part import Part
from stream_rank.learners.models.row_model import GroupRows

__all__ = ["BOUND", "Dual"]

BOUND = 1e25
"""Features and labels up to this size leave every product finite, since dual variables are at most 1e40."""


class Dual(GroupRows):
    """At most `budget` events, and a dual variable for each."""

    bound = BOUND
    apart = True
    budget: int
    scaled: bool

    def _begin(self, trade_off: float | None, rate: float | None, revisits: int) -> None:
        sizes = self.memory["sizes"]
        sizes[duals.BUDGET], sizes[duals.REVISITS] = self.budget, revisits
        self.memory["parameters"][: duals.BIAS] = (
            0.0 if trade_off is None else trade_off,
            math.inf if rate is None else rate,
        )

    def __len__(self) -> int:
        return int(self.memory["sizes"][duals.USED])

    @property
    def constant(self) -> float:
        """What is added to the weighted features or kernel values."""
        return float(self.memory["parameters"][duals.BIAS])

    def make_groups(self, n_rows: int) -> bool:
        """Make room for rows up to, and without, `n_rows`; whether the memory moved."""
        moved = super().make_groups(n_rows)
        self.memory["sizes"][duals.ROWS] = self.n_rows
        return moved

    def resume(self) -> None:
        """Check that every event belongs to an existing group, and that its length was measured."""
        measured = self.memory["parameters"][duals.LENGTH :]
        if not ((measured >= 0) & np.isfinite(measured)).all():
            raise ValueError("a mean length that is none")
        rows = self.memory["members"] % duals.PAIR
        if self.memory["members"].min() < 0 or rows.max() >= self.n_rows:
            raise ValueError("an event of no group")

    def merge(self, parts: Sequence[Part]) -> None:
        """Refuse: it is what it keeps of its events."""
        raise MergeError(
            "its weights are those of the events that it keeps, and those of several would not fit into its budget"
        )

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"duals": self.memory}
