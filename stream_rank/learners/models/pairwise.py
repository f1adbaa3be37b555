"""Weights that learn from pairs, and the events that pairs are made with."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.differences import pairwise
from stream_rank.engine.differences.pairwise import BELOW, BOTH, MAGNITUDE, MISRANKED, ONE, ZERO
from stream_rank.engine.memory import Layout, Memory
from stream_rank.errors import MergeError
from stream_rank.learners.models.part import Part
from stream_rank.learners.models.row_model import GroupedRowModel

__all__ = ["LOSSES", "Loss", "Pairwise"]

Array = npt.NDArray[Any]


class Loss(NamedTuple):
    """A loss of a pair: what is aimed at, where there is a loss, its power, and how it is widened."""

    target: int
    side: int
    power: int
    relative: bool = False
    margin: bool = False


LOSSES = {
    "hinge": Loss(ONE, BELOW, 1),
    "hr-1": Loss(ZERO, BELOW, 1),
    "hr-2": Loss(ZERO, BELOW, 2),
    "mp-1": Loss(MAGNITUDE, BOTH, 1),
    "mp-2": Loss(MAGNITUDE, BOTH, 2),
    "hmp-1": Loss(MAGNITUDE, MISRANKED, 1),
    "hmp-2": Loss(MAGNITUDE, MISRANKED, 2),
    "svr-1": Loss(MAGNITUDE, BOTH, 1, margin=True),
    "svr-2": Loss(MAGNITUDE, BOTH, 2, margin=True),
    "rls-unit": Loss(ONE, BOTH, 2),
    "rls-magnitude": Loss(MAGNITUDE, BOTH, 2),
    "rls-relative": Loss(MAGNITUDE, BOTH, 2, relative=True),
}


_LONG, _SHORT = 0.5, 0.1
"""Rates in units of the pairs that come, where the rule is a mean, and where it is the last weights. *Measured*: with the
mean, 0.3 and 1 differ by a few hundredths of the disagreement at most, by a tenth on short one-hot streams; the last weights
want 0.1 or less, and mostly lose to the mean even so."""


class Pairwise(GroupedRowModel):
    """Weights over features, and the last `window` events."""

    bound = 1e50
    """The weights times a difference, squared, stay finite."""
    learn_row = staticmethod(pairwise.learn_row)
    _run = staticmethod(pairwise.run)
    _pairs = staticmethod(pairwise.run_pairs)
    predict_row = staticmethod(pairwise.predict_row)
    learn_pair = staticmethod(pairwise.learn_pair)

    def __init__(
        self,
        loss: Loss,
        learning_rate: float | None,
        averaging: bool,
        regularization: float,
        epsilon: float,
        window: int,
        pairs: int,
        key: int,
    ) -> None:
        self.window = window
        super().__init__()
        sizes = self.memory["sizes"]
        sizes[pairwise.WINDOW], sizes[pairwise.PAIRS] = window, pairs
        sizes[pairwise.KEY] = np.uint64(key).astype(np.int64)
        sizes[pairwise.TARGET : pairwise.RELATIVE + 1] = loss[:4]
        margin = epsilon if loss.margin else 0.0
        sizes[pairwise.SCALED], sizes[pairwise.AVERAGING] = learning_rate is None, averaging
        rate = (_LONG if averaging else _SHORT) if learning_rate is None else learning_rate
        parameters = self.memory["parameters"]
        parameters[: pairwise.LABEL_SUM] = rate, regularization, margin
        measuring = learning_rate is None and loss.target == MAGNITUDE
        unknown = measuring and (loss.power == 1 or loss.relative)  # until a magnitude has come
        parameters[pairwise.UNIT] = pairwise.FASTEST if unknown else 1.0
        parameters[pairwise.PACE] = pairwise.FASTEST if learning_rate is None else rate

    def _layout(self, n_slots: int) -> Layout:
        return pairwise.layout(n_slots, self.window)

    def make_groups(self, n_rows: int) -> bool:
        """Groups need no room: the group is stored with every event kept."""
        return False

    def forget(self, slots: Array) -> None:
        """Put the weights of slots back to 0, and take their features out of the events kept."""
        for name in ("weights", "average", "sums"):
            self.memory[name][slots] = 0.0
        self.memory["vectors"][:, slots] = 0.0
        pairwise.settle(self.block)

    @property
    def constant(self) -> float:
        """What is added to the weighted features."""
        return float(self.memory["parameters"][pairwise.BIAS])

    def weights(self) -> Array:
        """The weights that predict, slot by slot."""
        averaging = self.memory["sizes"][pairwise.AVERAGING]
        return self.memory["average" if averaging else "weights"]

    def merge(self, parts: Sequence[Part]) -> None:
        """Refuse: it learns on with the last events."""
        raise MergeError(
            "it makes its pairs with the last events of its own stream, and several have no last events in common"
        )

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"pairwise": self.memory}
