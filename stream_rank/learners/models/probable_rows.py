"""The base class of the models of rows that say how likely each rank is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.learners.models.model import Learning, column_of
from stream_rank.learners.models.row_model import RowModel
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock

__all__ = ["ProbableRows"]

Array = npt.NDArray[Any]
_NOTHING = np.empty((0, 0))


class ProbableRows(RowModel):
    """Rows and CSR rows through the engine's loops, which leave each rank's probability where it is asked for."""

    _run: Callable[..., None]
    _run_sparse: Callable[..., None]
    _opinions: Callable[..., None]
    _opinions_sparse: Callable[..., None]

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        self.run_and_ask(rows, answers, predictions, column_of(learning, len(answers)), _NOTHING)

    def run_and_ask(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: Array,
        shares: Array,
    ) -> None:
        """`run`, and each rank's probability for the rows that are not learned; of others it means nothing."""
        more = answers, predictions, learning, shares
        if isinstance(rows, SparseBlock):
            self._run_sparse(self.block, rows.starts, rows.slots, rows.values, *more)
        else:
            self._run(self.block, rows.rows, *more)

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's probability, and the score."""
        if isinstance(rows, SparseBlock):
            self._opinions_sparse(self.block, rows.starts, rows.slots, rows.values, shares, scores)
        else:
            self._opinions(self.block, rows.rows, shares, scores)
