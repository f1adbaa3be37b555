"""Input that once got in, or got at the learner's state."""

import copy
import pickle
from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from stream_rank import (
    OAPBPM,
    AveragedPRank,
    FeatureError,
    Gaussian,
    LabelError,
    OAPBagg,
    Polynomial,
    PRank,
    WidrowHoff,
)
from tests.learners.conftest import RANK_LEARNERS, Make, dicts, events

KERNELS = [Polynomial(3), Gaussian(1e3)]


@pytest.mark.parametrize("kernel", KERNELS, ids=["polynomial", "gaussian"])
def test_a_refused_event_of_many_new_features_leaves_a_kernel_learner_whole(kernel: Any) -> None:
    """Much wider than what is known, with a square that no kernel of single precision bears."""
    model: Any = PRank(5, kernel=kernel, dtype="float32", budget=8)
    model.learn_one({0: 0.5}, 1)
    before, utility = pickle.dumps(model), model.utility_one({0: 0.25})
    wide = dict.fromkeys(range(300), 7000.0)
    for call in (model.predict_one, model.utility_one, lambda x: model.learn_one(x, 2)):
        with pytest.raises(FeatureError, match=r"sum of squares|at most"):
            call(wide)
        assert pickle.dumps(model) == before
        assert model.utility_one({0: 0.25}) == utility
    with pytest.raises(FeatureError):
        model.predict_many(np.full((2, 300), 7000.0))
    pickle.loads(before).learn_one({0: 1.0}, 2)


def test_predicting_grows_nothing() -> None:
    model: Any = OAPBagg(5, n_members=9, seed=1, kernel=Gaussian(1.0), budget=50)
    model.learn_many(*events(100))
    before = pickle.dumps(model)
    model.predict_one({f"new{i}": 1.0 for i in range(5000)})
    model.predict_many(sparse.random(20, 100_000, 0.001, random_state=1).tocsr())
    model.predict_proba_one({"other": 1.0})
    assert pickle.dumps(model) == before


def test_what_a_kernel_bears_does_not_depend_on_the_split() -> None:
    X = np.ones((2, 17))
    X[1, 0] = 7000.0
    whole, parts = (PRank(5, kernel=Gaussian(1e4), dtype="float32") for _ in range(2))
    whole.learn_many(X, [1, 2])
    parts.learn_many(X[:1], [1])
    parts.learn_many(X[1:], [2])
    assert whole.support == parts.support


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["3", "4"]),
        pl.Series(["3", "4"]),
        pd.Series(pd.to_datetime(["2024-01-01", None])),
        pl.Series(["2024-01-01", "2024-01-02"]).str.to_date(),
        pd.Series([1.0, None], dtype="Float64"),
        pl.Series([1.0, None]),
        pd.Series(["a", "b"], dtype="category"),
        np.array(["3", "4"]),
        np.array([3 + 5j, 1j]),
        np.array([b"1", b"2"]),
        np.array(["2024-01-01", "NaT"], "datetime64[s]"),
        np.ma.masked_array([1.0, 2.0], [False, True]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}-{column.dtype}",
)
def test_columns_of_no_numbers_are_refused(column: Any, learner: Make) -> None:
    model = learner(5)
    before = pickle.dumps(model)
    if isinstance(column, pl.Series):
        table: Any = pl.DataFrame({"a": column})
    elif isinstance(column, pd.Series):
        table = pd.DataFrame({"a": column})
    else:
        table = column[:, None]
    for call in (lambda: model.learn_many(table, [1, 2]), lambda: model.predict_many(table)):
        with pytest.raises(FeatureError):
            call()
    assert pickle.dumps(model) == before


def test_complex_sparse_matrices_are_refused(learner: Make) -> None:
    with pytest.raises(FeatureError, match="real numbers"):
        learner(5).learn_many(sparse.csr_matrix(np.array([[1j]])), [1])


def test_numbers_of_many_kinds_are_numbers(learner: Make) -> None:
    plain, other = learner(5), learner(5)
    X = np.array([[1.0, 2.0, 0.5], [0.0, 3.0, 0.25]])
    kinds = np.array([[True, 2, Fraction(1, 2)], [False, np.int8(3), np.float32(0.25)]], object)
    assert (
        plain.test_then_train(X, [1, 3]).tolist() == other.test_then_train(kinds, [1, 3]).tolist()
    )
    for row, label in zip(kinds, (2, 5), strict=True):
        other.learn_one(dict(enumerate(row)), label)


@pytest.mark.parametrize("x", ["great movie", [1.0, 2.0], None, 3, np.ones(2)], ids=repr)
def test_an_event_is_a_dict(x: Any, learner: Make) -> None:
    model = learner(5)
    for call in (
        lambda: model.learn_one(x, 3),
        lambda: model.predict_one(x),
        lambda: model.learn_pair(x, {"a": 1.0}),
        lambda: model.learn_pair({"a": 1.0}, x),
    ):
        with pytest.raises(FeatureError, match="an event is a dict of features by name"):
            call()


