"""Prediction sets: as often right as asked for, on any stream, and after a drift."""

import csv
import gzip
import random
from typing import Any

import numpy as np
import pytest

from simulators.ordinal_sets import SETS
from stream_rank import OAPStream, OrdinalLogit, PredictionSets, Scale
from stream_rank.engine.scoring.sets import COVERED, RECENT, count_sets
from tests.conftest import research_data


def test_what_is_missed_is_what_the_level_says() -> None:
    model, missed, level = PredictionSets(OrdinalLogit(5), coverage=0.8, rate=0.1), 0, 0.8
    generator = np.random.default_rng(3)
    for count, (x, y) in enumerate(OAPStream(seed=2).take(400), start=1):
        label = y if count < 200 else int(generator.integers(1, 6))  # later nothing can be known
        found = model.predict_set_one(x)
        assert found == list(range(found[0], found[-1] + 1)) if found else True
        missed += label not in found
        model.learn_one(x, label)
        level += max(0.1, count**-0.5) * ((label not in found) - 0.2)
        assert model.level == pytest.approx(level, abs=1e-9)
        assert -1 <= model.level <= 2
        assert abs(missed - 0.2 * count) <= 2 / max(0.1, count**-0.5)
    assert model.covered == (400 - missed) / 400


def test_a_short_stream_of_which_much_is_known_is_covered_as_often_as_asked() -> None:
    """Labels are all but certain, so that the level has far to go: by steps of the rate in the end, 97 of 100 would be covered."""
    shares, sums = np.tile([0.97, 0.03], (200, 1)), np.array([0.9, 0.0, 0.0, 0.0])
    count_sets(shares, np.ones(200), 0.9, 0.05, sums, np.empty((RECENT, 1)))
    assert sums[COVERED] / 200 == pytest.approx(0.9, abs=0.02)


def test_sets_follow_a_sudden_drift() -> None:
    model, hits = PredictionSets(Scale() | OrdinalLogit(5, forgetting=0.995)), []
    generator = np.random.default_rng(0)
    for turn in range(4_000):
        x = generator.normal(size=3)
        sign = 1 if turn < 2_000 else -1
        y = int(np.clip(np.round(3 + sign * (x[0] - x[1]) + generator.normal() * 0.5), 1, 5))
        event = dict(enumerate(x.tolist()))
        hits.append(y in model.predict_set_one(event))
        model.learn_one(event, y)
    assert np.mean(hits[500:2_000]) == pytest.approx(0.9, abs=0.01)
    assert np.mean(hits[2_000:]) == pytest.approx(0.9, abs=0.01)
    assert np.mean(hits[2_000:2_100]) > 0.6  # the level has opened


@pytest.mark.long(15)
def test_real_sets_are_covered() -> None:
    for name, n_ranks in SETS.items():
        path = research_data(f"ordinal-sets/{name}.csv.gz")
        with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        rows = random.Random(1).sample(rows, min(len(rows), 2_000))
        model: Any = PredictionSets(Scale() | OrdinalLogit(n_ranks))
        for row in rows:
            y = int(float(row.pop("y")))
            model.learn_one({k: _value(v) for k, v in row.items()}, y)
        assert model.covered == pytest.approx(0.9, abs=0.01), name


def _value(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell
