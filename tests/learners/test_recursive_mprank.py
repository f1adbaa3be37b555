"""RecursiveMPRank is the batch solution after every event."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank import RecursiveMPRank
from tests.learners import oracle
from tests.learners.conftest import dicts


def rated(n_events: int, n_features: int, seed: int = 0) -> tuple[Any, Any]:
    """Features off zero and of several scales, and labels with noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_events, n_features)) * np.geomspace(0.1, 10, n_features) + 5
    return X, X @ generator.normal(size=n_features) + generator.normal(size=n_events)


def named(weights: dict[Any, float], n_features: int) -> Any:
    return np.array([weights.get(name, 0.0) for name in range(n_features)])


@pytest.mark.parametrize("C", [None, 3.0])
@pytest.mark.parametrize("n_features", [1, 5, 8, 23])
def test_every_prefix(n_features: int, C: float | None) -> None:
    """With groups, preferences, and a feature that comes late."""
    n_events, late = 150, 60
    X, y = rated(n_events, n_features + 1)
    X[:late, n_features] = 0.0
    generator = np.random.default_rng(1)
    groups = generator.integers(0, 4, n_events).tolist()
    model, pairs = RecursiveMPRank(regularization=0.7, C=C), []
    for i, x in enumerate(dicts(X)):
        if i < late:
            del x[n_features]
        model.learn_one(x, y[i], group=groups[i])
        if i % 5 == 3:
            better, worse = generator.normal(size=(2, n_features + 1))
            better[n_features] = worse[n_features] = 0.0
            model.learn_pair(dict(enumerate(better)), dict(enumerate(worse)), 1.5)
            pairs.append((better - worse, 1.5))
        ridge = 0.7 if C is None else (i + 1 + len(pairs)) / (2 * C)
        expected = oracle.recursive_weights(X[: i + 1], y[: i + 1], groups[: i + 1], pairs, ridge)
        assert named(model.weights, n_features + 1) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("C", [None, 3.0])
@pytest.mark.parametrize("forgetting", [0.99, 0.9, 0.5])
def test_every_prefix_with_forgetting(forgetting: float, C: float | None) -> None:
    """Weights fade with age; what a feature's regularization lost comes back in turn."""
    n_events, n_features = 120, 6
    X, y = rated(n_events, n_features)
    X[:40, 4:] = 0.0
    groups = np.random.default_rng(2).integers(0, 3, n_events).tolist()
    model = RecursiveMPRank(regularization=0.7, forgetting=forgetting, C=C)
    turns = np.log(1 / forgetting) / np.log(1000)
    ridge, following = np.zeros(n_features), 0
    for i, x in enumerate(dicts(X)):
        model.learn_one(x, y[i], group=groups[i])
        age = forgetting ** np.arange(i, -1, -1)
        ridge = np.where(ridge > 0, ridge * forgetting, 0.7 * (X[i] != 0))
        for _ in range(int(np.ceil(np.count_nonzero(ridge) * turns))):
            following %= n_features
            while not ridge[following]:
                following = (following + 1) % n_features
            ridge[following] = 0.7
            following += 1
        matrix = np.diag(np.where(ridge > 0, ridge, 0.7))
        if C is not None:
            matrix = np.eye(n_features) * age.sum() / (2 * C)
        right = np.zeros(n_features)
        for group in range(3):
            chosen = np.array(groups[: i + 1]) == group
            if chosen.any():
                weight = age[chosen]
                rows = X[: i + 1][chosen] - np.average(X[: i + 1][chosen], 0, weight)
                labels = y[: i + 1][chosen] - np.average(y[: i + 1][chosen], 0, weight)
                matrix = matrix + rows.T @ (rows * weight[:, None])
                right = right + rows.T @ (labels * weight)
        assert named(model.weights, n_features) == pytest.approx(
            np.linalg.solve(matrix, right), rel=1e-8, abs=1e-8
        )


