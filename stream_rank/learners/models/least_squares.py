"""A linear score that follows its labels by least mean squares."""

import math
from typing import Any

import numpy.typing as npt

from stream_rank.engine import least_squares
from stream_rank.engine.check import bound_of
from stream_rank.engine.memory import Memory
from stream_rank.learners.blocks import DenseBlock, SparseBlock

__all__ = ["LeastSquares"]

Array = npt.NDArray[Any]


class LeastSquares:
    """Weights over features, and an intercept if asked for."""

    always_blocks = False
    longest = math.inf
    learn_row = staticmethod(least_squares.learn_row)
    predict_row = staticmethod(least_squares.predict_row)
    learn_pair = staticmethod(least_squares.learn_pair)

    def __init__(self, learning_rate: float, intercept: bool, dtype: str) -> None:
        self.dtype, self.bound = dtype, bound_of(dtype)
        self._keep(Memory(dtype, least_squares.layout(1, dtype)))
        self.memory["sizes"][least_squares.SLOTS] = self.n_slots
        self.memory["parameters"][: least_squares.INTERCEPT] = learning_rate, intercept

    def _keep(self, memory: Memory) -> None:
        self.memory, self.block, self.row = memory, memory.block, memory["row"]
        self.n_slots = self.row.size

    @property
    def events(self) -> int:
        """Events learned."""
        return int(self.memory["sizes"][least_squares.EVENTS])

    @property
    def intercept(self) -> float:
        """The constant that was learned."""
        return float(self.memory["parameters"][least_squares.INTERCEPT])

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        if n_features > self.n_slots:
            wanted = n_features if self.events == 0 else max(n_features, self.n_slots * 3 // 2)
            self._keep(self.memory.reshaped(least_squares.layout(wanted, self.dtype)))
            self.memory["sizes"][least_squares.SLOTS] = self.n_slots

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: bool
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        if isinstance(rows, SparseBlock):
            least_squares.run_sparse(
                self.block, rows.starts, rows.slots, rows.values, answers, predictions, learning
            )
        else:
            least_squares.run(self.block, rows.rows, answers, predictions, learning)

    def weights(self) -> Array:
        """The weights, slot by slot."""
        return self.memory["weights"]

    def memories(self) -> dict[str, Memory]:
        """All there is to keep, by name."""
        return {"least_squares": self.memory}

    def __getstate__(self) -> dict[str, Any]:
        views = ("block", "row")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._keep(self.memory)
