"""What the models of on-line MPRank share: the dual variables of the events kept, by group."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import duals
from stream_rank.engine.memory import Layout, Memory

__all__ = ["BOUND", "Dual"]

Array = npt.NDArray[Any]

BOUND = 1e50
"""Features and labels up to this size leave every product finite, since dual variables are at most 1e80."""


class Dual:
    """At most `budget` events, and a dual variable for each."""

    dtype = "float64"
    bound = BOUND
    longest = math.inf
    always_blocks = False

    def __init__(
        self, trade_off: float, rate: float | None, budget: int, revisits: int, n_slots: int = 1
    ) -> None:
        self.budget = budget
        self._keep(Memory(self.dtype, self._layout(n_slots, 2)))
        sizes = self.memory["sizes"]
        sizes[duals.BUDGET], sizes[duals.REVISITS] = budget, revisits
        self.memory["parameters"][: duals.BIAS] = trade_off, math.inf if rate is None else rate

    def _layout(self, n_slots: int, n_rows: int) -> Layout:
        raise NotImplementedError

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block = memory, memory.block
        memory["sizes"][duals.ROWS] = len(memory["counts"])

    def __len__(self) -> int:
        return int(self.memory["sizes"][duals.USED])

    @property
    def events(self) -> int:
        """Events learned."""
        return int(self.memory["sizes"][duals.EVENTS])

    @property
    def constant(self) -> float:
        """What is added to the weighted features or kernel values."""
        return float(self.memory["parameters"][duals.BIAS])

    def _rows(self) -> int:
        return len(self.memory["counts"])

    def make_groups(self, n_rows: int) -> bool:
        """Make room for rows up to, and without, `n_rows`; whether the memory moved."""
        if n_rows <= self._rows():
            return False
        layout = self._layout(self._width(), max(n_rows, 2 * self._rows()))
        self._keep(self.memory.reshaped(layout))
        return True

    def _width(self) -> int:
        raise NotImplementedError

    @staticmethod
    def _all_of(predictions: Array, groups: Array | None) -> Array:
        return np.zeros(len(predictions), np.int64) if groups is None else groups

    def __getstate__(self) -> dict[str, Any]:
        views = ("block", "row", "gram")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
