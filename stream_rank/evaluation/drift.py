"""Whether the loss grows: River's Page-Hinkley test over the mean losses of blocks."""

from typing import Any

from river.drift import PageHinkley

__all__ = ["BLOCK", "DriftDetector"]

BLOCK = 500
"""Losses are averaged over so many predictions before they are tested: a test an event would cost more than learning."""

_SLACK, _THRESHOLD = 0.05, 3.0
"""In multiples of the loss so far. The mean of a block lies some 0.1 around it, so that chance alone
passes the threshold less than once in 10**9 blocks, and a loss that doubles does so after some three blocks."""

_LARGEST = 1e100
"""Sums of such losses stay finite."""
_FIRST = 15
"""Blocks before the first test: until then a learner learns."""


class DriftDetector:
    """Tests block means against slack and threshold in their own scale: the mean since the last drift."""

    def __init__(self) -> None:
        self._test: Any = PageHinkley(min_instances=_FIRST, alpha=1.0, mode="up")
        self._blocks, self._mean = 0, 0.0

    def update(self, block_mean: float) -> bool:
        """Test one block; whether the loss has grown. Of a learner that has diverged there is nothing to test."""
        if not block_mean < _LARGEST:
            return False
        self._blocks += 1
        self._mean += (block_mean - self._mean) / self._blocks
        self._test.delta, self._test.threshold = _SLACK * self._mean, _THRESHOLD * self._mean
        self._test.update(block_mean)
        if self._test.drift_detected:
            self._blocks, self._mean = 0, 0.0
        return bool(self._test.drift_detected)

    @property
    def state(self) -> dict[str, Any]:
        """What it knows, as JSON has it."""
        test = self._test
        return {
            "blocks": self._blocks,
            "mean": self._mean,
            "tested": test._x_mean.n,
            "expected": test._x_mean._mean,
            "rise": test._sum_increase,
            "fall": test._sum_decrease,
            "lowest": test._min_increase if test._x_mean.n else None,
            "highest": test._max_decrease,
            "detected": bool(test._drift_detected),
        }

    @state.setter
    def state(self, known: dict[str, Any]) -> None:
        test = self._test
        self._blocks, self._mean = known["blocks"], known["mean"]
        test._x_mean.n, test._x_mean._mean = known["tested"], known["expected"]
        test._sum_increase, test._sum_decrease = known["rise"], known["fall"]
        test._min_increase = float("inf") if known["lowest"] is None else known["lowest"]
        test._max_decrease = known["highest"]
        test._drift_detected = known["detected"]
