"""PRank's promises: the golden figure of another implementation, the mistake bound, the order of thresholds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets

from stream_rank import OAPBPM, PRank


def test_lightnings_golden_figure() -> None:
    """scikit-learn-contrib's `lightning` reaches this error on the same data in the same order."""
    X, y = datasets.load_diabetes(return_X_y=True)
    y = np.round(y, -2)
    labels = np.unique(y)
    ranks = np.searchsorted(labels, y) + 1
    model = PRank(n_ranks=len(labels))
    for _ in range(10):
        model.learn_many(X, ranks)
    predicted = labels[model.predict_many(X) - 1]
    assert np.mean(np.abs(predicted - y)) == pytest.approx(41.855, abs=0.01)


@st.composite
def separable_streams(draw: st.DrawFn) -> tuple[Any, Any, Any, Any]:
    """Events, their ranks by some rule with a margin, and that rule."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_ranks, n_features = draw(st.integers(2, 6)), draw(st.integers(1, 6))
    weights = generator.normal(size=n_features)
    thresholds = np.sort(generator.normal(size=n_ranks - 1))
    X = generator.normal(size=(draw(st.integers(1, 120)), n_features)) * draw(
        st.sampled_from([0.1, 1.0, 10.0])
    )
    distances = np.abs((X @ weights)[:, None] - thresholds)
    X = X[distances.min(axis=1) > draw(st.sampled_from([0.01, 0.1]))]
    return X, np.searchsorted(thresholds, X @ weights) + 1, weights, thresholds


@settings(max_examples=150)
@given(separable_streams(), st.integers(1, 5))
def test_mistake_bound(stream: tuple[Any, Any, Any, Any], epochs: int) -> None:
    """The steps that predictions are off never add up to more than (k - 1)(R² + 1) / γ²."""
    X, y, weights, thresholds = stream
    if len(X) == 0:
        return
    n_ranks = len(thresholds) + 1
    length = np.sqrt(weights @ weights + thresholds @ thresholds)
    sides = np.where(np.arange(1, n_ranks) < y[:, None], 1, -1)
    margin = (((X @ weights)[:, None] - thresholds) * sides).min() / length
    bound = (n_ranks - 1) * ((X**2).sum(axis=1).max() + 1) / margin**2

    model, off = PRank(n_ranks), 0
    for _ in range(epochs):
        predictions = model.test_then_train(X, y)
        off += int(np.abs(predictions - y).sum())
        assert model.thresholds == sorted(model.thresholds)
    assert off <= bound
    assert off > 0 or (y == n_ranks).all()  # the bound is of something: an untaught rule says k


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(2, 12), st.sampled_from([0.1, 0.5, 1.0]))
def test_thresholds_stay_in_order_on_noise(seed: int, n_ranks: int, sampling: float) -> None:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(200, 3)) * generator.choice([1e-3, 1.0, 1e3])
    y = generator.integers(1, n_ranks + 1, 200)
    model = OAPBPM(n_ranks, 11, sampling, seed=seed)
    model.learn_many(X, y)
    every = model._model.memory["thresholds"][:, 1:n_ranks]
    assert (np.diff(every, axis=1) >= 0).all()
    assert model.thresholds == sorted(model.thresholds)
