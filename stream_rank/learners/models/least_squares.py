"""A linear score learned by least mean squares."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import bound_of
from stream_rank.engine.differences import least_squares
from stream_rank.engine.memory import Layout, Memory
from stream_rank.learners.models.model import Learning, column_of
from stream_rank.learners.models.part import Part, laid_out, shares_of
from stream_rank.learners.models.row_model import RowModel
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["LeastSquares"]

Array = npt.NDArray[Any]


class LeastSquares(RowModel):
    """Weights over features, and an intercept if asked for."""

    learn_row = staticmethod(least_squares.learn_row)
    predict_row = staticmethod(least_squares.predict_row)
    take_few = staticmethod(least_squares.take_few)
    learn_pair = staticmethod(least_squares.learn_pair)

    def __init__(self, learning_rate: float, intercept: bool, dtype: str) -> None:
        self.dtype, self.bound = dtype, bound_of(dtype)
        super().__init__()
        self.memory["parameters"][: least_squares.INTERCEPT] = learning_rate, intercept

    def _layout(self, n_slots: int) -> Layout:
        return least_squares.layout(n_slots, self.dtype)

    @property
    def intercept(self) -> float:
        """The constant that was learned."""
        return float(self.memory["parameters"][least_squares.INTERCEPT])

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        learned = column_of(learning, len(answers))
        if isinstance(rows, SparseBlock):
            least_squares.run_sparse(
                self.block, rows.starts, rows.slots, rows.values, answers, predictions, learned
            )
        else:
            least_squares.run(self.block, rows.rows, answers, predictions, learned)

    def run_pairs(self, pairs: PairBlock, magnitudes: Array, ahead: Array, shares: Array) -> None:
        """Learn pairs; by how much the preferred were ahead before, unless `ahead` is empty. Nobody votes."""
        block = self.block
        if pairs.sparse:
            entries = pairs.entries(self.dtype)
            least_squares.run_pairs_sparse(block, *entries, magnitudes, ahead)
        else:
            least_squares.run_pairs(block, *pairs.rows(self.dtype), magnitudes, ahead)

    def merge(self, parts: Sequence[Part]) -> None:
        """The mean of intercepts by events, and of the weights over the parts that know the feature."""
        events = [each.model.events for each in parts]
        rounds = [
            laid_out(np.full(len(part.places), float(count)), part, self.n_slots)
            for part, count in zip(parts, events, strict=True)
        ]
        weights, intercept = np.zeros(self.n_slots), 0.0
        for part, count, share in zip(parts, events, shares_of(rounds), strict=True):
            weights += share * laid_out(part.model.memory["weights"], part, self.n_slots)
            intercept += count / max(1, sum(events)) * part.model.intercept
        self.memory["weights"][...] = weights
        self.memory["parameters"][least_squares.INTERCEPT] = intercept
        self.memory["sizes"][least_squares.EVENTS] = sum(events)

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"least_squares": self.memory}
