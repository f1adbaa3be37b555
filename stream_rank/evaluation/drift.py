"""Drift detection: a Page-Hinkley test of whether the mean loss of blocks has grown."""

from math import inf
from typing import Any

from stream_rank.evaluation.page_hinkley import PageHinkley
from stream_rank.learners.base.serialization import count_in

__all__ = ["BLOCK", "DriftDetector"]

BLOCK = 50
"""Losses are averaged over so many predictions before they are looked at: that per event would cost more than learning."""

_BLOCKS = 10
"""Blocks that are tested together."""

_SLACK, _THRESHOLD = 0.05, 3.0
"""In multiples of the mean loss so far. The mean of 500 predictions deviates from it by about 0.1, so chance alone
exceeds the threshold less than once in 10**9 tests, and a loss that doubles exceeds it after about three tests."""

_LARGEST = 1e100
"""Larger means are not tested, so that sums stay finite."""
_FIRST = 15
"""The number of the first test: before it the loss of a new learner still falls."""


class DriftDetector:
    """Tests block means; slack and threshold are relative to the mean since the last drift."""

    def __init__(self) -> None:
        self._test = PageHinkley()
        self._blocks, self._mean = 0, 0.0
        self._together, self._sum = 0, 0.0

    def update(self, block_mean: float) -> bool:
        """Test ten blocks once they are there; return whether the loss has grown. The loss of a diverged learner is not tested."""
        self._sum += (
            block_mean if block_mean < _LARGEST else _BLOCKS * _LARGEST
        )  # also if it is NaN
        self._together += 1
        if self._together < _BLOCKS:
            return False
        block_mean = self._sum / _BLOCKS
        self._together, self._sum = 0, 0.0
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
        """Its state, as JSON has it."""
        test = self._test
        return {
            "blocks": self._blocks,
            "mean": self._mean,
            "together": self._together,
            "sum": self._sum,
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
        self._blocks, self._mean = count_in(known, "blocks"), float(known["mean"])
        self._together, self._sum = count_in(known, "together"), float(known["sum"])
        self._test = PageHinkley(
            tested=float(known["tested"]),
            expected=float(known["expected"]),
            rise=float(known["rise"]),
            fall=float(known["fall"]),
            lowest=inf if known["lowest"] is None else float(known["lowest"]),
            highest=float(known["highest"]),
            detected=bool(known["detected"]),
        )
