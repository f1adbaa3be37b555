"""On-line MPRank with weights of features."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import mprank
from stream_rank.engine.memory import Layout
from stream_rank.learners.blocks import DenseBlock, SparseBlock
from stream_rank.learners.models.dual import Dual
from stream_rank.learners.models.row_model import RowModel

__all__ = ["DualLinear"]

Array = npt.NDArray[Any]


class DualLinear(RowModel, Dual):
    """The events kept, and the weights that their dual variables make."""

    learn_row = staticmethod(mprank.learn_row)
    predict_row = staticmethod(mprank.predict_row)

    def __init__(self, trade_off: float, rate: float | None, budget: int, revisits: int) -> None:
        self.budget = budget
        super().__init__()
        self._begin(trade_off, rate, revisits)

    def _layout(self, n_slots: int) -> Layout:
        return mprank.layout(n_slots, self.budget, self.n_rows)

    def run(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: bool,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""
        groups = np.zeros(len(answers), np.int64) if groups is None else groups
        mprank.run(self.block, self.dense(rows), answers, groups, predictions, learning)

    def sweep(self) -> None:
        """Step along the dual variables of all events kept, once each."""
        mprank.sweep(self.block)

    def costs(self) -> tuple[float, float]:
        """What is minimised, and what it cannot be below."""
        cost, bound = mprank.costs(self.block)
        return cost, bound
