"""RecursiveMPRank is the batch solution after every event."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank import RecursiveMPRank
from stream_rank.engine import solve
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
        ridge[(ridge > 0) & (ridge < 0.7 / 1000)] = 0.7
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
    assert model.predict_one({}) == pytest.approx(model.bias)


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
    assert model.predict_one(dict.fromkeys(range(20_000), 1.0)) == pytest.approx(model.bias)


def test_no_feature_waits_too_long_when_others_join() -> None:
    model = RecursiveMPRank(forgetting=0.5)
    generator = np.random.default_rng(0)
    for event in range(60):
        n_features = 30 if event < 40 else 300
        model.learn_one(dict(enumerate(generator.normal(size=n_features))), 1.0)
        left = model._model.memory["regularizers"][:n_features]
        assert left.min() >= 1 / 1000


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_features_that_depend_on_each_other(scale: float, C: float) -> None:
    """Seconds and milliseconds, and a day as one of seven: C is solved for, whatever the ridge is worth."""
    generator = np.random.default_rng(0)
    model = RecursiveMPRank(C=C)
    X, y = [], []
    for hour in range(300):
        x = {"s": hour * 3600.0 * scale, "ms": hour * 3.6e6 * scale, f"day{hour // 24 % 7}": 1.0}
        label = 0.01 * hour + hour // 24 % 7 + generator.normal() * 0.01
        X.append(x)
        y.append(label)
        model.learn_one(x, label)
        assert np.isfinite(model.predict_one(x))
        if hour % 50 == 0:
            pickle.loads(pickle.dumps(model))
    assert np.isfinite([*model.weights.values()]).all()
    if C == 1e6:
        predicted = np.array([model.predict_one(x) for x in X])
        assert np.sqrt(((predicted - y) ** 2).mean()) < 0.05


def test_equal_features_share_their_weight() -> None:
    for scale in (1.0, 1e4, 1e8):
        model = RecursiveMPRank(C=1e8)
        for k in range(1, 30):
            model.learn_one({"a": scale * k, "b": scale * k}, float(k))
        weights = model.weights
        assert weights["a"] == pytest.approx(weights["b"], rel=1e-6)
        assert weights["a"] * 2 * scale == pytest.approx(1, rel=1e-6)


def test_asking_in_between_changes_nothing() -> None:
    """Where a feature's products have faded to nothing, its weight is nothing, whoever asked before."""
    asked, silent = (RecursiveMPRank(C=1.0, forgetting=0.5) for _ in range(2))
    for event in range(1300):
        x = {"a": float(event % 7), **({"gone": float(event % 3)} if event < 20 else {})}
        for model in (asked, silent):
            model.learn_one(x, x["a"] + x.get("gone", 0.0))
        if event in (20, 700):
            assert len(asked.weights) == 2
    assert asked.weights == silent.weights


def test_learning_many_does_not_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rated(50, 4)
    model, one = RecursiveMPRank(C=1.0), RecursiveMPRank(C=1.0)
    solved: list[int] = []
    plain = solve.solve_ridge

    def counting(matrix: Any, *others: Any) -> Any:
        solved.append(len(matrix))
        return plain(matrix, *others)

    monkeypatch.setattr(solve, "solve_ridge", counting)
    model.learn_many(X, y)
    assert not solved
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        one.learn_one(x, label)
    assert one.weights == model.weights
    assert len(solved) == 2


@pytest.mark.parametrize("C", [None, 5.0])
def test_the_constant_holds_after_pairs(C: float | None) -> None:
    X, y = rated(60, 4)
    model = RecursiveMPRank(C=C)
    model.learn_many(X, y)
    for first, second in zip(X[::2], X[1::2], strict=True):
        model.learn_pair(dict(enumerate(first)), dict(enumerate(second)), 3.0)
    assert model.predict_many(X).mean() == pytest.approx(y.mean())


def test_large_pairs_are_borne() -> None:
    model = RecursiveMPRank(regularization=1e-12)
    model.learn_pair({"a": 1e13}, {"a": 0.0}, 1e13)
    assert model.weights["a"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "parameters",
    [
        *({"regularization": 0.0}, {"regularization": 1e13}, {"forgetting": 0.4}),
        *({"forgetting": 1.1}, {"C": 0.0}, {"C": float("nan")}, {"max_groups": 0}),
    ],
    ids=str,
)
def test_parameters_out_of_range(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        RecursiveMPRank(**parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_features", [2, 60, 101])
def test_what_is_seen_in_a_small_difference_of_large_columns(n_features: int) -> None:
    """With C, too: other features must not hide it."""
    generator = np.random.default_rng(0)
    X, z = generator.normal(size=(1000, 100)), generator.normal(size=1000)
    X = 1e4 * np.column_stack([X[:, 0], X[:, 0] + 3e-6 * z, X[:, 1:]])[:, :n_features]
    model = RecursiveMPRank(C=1e12)
    model.learn_many(X, z)
    assert np.std(model.predict_many(X) - z) < 1e-3


@pytest.mark.parametrize("C", [1.0, 1e8, 1e12])
def test_features_that_are_equal_have_equal_weights_to_the_bit(C: float) -> None:
    """And others the same as if they were there once, with as much of the ridge."""
    X, y = rated(200, 5)
    model = RecursiveMPRank(C=C)
    model.learn_many(np.column_stack([X, X[:, :2], X[:, 1]]), y)
    weights = named(model.weights, 8)
    assert weights[5] == weights[0]
    assert weights[6] == weights[7] == weights[1]
    rows, labels = X - X.mean(0), y - y.mean()
    times = np.array([2, 3, 1, 1, 1])
    matrix = rows.T @ rows + np.diag(200 / (2 * C) / times)
    together = weights[:5] * times
    assert together == pytest.approx(np.linalg.solve(matrix, rows.T @ labels), rel=1e-8)
