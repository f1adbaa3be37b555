"""What cannot be learned is refused with a sentence, and changes nothing."""

import pickle
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from stream_rank import (
    OAPBPM,
    OAPVP,
    FeatureError,
    Gaussian,
    LabelError,
    OAPBagg,
    Polynomial,
    PRank,
    RandomFourierFeatures,
    VotedPRank,
    WeightedKappa,
    WidrowHoff,
)
from tests.learners.conftest import Make, events

NOT_NUMBERS = [float("nan"), float("inf"), float("-inf"), 1e200, "3", None, "high", [1.0], 1j]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("names", [("a", "b"), ("b", "new"), ("b",)], ids="".join)
def test_one_event(learner: Make, value: Any, names: tuple[str, ...]) -> None:
    """Among known features, with a new one beside it, and alone."""
    model = learner(5)
    for rank, a in ((1, -1.0), (5, 1.0), (3, 0.1)):
        model.learn_one({"a": a, "b": 0.5}, rank)
    before = pickle.dumps(model)
    x = {**dict.fromkeys(names, 0.25), "b": value}
    for call in (
        lambda: model.learn_one(x, 2),
        lambda: model.predict_one(x),
        lambda: model.utility_one(x) if hasattr(model, "utility_one") else model.predict_one(x),
        lambda: model.learn_pair(x, {"a": 1.0}),
        lambda: model.learn_pair({"a": 1.0}, x),
    ):
        with pytest.raises(FeatureError, match=r"feature 'b' is .*; a finite number of at most"):
            call()
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e200], ids=repr)
def test_batches_are_refused_whole(learner: Make, value: float) -> None:
    X, y = events(60)
    model = learner(5)
    model.learn_many(X[:20], y[:20])
    before = pickle.dumps(model)
    bad = X[20:].copy()
    bad[33, 2] = value
    for table in (bad, pd.DataFrame(bad), sparse.csr_matrix(bad), np.asfortranarray(bad)):
        for call in (
            lambda table=table: model.learn_many(table, y[20:]),
            lambda table=table: model.test_then_train(table, y[20:]),
            lambda table=table: model.predict_many(table),
        ):
            with pytest.raises(FeatureError, match="feature 2 of row 33 is"):
                call()
            assert pickle.dumps(model) == before


@pytest.mark.parametrize("label", [0, 6, -1, 2.5, float("nan"), "3", None, [1], False], ids=repr)
def test_labels_off_the_scale(fixed_learner: Make, label: Any) -> None:
    X, y = events(30)
    model = fixed_learner(5)
    model.learn_many(X, y)
    before = pickle.dumps(model)
    with pytest.raises(LabelError) as error:
        model.learn_one({0: 1.0}, label)
    assert repr(label) in str(error.value)
    assert "1..5" in str(error.value)
    with pytest.raises(LabelError):
        model.learn_many(X[:3], [1, label, 2])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("label", [None, float("nan"), ["a"], 3, ("b",)], ids=repr)
def test_discovered_labels_must_have_an_order(rank_learner: Make, label: Any) -> None:
    model = rank_learner()
    X, _ = events(4)
    model.learn_many(X, ["a", "b", "a", "c"])
    before = pickle.dumps(model)
    with pytest.raises(LabelError, match="has no place among"):
        model.learn_one({0: 1.0}, label)
    with pytest.raises(LabelError, match="has no place among"):
        model.learn_many(X[:3], ["a", label, "b"])
    assert pickle.dumps(model) == before


def test_a_new_label_with_a_bad_feature_is_not_learned(rank_learner: Make) -> None:
    model = rank_learner()
    model.learn_one({"a": 1.0}, "x")
    before = pickle.dumps(model)
    with pytest.raises(FeatureError):
        model.learn_one({"a": float("nan")}, "y")
    assert pickle.dumps(model) == before


def test_mappings_that_invent_features_lose_none(learner: Make) -> None:
    plain, counted = learner(5), learner(5)
    counted.learn_one(Counter({"a": 1, "b": 2}), 2)
    plain.learn_one({"a": 1, "b": 2}, 2)
    for x in ({"a": 1, "c": 4}, {"c": 1, "b": 3}):
        assert counted.predict_one(Counter(x)) == plain.predict_one(x)
        counted.learn_one(defaultdict(int, x), 1)
        plain.learn_one(x, 1)
    assert counted._vocabulary.names == plain._vocabulary.names == ["a", "b", "c"]


@pytest.mark.parametrize("magnitude", [-0.5, -1, float("nan"), float("inf")])
def test_pairs_need_a_magnitude_from_0_on(learner: Make, magnitude: float) -> None:
    with pytest.raises(ValueError, match="magnitude must be a number from 0, a tie, to"):
        learner(5).learn_pair({"a": 1.0}, {"a": 0.0}, magnitude)


def test_lengths_must_agree(learner: Make) -> None:
    X, y = events(10)
    with pytest.raises(ValueError, match="10 events came with 9 labels"):
        learner(5).learn_many(X, y[:9])


def test_tables_must_be_tables(learner: Make) -> None:
    model = learner(5)
    with pytest.raises(FeatureError, match="rows of a table"):
        model.predict_many(np.zeros(3))
    with pytest.raises(FeatureError, match="feature 'b' of row 1 is 'x'; a finite number"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, "x"]}), [1, 2])
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(FeatureError, match="twice: 'a'"):
        model.learn_many(twice, [1])


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (PRank, {"n_ranks": 1}),
        (PRank, {"n_ranks": 2.5}),
        (PRank, {"n_ranks": True}),
        (PRank, {"dtype": "float16"}),
        (PRank, {"kernel": "linear"}),
        (PRank, {"kernel": Gaussian(), "budget": 0}),
        (OAPBPM, {"n_members": 0}),
        (OAPBPM, {"n_members": 2.0}),
        (OAPBagg, {"sampling": 0.0}),
        (OAPVP, {"sampling": 1.01}),
        (OAPVP, {"sampling": float("nan")}),
        (VotedPRank, {"max_hypotheses": 0}),
        (WidrowHoff, {"learning_rate": 0.0}),
        (WidrowHoff, {"learning_rate": float("inf")}),
        (Polynomial, {"degree": 0}),
        (Polynomial, {"degree": 2.5}),
        (Polynomial, {"offset": -1.0}),
        (Polynomial, {"offset": float("nan")}),
        (PRank, {"kernel": Polynomial(3, 1e60)}),
        (Gaussian, {"width": 0.0}),
        (RandomFourierFeatures, {"n_components": 0}),
        (RandomFourierFeatures, {"width": -1.0}),
        (WeightedKappa, {"weights": "cubic"}),
    ],
)
def test_parameters_out_of_range(make: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be|too large"):
        make(**parameters)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_largest_features_never_overflow(dtype: str) -> None:
    """Many events at the bound, all wrong: weights and scores stay finite."""
    for make in (PRank, OAPBPM, WidrowHoff, VotedPRank):
        model = make(n_ranks=3, dtype=dtype)
        bound = model._model.bound
        X = np.full((5000, 20), bound)
        X[::2] = -bound
        model.learn_many(X, np.resize([1, 3, 3, 1], 5000))
        assert np.isfinite(list(model.weights.values())).all()
        assert np.isfinite(model.utility_one(dict.fromkeys(range(20), bound)))
