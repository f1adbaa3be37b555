"""The board of one learner's prediction sets: how often the label was among a few neighbouring ranks, and how many those were."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import mean
from stream_rank.engine.scoring.sets import COUNT, COVERED, LEVEL, RECENT, SIZE, SUMS, count_sets
from stream_rank.evaluation.baseline import counted

__all__ = ["COVERAGE", "SetBoard"]

Array = npt.NDArray[Any]

COVERAGE = 0.9
"""The part of the events whose labels are to be within the set."""
_RATE = 0.05
"""How fast the level moves after the first 400 events: coverage is off by 0.01 after 4,000 at worst, on whatever stream."""


class SetBoard:
    """The sets of a learner that gives probabilities, made before each event was learned, as `PredictionSets` makes them.

    That nine labels in ten are covered, the level sees to, whatever the learner is; how good it is says the size. Of labels that
    come late nothing is counted: their probabilities are not kept.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._sums: Array = np.zeros(SUMS)
        self._sums[LEVEL] = COVERAGE
        self._recent: Array = np.zeros((RECENT, 0))

    def count(self, shares: Array, labels: Array) -> None:
        """Count events in the order in which they were predicted; a row of shares that begins with NaN was no prediction."""
        if not self._recent.shape[1]:  # a stream without ratings needs none of this
            self._recent = np.zeros((RECENT, self._window))
        count_sets(shares, labels, COVERAGE, _RATE, self._sums, self._recent)

    @property
    def events(self) -> int:
        """Events whose sets were compared with labels."""
        return int(self._sums[COUNT])

    def _recent_mean(self, row: int) -> float | None:
        seen = min(self.events, self._window)
        return mean(self._recent[row, :seen]) if seen else None

    @property
    def recent_coverage(self) -> float | None:
        """The part of the last events whose labels were within the set."""
        return self._recent_mean(0)

    @property
    def recent_size(self) -> float | None:
        """The number of ranks in the sets of the last events, on average."""
        return self._recent_mean(1)

    def summary(self) -> dict[str, Any]:
        """What is known, by name; nothing before the first event."""
        if not self.events:
            return {}
        return {
            "coverage": float(self._sums[COVERED]) / self.events,
            "recent_coverage": self.recent_coverage,
            "set_size": float(self._sums[SIZE]) / self.events,
            "recent_set_size": self.recent_size,
        }

    # For snapshots --------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state; none before the first event."""
        return {"set_sums": self._sums, "sets": self._recent} if self.events else {}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from another board's state; a `ValueError` if it cannot be one."""
        if "set_sums" not in arrays:
            return
        sums, recent = arrays["set_sums"], arrays["sets"]
        shapes = (SUMS,), (RECENT, self._window)
        if (sums.shape, recent.shape) != shapes or not sums.dtype == recent.dtype == np.float64:
            raise ValueError("the scoreboard's sets have another size")
        if not (counted(sums[COUNT]) and 0 <= sums[COVERED] <= sums[COUNT]):
            raise ValueError("the scoreboard's sets have no counts")
        if not (-1.0 <= sums[LEVEL] <= 2.0):
            raise ValueError("the scoreboard's sets have a level that no events lead to")
        self._sums, self._recent = np.array(sums), np.array(recent)
