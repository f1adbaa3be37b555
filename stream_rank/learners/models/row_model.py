"""The base classes of the models whose events are rows of numbers, one a feature."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import Layout, Memory, aligned
from stream_rank.engine.support import lay_out
from stream_rank.learners.models.model import Learning, column_of, takes_no_entries
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["GroupRows", "GroupedRowModel", "RowModel"]

Array = npt.NDArray[Any]

_SLOTS, _EVENTS = 0, 1
"""The entries of `sizes`, in every such memory, that hold the numbers of slots and of events learned."""


class RowModel:
    """A memory with `sizes`, `weights` and a `row`, which grows with the features."""

    dtype = "float64"
    longest = math.inf
    most_features: float = math.inf
    always_blocks = False
    calibrated_every = 1
    apart = False
    few: Array | None = None
    take_few = staticmethod(takes_no_entries)

    def __init__(self) -> None:
        self._keep(Memory(self.dtype, self._layout(1)))

    def _layout(self, n_slots: int) -> Layout:
        raise NotImplementedError

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block, self.row = memory, memory.block, memory["row"]
        self.n_slots, self.few = self.row.size, memory["few"] if "few" in memory.layout else None
        memory["sizes"][_SLOTS] = self.n_slots

    @property
    def events(self) -> int:
        """Events learned."""
        return int(self.memory["sizes"][_EVENTS])

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        if n_features > self.n_slots:
            wanted = n_features if self.events == 0 else max(n_features, self.n_slots * 3 // 2)
            self._keep(self.memory.reshaped(self._layout(wanted)))

    def forget(self, slots: Array) -> None:
        """Put the weights of slots back to 0."""
        self.memory["weights"][slots] = 0.0

    def dense(self, events: DenseBlock | SparseBlock) -> Array:
        """Events as rows; features that are not known are left out."""
        if isinstance(events, DenseBlock):
            return events.rows
        rows = aligned((events.end - events.first, self.n_slots), self.dtype)
        lay_out(events.starts, events.slots, events.values, rows, np.empty(len(rows)))
        return rows

    def weights(self) -> Array:
        """The weights, slot by slot."""
        return self.memory["weights"]

    def resume(self) -> None:
        """Do nothing: everything is in the memories."""

    def __getstate__(self) -> dict[str, Any]:
        views = ("block", "row", "few")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)


class GroupedRowModel(RowModel):
    """Rows that come in groups; `_run` is the engine's loop over them, `_pairs` that over pairs."""

    _run: Callable[..., None]
    _pairs: Callable[..., None]

    def run(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: Learning,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""
        groups = np.zeros(len(answers), np.int64) if groups is None else groups
        learned = column_of(learning, len(answers))
        self._run(self.block, self.dense(rows), answers, groups, predictions, learned)

    def absorb(self, rows: DenseBlock | SparseBlock, answers: Array, groups: Array) -> None:
        """Learn rows, each as one of its group, and discard the predictions."""
        self.run(rows, answers, np.empty(len(answers)), True, groups)

    def run_pairs(
        self,
        pairs: PairBlock,
        magnitudes: Array,
        ahead: Array,
        shares: Array,
        groups: Array | None = None,
    ) -> None:
        """Learn pairs; by how much the preferred were ahead before, unless `ahead` is empty. Nobody votes.

        Where a pair is a group of its own, its row is one of `groups`.
        """
        rows = self.dense(pairs.preferred), self.dense(pairs.other)
        more = () if groups is None else (groups,)
        self._pairs(self.block, *rows, magnitudes, *more, ahead)


class GroupRows:
    """A memory with a row for every group; row 0 is for all events."""

    memory: Memory
    n_slots: int
    n_rows = 2

    def _layout(self, n_slots: int) -> Layout:
        raise NotImplementedError

    def _keep(self, memory: Memory) -> None:
        raise NotImplementedError

    def make_groups(self, n_rows: int) -> bool:
        """Make room for rows up to, and without, `n_rows`; whether the memory moved."""
        if n_rows <= self.n_rows:
            return False
        self.n_rows = max(n_rows, 2 * self.n_rows)
        self._keep(self.memory.reshaped(self._layout(self.n_slots)))
        return True
