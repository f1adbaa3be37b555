"""Preference events: the weights move by the difference of what was misordered; thresholds stay."""

from typing import Any

import numpy as np
import pytest

from stream_rank import OAPBPM, Gaussian, NearestRanks, OnlineMPRank, Polynomial, PRank, WidrowHoff
from tests.learners import oracle
from tests.learners.conftest import Make, events


def test_a_misordered_pair_moves_by_its_difference() -> None:
    model = PRank(3)
    model.learn_pair({"a": 3.0, "b": 1.0}, {"a": 1.0, "c": 4.0})  # a tie is misordered
    assert model.weights == {"a": 2.0, "b": 1.0, "c": -4.0}
    assert model.thresholds == [0.0, 0.0]
    model.learn_pair({"a": 3.0, "b": 1.0}, {"a": 1.0, "c": 4.0})  # now in order
    assert model.weights == {"a": 2.0, "b": 1.0, "c": -4.0}
    model.learn_pair({"a": 0.0}, {"a": 0.5}, magnitude=4.0)
    assert model.weights == {"a": 0.0, "b": 1.0, "c": -4.0}


def test_members_learn_pairs_by_their_coins() -> None:
    model, key = OAPBPM(3, n_members=70, sampling=0.4, seed=5), 5
    plain = [oracle.Perceptron(3) for _ in range(70)]
    generator = np.random.default_rng(0)
    for event in range(60):
        first, second = np.round(generator.normal(size=(2, 3)) * 4) / 4
        x, z = dict(zip("abc", first, strict=True)), dict(zip("abc", second, strict=True))
        if event % 2:
            model.learn_pair(x, z)
        else:
            model.learn_one(x, event % 3 + 1)
        for j, member in enumerate(plain):
            if not oracle.coin(key, event, j, 0.4):
                continue
            if event % 2 == 0:
                member.learn(x, event % 3 + 1)
            elif member.score(x) <= member.score(z):
                for name in "abc":
                    member.w[name] = member.w.get(name, 0.0) + x[name] - z[name]
    mean = {name: sum(member.w.get(name, 0.0) for member in plain) / 70 for name in "abc"}
    assert model.weights == pytest.approx(mean)


def test_every_learner_learns_an_order_from_pairs(learner: Make) -> None:
    room = {}
    if getattr(learner(5), "kernel", None) or isinstance(learner(5), OnlineMPRank):
        room["budget"] = 2400
    if room and hasattr(learner(5), "n_members"):
        room["n_members"] = 9
    model = learner(5, **room)
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    X = np.random.default_rng(1).normal(size=(1500, 2, 4))
    for first, second in X:
        if first @ weights < second @ weights:
            first, second = second, first
        model.learn_pair(dict(enumerate(first.tolist())), dict(enumerate(second.tolist())))
    test = np.random.default_rng(2).normal(size=(300, 2, 4))
    score = [[model.utility_one(dict(enumerate(item))) for item in pair] for pair in test.tolist()]
    if isinstance(model, NearestRanks):  # which learns ranks alone
        assert np.unique(score).tolist() == [3.0]
        return
    right = (np.array(score) @ [1, -1] > 0) == (test @ weights @ [1, -1] > 0)
    assert right.mean() > 0.8
    if hasattr(model, "thresholds") and not isinstance(model, WidrowHoff):
        assert model.thresholds == learner(5, **room).thresholds


@pytest.mark.parametrize("kernel", [Polynomial(2, 1.0), Gaussian(1.0)])
def test_both_items_of_a_pair_join_the_support_set(kernel: Any) -> None:
    model = PRank(3, kernel=kernel, budget=5)
    model.learn_pair({"a": 1.0}, {"a": 2.0, "b": 1.0}, magnitude=2.0)
    assert model.support == [({"a": 1.0, "b": 0.0}, 2.0), ({"a": 2.0, "b": 1.0}, -2.0)]
    # both kernels judge these two by K(x, x) + K(z, z) - 2 K(x, z) > 0
    assert model.utility_one({"a": 1.0}) > model.utility_one({"a": 2.0, "b": 1.0})
    with pytest.raises(ValueError, match="budget of at least 2"):
        PRank(3, kernel=kernel, budget=1).learn_pair({"a": 1.0}, {"a": 2.0})


def test_widrow_hoff_goes_towards_the_magnitude() -> None:
    model = WidrowHoff(learning_rate=0.25)
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=3.0)
    assert model.weights == {"a": 0.75, "b": -0.75}
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=3.0)  # in order: nothing to mend
    assert model.weights == {"a": 0.75, "b": -0.75}


def test_pairs_and_ratings_mix(learner: Make) -> None:
    model = learner(5)
    X, y = events(200)
    for number, (row, rank) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        if number % 3:
            model.learn_one(dict(enumerate(row)), rank)
        elif number:
            model.learn_pair(dict(enumerate(row)), dict(enumerate(X[number - 1].tolist())), 0.5)
    assert np.isfinite(model.utility_one(dict(enumerate(X[0].tolist()))))


def test_a_cycle_of_preferences_makes_nothing_diverge(learner: Make) -> None:
    """A over B, B over C, C over A, for ever: no order is right, and no learner says that one is."""
    room: dict[str, Any] = {}
    if getattr(learner(5), "kernel", None) or isinstance(learner(5), OnlineMPRank):
        room["budget"] = 50
    model = learner(5, **room)
    items = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}]
    for _ in range(200):
        for first, second in ((0, 1), (1, 2), (2, 0)):
            model.learn_pair(items[first], items[second])
    scores = [model.utility_one(item) for item in items]
    assert np.ptp(scores) <= 10.0  # of 600 pairs, which would make hundreds if they added up
    for first, second in ((0, 1), (1, 2), (2, 0)):
        said = model.prefer_proba_one(items[first], items[second])
        assert all(np.isfinite(each) for each in said.values())
        assert sum(said.values()) == pytest.approx(1.0)
