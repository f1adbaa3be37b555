"""Widrow-Hoff against its update written out, and under features that are not scaled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import datasets, metrics

from stream_rank import WidrowHoff
from tests.learners.conftest import events


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("rate", [0.01, 0.1, 5.0])
def test_the_update_is_the_papers_with_a_capped_rate(rate: float, intercept: bool) -> None:
    X, y = events(200)
    model = WidrowHoff(learning_rate=rate, intercept=intercept)
    w, b = np.zeros(6), 0.0
    for row, label in zip(X, y, strict=True):
        score = w @ row + b
        assert model.predict_one(dict(enumerate(row))) == pytest.approx(score)
        step = min(rate, 1 / (row @ row + intercept)) * (label - score)
        w, b = w + step * row, b + step * intercept
        model.learn_one(dict(enumerate(row)), label)
    assert list(model.weights.values()) == pytest.approx(w)
    assert model.bias == pytest.approx(b)


@given(st.floats(-8, 100), st.integers(0, 100))
def test_no_scale_blows_it_up(power: float, seed: int) -> None:
    """The error after a step on its own event never exceeds the error before."""
    X, y = events(60, seed=seed)
    X = X * 10.0**power
    model = WidrowHoff(learning_rate=0.1)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        before = abs(model.predict_one(x) - label)
        model.learn_one(x, label)
        assert abs(model.predict_one(x) - label) <= before * (1 + 1e-9) + 1e-9


def test_unscaled_real_data() -> None:
    """One of its features counts days: 736,389 and up."""
    model, error = WidrowHoff(intercept=True), metrics.MAE()
    for x, y in datasets.TrumpApproval():
        error.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert error.get() < 2


def test_ranks_are_the_nearest() -> None:
    model = WidrowHoff(n_ranks=5, learning_rate=1.0)
    model.learn_one({"a": 1.0}, 1)
    scale = [-3.0, 0.4, 1.49, 1.5, 2.4, 4.5, 99.0]
    assert [model.predict_one({"a": a}) for a in scale] == [1, 1, 1, 2, 2, 5, 5]
    renamed = WidrowHoff(n_ranks=5, learning_rate=1.0)
    renamed.learn_one({0: 1.0}, 1)
    assert renamed.predict_many(np.array([scale]).T).tolist() == [1, 1, 1, 2, 2, 5, 5]
    assert model.thresholds == [1.5, 2.5, 3.5, 4.5]
    assert model.utility_one({"a": 99.0}) == 99.0
