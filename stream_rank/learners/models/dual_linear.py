"""On-line MPRank with weights of features."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import duals, mprank
from stream_rank.engine.memory import Layout, Memory, aligned
from stream_rank.engine.support import lay_out
from stream_rank.learners.blocks import DenseBlock, SparseBlock
from stream_rank.learners.models.dual import Dual

__all__ = ["DualLinear"]

Array = npt.NDArray[Any]


class DualLinear(Dual):
    """The events kept, and the weights that their dual variables make."""

    learn_row = staticmethod(mprank.learn_row)
    predict_row = staticmethod(mprank.predict_row)

    def _layout(self, n_slots: int, n_rows: int) -> Layout:
        return mprank.layout(n_slots, self.budget, n_rows)

    def _keep(self, memory: Memory) -> None:
        super()._keep(memory)
        self.row = memory["row"]
        self.n_slots = self.row.size
        memory["sizes"][duals.SLOTS] = self.n_slots

    def _width(self) -> int:
        return self.n_slots

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""
        if n_features > self.n_slots:
            wanted = n_features if self.events == 0 else max(n_features, self.n_slots * 3 // 2)
            self._keep(self.memory.reshaped(self._layout(wanted, self._rows())))

    def run(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: bool,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""
        if isinstance(rows, DenseBlock):
            dense = rows.rows
        else:
            dense = aligned((rows.end - rows.first, self.n_slots), self.dtype)
            lay_out(rows.starts, rows.slots, rows.values, dense, np.empty(len(dense)))
        groups = self._all_of(predictions, groups)
        mprank.run(self.block, dense, answers, groups, predictions, learning)

    def sweep(self) -> None:
        """Step along the dual variables of all events kept, once each."""
        mprank.sweep(self.block)

    def cost(self) -> float:
        """What is minimised."""
        return float(mprank.cost(self.block))

    def weights(self) -> Array:
        """The weights, slot by slot."""
        return self.memory["weights"]

    def memories(self) -> dict[str, Memory]:
        """All there is to keep, by name."""
        return {"duals": self.memory}