def test_single_precision_refuses_the_same_in_one_and_many() -> None:
    for value in (1e9, 1e9 + 20, 1e9 + 31, 1e9 + 64, 2e9):
        outcomes = []
        for act in ("one", "many"):
            model = PRank(5, dtype="float32")
            model.learn_one({0: 1.0}, 1)
            try:
                if act == "one":
                    model.learn_one({0: value}, 2)
                else:
                    model.learn_many(np.array([[value]]), [2])
                outcomes.append(model.weights)
            except FeatureError:
                outcomes.append({})
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "y",
    [
        pd.DataFrame({"y": [1, 2]}),
        np.ones((2, 1)),
        3,
        "ab",
        np.ma.masked_array([1, 2], [False, True]),
    ],
    ids=lambda y: type(y).__name__,
)
@pytest.mark.parametrize("n_ranks", [None, 5])
def test_labels_are_one_column(y: Any, n_ranks: int | None, rank_learner: Make) -> None:
    model = rank_learner(n_ranks)
    before = pickle.dumps(model)
    with pytest.raises(LabelError, match="labels must be"):
        model.learn_many(np.ones((2, 1)), y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("container", [deque, lambda y: dict.fromkeys(y).keys(), iter])
def test_labels_in_containers_without_slices(container: Any, rank_learner: Make) -> None:
    X, _ = events(3)
    plain, other = rank_learner(), rank_learner()
    plain.learn_many(X, ["a", "c", "b"])
    other.learn_many(X, container(["a", "c", "b"]))
    assert other.labels == plain.labels == ["a", "b", "c"]
    assert other.thresholds == plain.thresholds


def test_durations_are_labels_too(rank_learner: Make) -> None:
    model = rank_learner()
    times = np.array([5, 6, 5, 4], "m8[s]")
    model.learn_many(events(4)[0], times)
    assert model.labels == sorted(set(times))
    assert model.predict_one({0: 1.0}) in model.labels


def test_labels_are_given_back_as_they_came(rank_learner: Make) -> None:
    for labels in ([0.5, 2**53 + 1], ["a\x00", "b"], [1, 2.5, 3]):
        model = rank_learner()
        X, _ = events(30)
        model.learn_many(X, labels * (30 // len(labels)))
        many = model.predict_many(X).tolist()
        assert many == [model.predict_one(x) for x in dicts(X)]
        assert {*many} <= {*labels}


def test_the_first_label_must_have_an_order_too(rank_learner: Make) -> None:
    with pytest.raises(LabelError, match="has no order"):
        rank_learner().learn_one({"a": 1.0}, 1j)


@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), 5 + 2**64])
def test_seeds_of_any_whole_kind(seed: Any) -> None:
    X, y = events(50)
    first, second = OAPBPM(5, seed=5), OAPBPM(5, seed=seed)
    assert (first.test_then_train(X, y) == second.test_then_train(X, y)).all()
    with pytest.raises(ValueError, match="seed must be None or a whole number"):
        OAPBPM(5, seed=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("scale", [1e-160, 1e-25, 1e-15, 1e-6, 1.0, 1e8])
def test_widrow_hoff_stays_finite_at_every_scale(dtype: str, scale: float) -> None:
    model = WidrowHoff(learning_rate=1e12, dtype=dtype)
    for label in (1e9, -1e9) * 200:
        model.learn_one({"a": scale, "b": -scale}, label)
    assert np.isfinite(list(model.weights.values())).all()


def test_copies_share_no_memory(learner: Make) -> None:
    model = learner(5)
    model.learn_many(*events(50))
    before = pickle.dumps(model)
    for twin in (copy.copy(model), copy.deepcopy(model)):
        twin.learn_one({"new": 1.0, 0: 2.0}, 3)
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", [*RANK_LEARNERS])
def test_utilities_and_opinions_of_many_are_those_of_one(name: str) -> None:
    model = RANK_LEARNERS[name](5)
    X, y = events(80)
    model.learn_many(X, y)
    assert model.utility_many(X).tolist() == [model.utility_one(x) for x in dicts(X)]
    proba = [list(model.predict_proba_one(x).values()) for x in dicts(X)]
    assert model.predict_proba_many(X).tolist() == proba


def test_averaged_prank_speaks_for_its_average() -> None:
    """Its probabilities must not be those of the perceptron that it averages."""
    model = AveragedPRank(5)
    X, y = events(300)
    model.learn_many(X, y)
    for x in dicts(X):
        assert model.predict_proba_one(x)[model.predict_one(x)] == 1.0


def test_pairs_reach_the_average_of_all_rounds() -> None:
    """Against the plain sum of the weights after every round."""
    model, weights, sums = AveragedPRank(3), np.zeros(4), np.zeros(4)
    X = np.round(np.random.default_rng(3).normal(size=(60, 2, 4)) * 4) / 4
    for first, second in X:
        model.learn_pair(dict(enumerate(first.tolist())), dict(enumerate(second.tolist())), 0.5)
        if (first - second) @ weights <= 0:
            weights = weights + 0.5 * (first - second)
        sums += weights
    assert list(model.weights.values()) == pytest.approx(sums / 60)


def test_pairs_and_dropped_vectors_reach_the_mean_of_kernel_members() -> None:
    """The averaged coefficients are always the mean of the members', also after the budget is full."""
    model: Any = OAPBPM(5, n_members=12, sampling=0.5, seed=2, kernel=Gaussian(1.0), budget=9)
    X, y = events(120, 3)
    for number, (x, rank) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        if number % 3 == 2:
            model.learn_pair(x, dict(enumerate(X[number - 1].tolist())), 0.5)
        else:
            model.learn_one(x, rank)
        memory = model._model.memory
        assert memory["mean"] == pytest.approx(memory["weights"].sum(axis=0))
    assert len(model._model.support) == 9
