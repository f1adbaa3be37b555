"""Centred least squares with a fixed regularization, exact after every event."""

from typing import Any

import numpy.typing as npt

from stream_rank.engine.differences import recursion, recursion_joining
from stream_rank.engine.factors import clear_feature
from stream_rank.engine.memory import Layout, aligned
from stream_rank.learners.models.centred import Centred
from stream_rank.learners.models.part import Part

__all__ = ["Recursion"]

Array = npt.NDArray[Any]


class Recursion(Centred):
    """The weights, and the factors of their covariance."""

    learn_row = staticmethod(recursion.learn_row)
    _run = staticmethod(recursion.run)
    _pairs = staticmethod(recursion.run_pairs)
    predict_row = staticmethod(recursion.predict_row)

    def _layout(self, n_slots: int) -> Layout:
        return recursion.layout(n_slots, self.n_rows)

    def _begin(self, first: int, end: int) -> None:
        recursion.begin_features(self.block, first, end)

    def forget(self, slots: Array) -> None:
        """Be where features in slots had never been other than 0: exactly, but for rounding. Cost: O(d**2) a slot."""
        for slot in slots.tolist():
            recursion.forget_feature(self.block, slot)
            clear_feature(self.memory["triangle"], slot)
            recursion.begin_again(self.block, slot)
        super().forget(slots)

    def _join(self, part: Part) -> None:
        scratch = aligned((part.model.n_slots,), self.dtype)
        recursion_joining.join(self.block, part.model.block, part.places, part.rows, scratch)

    def learn_pair(self, block: Array, magnitude: float, bound: float) -> bool:
        """Learn the pair whose difference is in `row`."""
        return bool(recursion.learn_row(block, magnitude, 0, bound))
