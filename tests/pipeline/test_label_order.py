"""A file that is sorted by its labels is said to be."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from stream_rank.pipeline.label_order import LabelOrder
from tests.cli.conftest import in_process


def said_of(labels: Sequence[float], portion: int = 7) -> str | None:
    order = LabelOrder()
    for first in range(0, len(labels), portion):
        order.see(np.array(labels[first : first + portion], float))
    return order.said


@pytest.mark.parametrize("portion", [1, 7, 1000])
def test_changes_are_counted_however_the_file_is_cut(portion: int) -> None:
    said = said_of([1] * 200 + [2] * 100 + [5] * 300, portion)
    assert said is not None
    assert "600 ratings change 2 times" in said


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_of_an_order_by_chance_or_of_few_labels(seed: int) -> None:
    coins = np.random.default_rng(seed)
    assert said_of(coins.integers(1, 6, 500).tolist()) is None
    assert said_of(coins.choice([1, 2], 500, p=[0.98, 0.02]).tolist()) is None
    assert said_of(np.sort(coins.integers(1, 3, 90)).tolist()) is None  # too few
    assert said_of(coins.normal(size=3_000).tolist()) is None
    assert said_of(np.sort(coins.integers(1, 6, 500)).tolist()) is not None


@pytest.mark.parametrize("timed", [False, True])
def test_who_replays_a_sorted_file_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], timed: bool
) -> None:
    path = tmp_path / "sorted.csv"
    lines = [f"{i % 7},{1 + i // 100},2024-01-01T00:00:{i % 60:02d}Z" for i in range(300)]
    path.write_text("\n".join(["a,y,ts" if timed else "a,y,when", *lines]) + "\n")
    given = ("--n-ranks", 3, "--learner", "prank", "--max-features", 1000)
    code, _, said = in_process(capsys, "replay", path, "--out", tmp_path / "o", *given)
    assert code == 0, said
    assert ("sorted by its labels" in said) is not timed
