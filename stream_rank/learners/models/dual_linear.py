"""On-line MPRank with weights of features."""

from typing import Any

import numpy.typing as npt

from stream_rank.engine.differences import mprank
from stream_rank.engine.memory import Layout
from stream_rank.learners.models.dual import Dual
from stream_rank.learners.models.row_model import GroupedRowModel

__all__ = ["DualLinear"]

Array = npt.NDArray[Any]


class DualLinear(GroupedRowModel, Dual):
    """The events kept, and the weights that their dual variables make."""

    apart = True
    learn_row = staticmethod(mprank.learn_row)
    _run = staticmethod(mprank.run)
    _pairs = staticmethod(mprank.run_pairs)
    predict_row = staticmethod(mprank.predict_row)

    def __init__(
        self, trade_off: float | None, rate: float | None, budget: int, revisits: int
    ) -> None:
        self.budget, self.scaled = budget, trade_off is None
        super().__init__()
        self._begin(trade_off, rate, revisits)

    def _layout(self, n_slots: int) -> Layout:
        return mprank.layout(n_slots, self.budget, self.n_rows, self.scaled)

    def resume(self) -> None:
        """Check that every event belongs to an existing group."""
        Dual.resume(self)

    def forget(self, slots: Array) -> None:
        """Put the weights of slots back to 0, and take their features out of the events kept."""
        self.memory["weights"][slots] = 0.0
        for name in ("sums", "vectors"):
            self.memory[name][:, slots] = 0.0
        mprank.settle(self.block)

    def sweep(self) -> None:
        """Step along the dual variables of all events kept, once each."""
        mprank.sweep(self.block)

    def costs(self) -> tuple[float, float]:
        """The cost that is minimised, and the dual, a lower bound of it."""
        cost, bound = mprank.costs(self.block)
        return cost, bound
