"""The baseline of learners of scores: the mean score, or any other constant."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.evaluation.baseline import Answer
from stream_rank.evaluation.board import Board

__all__ = ["ScoreBaseline"]

Array = npt.NDArray[Any]

_HISTORY = "history"


class ScoreBaseline:
    """What the mean score would have lost: twice the variance of the labels, within groups where there are groups.

    The magnitude loss is over pairs, and any constant drops out of a difference. So this is the board of a
    learner that always says 0, and neither a running mean nor the mean of the event's group has less.

    Cost: that of a learner's board.

    >>> baseline = ScoreBaseline(window=100)
    >>> baseline.count(np.array([1.0, 3.0]), np.zeros(2, np.int64), 1)
    >>> baseline.answers()[0].loss
    2.0
    """

    def __init__(self, window: int) -> None:
        self._board = Board(False, None, window)

    def count(self, labels: Array, numbers: Array, n_groups: int) -> None:
        """Count labels; `numbers` are their groups, below `n_groups`."""
        self._board.count(labels, np.zeros(len(labels)), numbers, n_groups)

    def answers(self) -> list[Answer]:
        """The mean."""
        return [Answer("mean", *self._board.loss_sum, self._board.recent_loss)]

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state. How its loss went along the stream nobody asks, and arrays alone could not tell how long its parts are."""
        return {name: each for name, each in self._board.arrays().items() if name != _HISTORY}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from another baseline's state; a `ValueError` if its arrays have other sizes."""
        self._board.restore(self._board.described(), {**arrays, _HISTORY: np.empty(0)})
