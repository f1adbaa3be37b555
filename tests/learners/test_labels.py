"""Labels that are discovered take their place by splitting a threshold."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank import OAPBPM, NearestRanks, OrdinalFactors, OrdinalLogit, PRank
from tests.learners.conftest import RANK_LEARNERS, Make, events


@settings(max_examples=60)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=80), st.integers(0, 1000))
def test_order_of_thresholds_never_breaks(labels: list[int], seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(len(labels), 3))
    model = OAPBPM(n_members=9, sampling=0.6, seed=seed)
    for row, label in zip(X.tolist(), labels, strict=True):
        model.learn_one(dict(enumerate(row)), label)
        every = model._model.memory["thresholds"][:, 1 : model._model.n_ranks]
        assert (np.diff(every, axis=1) >= 0).all()
        assert len(model.thresholds) == len(model._labels.known) - 1
        assert model.thresholds == sorted(model.thresholds)
    assert model._labels.known == sorted(set(labels))


def _learned() -> PRank:
    """Three labels, two different thresholds."""
    model = PRank()
    for _ in range(30):
        for label, place in (("b", -2.0), ("d", 0.0), ("f", 2.0)):
            model.learn_one({"place": place}, label)
    return model


@pytest.mark.parametrize(("label", "split"), [("a", 0), ("c", 0), ("e", 1), ("g", 1)])
def test_a_new_label_splits_the_threshold_at_its_place(label: str, split: int) -> None:
    """The event that brings it is then learned with the others in their places."""
    model = _learned()
    low, high = model.thresholds
    assert low < high
    expected = sorted([low, high, (low, high)[split]])
    model._insert(label)
    assert model.thresholds == expected
    assert model._labels.known == sorted(["b", "d", "f", label])


@pytest.mark.parametrize(
    "name", [name for name in RANK_LEARNERS if "-p" not in name and "-g" not in name]
)
def test_new_labels_are_learned(name: str) -> None:
    """As well as labels that were known from the start; the kernels' small budgets would blur it."""
    rank_learner = RANK_LEARNERS[name]
    X, y = events(3000, seed=2)
    named = np.array(list("abcde"))[y - 1]
    model = rank_learner()
    model.learn_many(X, named)
    known = rank_learner(5)
    known.learn_many(X, y)
    fresh_X, fresh_y = X[-500:], y[-500:]
    found = np.searchsorted(list("abcde"), model.predict_many(fresh_X)) + 1
    ours = np.abs(found - fresh_y).mean()
    assert ours <= np.abs(known.predict_many(fresh_X) - fresh_y).mean() + 0.02


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([3, 1, 2], int),
        ([2.5, 0.5, 1.5], float),
        (["c", "a", "b"], str),
        ([True, False, True], bool),
        ([(2, 1), (1, 9), (1, 3)], tuple),
        (list(np.array([3, 1, 2])), int),
    ],
)
def test_predictions_are_labels_of_their_own_kind(
    rank_learner: Make, labels: list[Any], kind: type
) -> None:
    model = rank_learner()
    X, _ = events(30)
    for row, label in zip(X.tolist(), labels * 10, strict=True):
        model.learn_one(dict(enumerate(row)), label)
    predicted = model.predict_one(dict(enumerate(X[0].tolist())))
    assert type(predicted) is kind
    assert predicted in labels
    assert all(label in labels for label in model.predict_many(X).tolist())
    proba = model.predict_proba_one({0: 1.0})
    assert list(proba) == sorted(set(labels))


def test_times_are_labels_too(rank_learner: Make) -> None:
    import pandas as pd

    times = pd.Series(pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-03"] * 5))
    X, _ = events(15)
    model = rank_learner()
    model.learn_many(X, times)
    assert model._labels.known == sorted(set(times))
    assert model.predict_one({0: 1.0}) in set(times)


def test_before_any_label_there_is_no_prediction(rank_learner: Make) -> None:
    model = rank_learner()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_many(np.ones((2, 1))).tolist() == [None, None]
    assert model.thresholds == []


def test_fixed_ranks_are_there_from_the_start(rank_learner: Make) -> None:
    model = rank_learner(4)
    chances = model.predict_proba_one({"a": 1.0})
    # which believe in as many of each, and are not certain of it
    if isinstance(model, OrdinalLogit | OrdinalFactors):
        median = getattr(model, "decision", "median") == "median"
        assert model.predict_one({"a": 1.0}) in ((2, 3) if median else (1, 4))
        assert model.thresholds == pytest.approx([-np.log(3), 0.0, np.log(3)], abs=1e-15)
        assert chances[1] == pytest.approx(chances[4])
        assert chances[2] == pytest.approx(chances[3])
        return
    if isinstance(model, NearestRanks):  # whose scores are mean ranks
        assert model.predict_one({"a": 1.0}) == 3
        assert chances == dict.fromkeys((1, 2, 3, 4), 0.25)
        assert model.thresholds == [1.5, 2.5, 3.5]
        return
    assert model.predict_one({"a": 1.0}) == 4  # no score is below a threshold of 0 yet
    assert chances == dict.fromkeys((1, 2, 3, 4), 0.25)
    assert model.thresholds == [0.0, 0.0, 0.0]