def test_nothing_grows_without_events() -> None:
    """A feature that stays away for long, and one that never varies, keep finite weights."""
    model = RecursiveMPRank(regularization=0.01, forgetting=0.9)
    generator = np.random.default_rng(0)
    for i in range(20_000):
        x = {"a": generator.normal(), "same": 3.0}
        if i < 50:
            x["gone"] = generator.normal()
        model.learn_one(x, 2 * x["a"])
    covariance = model._model.memory["diagonal"]
    assert covariance[:3].max() <= 1000 / model.regularization * 1.001
    assert model.weights["a"] == pytest.approx(2, abs=0.2)
    assert abs(model.weights["gone"]) < 0.1


@pytest.mark.parametrize("scale", [1e-20, 1e-6, 1e6, 1e12, 1e24])
def test_far_scales_stay_finite(scale: float) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 12)) * np.where(np.arange(12) % 2, scale, 1.0)
    model = RecursiveMPRank(regularization=1e-12)
    model.learn_many(X, generator.normal(size=400) * min(scale, 1e24))
    weights = named(model.weights, 12)
    assert np.isfinite(weights).all()
    assert (model._model.memory["diagonal"][:12] > 0).all()


def test_an_offset_costs_no_digits() -> None:
    """Time stamps, say: 1.7e9 and some seconds."""
    X, y = rated(200, 4)
    plain, moved = RecursiveMPRank(), RecursiveMPRank()
    for x, label in zip(dicts(X), y, strict=True):
        plain.learn_one(x, label)
        moved.learn_one({**x, 2: x[2] + 1.7e9}, label)
    assert named(moved.weights, 4) == pytest.approx(named(plain.weights, 4), rel=1e-6)


def test_predictions_of_one_group_have_the_mean_label() -> None:
    X, y = rated(80, 5)
    model = RecursiveMPRank()
    model.learn_many(X, y)
    assert model.predict_many(X).mean() == pytest.approx(y.mean())
    assert model.predict_one({}) == model.bias


@settings(max_examples=30)
@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60), st.integers(1, 4))
def test_a_group_that_lost_its_row_begins_anew(names: list[str], most: int) -> None:
    """As if it had another name from then on."""
    X, y = rated(len(names), 3)
    row: dict[str, int] = {}
    seen: list[str] = []
    renamed = []
    for number, name in enumerate(names):
        if name not in seen:
            row[name] = number
            if len(seen) == most:
                seen.pop(0)
        else:
            seen.remove(name)
        seen.append(name)
        renamed.append((name, row[name]))
    model = RecursiveMPRank(max_groups=most)
    model.learn_many(X, y, group=names)
    expected = oracle.recursive_weights(X, y, renamed, [], 1.0)
    assert named(model.weights, 3) == pytest.approx(expected, abs=1e-8)


def test_a_refused_event_of_a_new_group_changes_nothing() -> None:
    model = RecursiveMPRank(max_groups=2)
    for number, group in enumerate("ab"):
        model.learn_one({"a": number}, 1.0, group=group)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="feature 'a' is nan"):
        model.learn_one({"a": float("nan")}, 1.0, group="c")
    with pytest.raises(ValueError, match="label 'x'"):
        model.learn_one({"a": 1.0}, "x", group="c")  # type: ignore[arg-type]
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("C", [None, 1.0])
def test_too_many_features_are_refused_before_they_take_memory(C: float | None) -> None:
    model = RecursiveMPRank(C=C)
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    for call in (
        lambda: model.learn_one(dict.fromkeys(range(10_001), 1.0), 1.0),
        lambda: model.learn_many(np.ones((2, 10_001)), [1.0, 2.0]),
        lambda: model.learn_pair(dict.fromkeys(range(10_001), 1.0), {}),
    ):
        with pytest.raises(ValueError, match="takes at most 10000 features"):
            call()
        assert pickle.dumps(model) == before
    assert model.predict_one(dict.fromkeys(range(20_000), 1.0)) == model.bias
