"""The drift test, with River's as the oracle."""

from typing import Any

import numpy as np
import pytest
from river import drift

from stream_rank.evaluation.drift import DriftDetector
from stream_rank.evaluation.page_hinkley import PageHinkley


def known_to(oracle: Any) -> list[Any]:
    mean = oracle._x_mean
    sums = (oracle._sum_increase, oracle._sum_decrease, oracle._min_increase, oracle._max_decrease)
    return [mean.n, mean._mean, *sums, oracle.drift_detected]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_rivers_to_the_bit(seed: int) -> None:
    generator = np.random.default_rng(seed)
    level = np.repeat(generator.uniform(0.1, 3.0, 40), 100)
    numbers = np.abs(level + generator.normal(0, 0.2, len(level))).tolist()
    oracle: Any = drift.PageHinkley(min_instances=15, alpha=1.0, mode="up")
    test, alarms = PageHinkley(), 0
    for x in numbers:
        oracle.delta, oracle.threshold = 0.05 * x, 3.0 + x
        oracle.update(x)
        if test.detected:
            test = PageHinkley()
        alarms += test.update(x, slack=0.05 * x, threshold=3.0 + x, first=15)
        assert [*vars(test).values()] == known_to(oracle)
    assert alarms > 3


def test_the_detector_goes_on_from_its_state_at_any_place() -> None:
    generator = np.random.default_rng(1)
    means = np.concatenate([generator.uniform(0.9, 1.1, 40), generator.uniform(2, 2.2, 60)])
    means = np.repeat(means, 10)  # which are tested together
    whole, parts, alarms = DriftDetector(), DriftDetector(), []
    for block in [*means.tolist(), *10 * [float("inf")], *means.tolist()]:
        found = whole.update(block)
        alarms.append(found)
        assert parts.update(block) == found
        assert parts.state == whole.state
        assert list(whole.state) == [
            *(
                "blocks",
                "mean",
                "together",
                "sum",
                "tested",
                "expected",
                "rise",
                "fall",
                "lowest",
                "highest",
            ),
            "detected",
        ]
        again = DriftDetector()
        again.state = whole.state
        parts = again
    assert alarms.index(True) in range(409, 460)
    assert DriftDetector().state["lowest"] is None
