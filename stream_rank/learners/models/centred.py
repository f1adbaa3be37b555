"""Models that see events from the middle of their group."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import centre
from stream_rank.engine.memory import Layout, Memory, aligned
from stream_rank.engine.support import lay_out
from stream_rank.learners.blocks import DenseBlock, SparseBlock

__all__ = ["Centred"]

Array = npt.NDArray[Any]

_BOUND = 1e25
"""Features and labels up to this size leave every product finite: the factors of a covariance hold ratios of
features squared, and are squared again. A regularization of at least `LEAST` keeps them so."""

_FADED = 1000
"""Into how small a part a feature's regularization may fade before it is given back."""


class Centred:
    """Running means by group, and what is learned from the distances to them."""

    always_blocks = False
    dtype = "float64"
    bound = _BOUND
    longest = math.inf

    def __init__(self, regularization: float, forgetting: float) -> None:
        self._keep(Memory(self.dtype, self._layout(1, 2)))
        fading = math.log(1 / forgetting) / math.log(_FADED)
        self.memory["parameters"][: centre.TOTAL] = regularization, forgetting, fading

    def _layout(self, n_slots: int, n_rows: int) -> Layout:
        raise NotImplementedError

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block, self.row = memory, memory.block, memory["row"]
        self.n_slots = self.row.size
        self.memory["sizes"][centre.SLOTS] = self.n_slots

    @property
    def events(self) -> int:
        """Events learned."""
        return int(self.memory["sizes"][centre.EVENTS])

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        if n_features > self.n_slots:
            wanted = n_features if self.events == 0 else max(n_features, self.n_slots * 3 // 2)
            rows = len(self.memory["counts"])
            self._keep(self.memory.reshaped(self._layout(wanted, rows)))
        self._begin(int(self.memory["sizes"][centre.FEATURES]), n_features)

    def _begin(self, first: int, end: int) -> None:
        """Meet features."""
        self.memory["sizes"][centre.FEATURES] = end

    def make_groups(self, n_rows: int) -> bool:
        """Make room for rows up to, and without, `n_rows`; whether the memory moved."""
        room = len(self.memory["counts"])
        if n_rows > room:
            layout = self._layout(self.n_slots, max(n_rows, room * 2))
            self._keep(self.memory.reshaped(layout))
        return n_rows > room

    def _dense(self, events: DenseBlock | SparseBlock) -> Array:
        """Events as rows; features that are not known are left out."""
        if isinstance(events, DenseBlock):
            return events.rows
        rows = aligned((events.end - events.first, self.n_slots), self.dtype)
        lay_out(events.starts, events.slots, events.values, rows, np.empty(len(rows)))
        return rows

    def weights(self) -> Array:
        """The weights, slot by slot."""
        return self.memory["weights"]

    @property
    def constant(self) -> float:
        """What is added to the weighted features."""
        return float(self.memory["parameters"][centre.BIAS])

    def memories(self) -> dict[str, Memory]:
        """All there is to keep, by name."""
        return {"centred": self.memory}

    def __getstate__(self) -> dict[str, Any]:
        views = ("block", "row")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
