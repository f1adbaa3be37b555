"""Events in groups: one by one, in batches, and what cannot be a group's name."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import evaluate, metrics

from tests.learners.conftest import GROUPED_LEARNERS, Make, dicts, events
from tests.learners.test_many_is_one import state


@pytest.mark.parametrize(
    "names",
    [
        list("abcabdeefa"),
        [3, 1, 2, 3, 1],
        [("q", 1), ("q", 2)],
        [f"g{i}" for i in range(120)],
        [None],
    ],
    ids=["letters", "numbers", "tuples", "many", "none"],
)
def test_one_by_one_and_in_batches(grouped_learner: Make, names: list[Any]) -> None:
    X, y = events(120)
    groups = [names[i % len(names)] for i in range(120)]
    one, many, split = grouped_learner(), grouped_learner(), grouped_learner()
    expected = []
    for x, label, group in zip(dicts(X), y.tolist(), groups, strict=True):
        expected.append(one.predict_one(x))
        one.learn_one(x, label, group=group)
    assert many.test_then_train(X, y, group=groups).tolist() == expected
    for first in range(0, 120, 13):
        rows = slice(first, first + 13)
        split.learn_many(X[rows], y[rows], group=groups[rows])
    assert state(one) == state(many) == state(split)


def test_no_group_is_the_group_none(grouped_learner: Make) -> None:
    X, y = events(60)
    plain, named = grouped_learner(), grouped_learner()
    plain.learn_many(X, y)
    named.learn_many(X, y, group=[None] * 60)
    assert state(plain) == state(named)


def test_columns_of_groups(grouped_learner: Make) -> None:
    X, y = events(40)
    groups = (np.arange(40) % 3).tolist()
    plain = grouped_learner()
    plain.learn_many(X, y, group=groups)
    for column in (np.array(groups), pd.Series(groups), pl.Series(groups), tuple(groups)):
        other = grouped_learner()
        other.learn_many(X, y, group=column)
        assert state(other) == state(plain)


@pytest.mark.parametrize("group", [float("nan"), [1], {"a": 1}, np.array([1, 2])], ids=repr)
def test_names_that_are_none(grouped_learner: Make, group: Any) -> None:
    X, y = events(30)
    model = grouped_learner()
    model.learn_many(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="must be hashable and equal to itself"):
        model.learn_one({0: 1.0}, 1.0, group=group)
    with pytest.raises(ValueError, match="of row 1 must be hashable"):
        model.learn_many(X[:3], y[:3], group=["a", group, "b"])
    with pytest.raises(ValueError, match="3 events came with 2 groups"):
        model.learn_many(X[:3], y[:3], group=["a", "b"])
    for column in ("abc", dict.fromkeys("abc"), set("abc"), pd.DataFrame({"g": [1, 2, 3]}), 3):
        with pytest.raises(ValueError, match="groups must be one column"):
            model.learn_many(X[:3], y[:3], group=column)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", ["RecursiveMPRank", "OnlineMPRank", "OnlineMPRank-polynomial"])
def test_what_all_of_a_group_share_is_not_learned(name: str) -> None:
    """Users rate on scales of their own; the offsets are theirs, not the features'."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))
    user = generator.integers(0, 20, 400)
    X[:, 1] = user / 10  # tells the user, and nothing within one
    y = X[:, 0] + 50 * user
    model = GROUPED_LEARNERS[name](budget=400) if "Online" in name else GROUPED_LEARNERS[name]()
    model.learn_many(X, y, group=user.tolist())
    if "Online" in name:
        model.sweep(200)
    first, second = model.predict_one({0: 1.0, 1: 0.0}), model.predict_one({0: 0.0, 1: 2.0})
    assert first - second == pytest.approx(1.0, abs=0.6)


def test_streams_of_river_with_groups(grouped_learner: Make) -> None:
    X, y = events(60)
    stream: Any = [
        (x, label, {"group": number % 3})
        for number, (x, label) in enumerate(zip(dicts(X), y.tolist(), strict=True))
    ]
    evaluated, plain = grouped_learner(), grouped_learner()
    evaluate.progressive_val_score(stream, evaluated, metrics.MAE())
    plain.learn_many(X, y, group=[number % 3 for number in range(60)])
    assert state(evaluated) == state(plain)
