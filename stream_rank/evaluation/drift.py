"""Whether the loss grows: a Page-Hinkley test over the mean losses of blocks."""

from math import inf
from typing import Any

from stream_rank.evaluation.page_hinkley import PageHinkley

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
        self._test = PageHinkley()
        self._blocks, self._mean = 0, 0.0

    def update(self, block_mean: float) -> bool:
        """Test one block; whether the loss has grown. Of a learner that has diverged there is nothing to test."""
        if not block_mean < _LARGEST:
            return False
        self._blocks += 1
        self._mean += (block_mean - self._mean) / self._blocks
        if self._test.detected:
            self._test = PageHinkley()
        grown = self._test.update(
            block_mean, _SLACK * self._mean, _THRESHOLD * self._mean, first=_FIRST
        )
        if grown:
            self._blocks, self._mean = 0, 0.0
        return grown

    @property
    def state(self) -> dict[str, Any]:
        """What it knows, as JSON has it."""
        test = self._test
        return {
            "blocks": self._blocks,
            "mean": self._mean,
            "tested": test.tested,
            "expected": test.expected,
            "rise": test.rise,
            "fall": test.fall,
            "lowest": test.lowest if test.tested else None,
            "highest": test.highest,
            "detected": test.detected,
        }

    @state.setter
    def state(self, known: dict[str, Any]) -> None:
        self._blocks, self._mean = known["blocks"], known["mean"]
        self._test = PageHinkley(
            tested=known["tested"],
            expected=known["expected"],
            rise=known["rise"],
            fall=known["fall"],
            lowest=inf if known["lowest"] is None else known["lowest"],
            highest=known["highest"],
            detected=known["detected"],
        )
