"""How sure a learner is of a preference: probabilities that are calibrated on-line."""

import math
from typing import Any

import numpy as np
import pytest

from stream_rank import OAPBPM, OnlineMPRank, PRank, RecursiveMPRank, SnapshotError, load, save
from stream_rank.checkpoint.model_file import state_digest
from tests.learners.conftest import Make


def matches(n_pairs: int, ties: bool, seed: int = 3) -> tuple[Any, Any, Any, Any]:
    """Pairs by Davidson's model: items, magnitudes, and the true probability of what happened."""
    generator = np.random.default_rng(seed)
    weights = np.array([1.0, -2.0, 0.5, 1.5])
    first, second = generator.normal(size=(2, n_pairs, 4))
    h = 0.5 * (first - second) @ weights
    odds = np.stack([np.exp(h), np.full(n_pairs, 0.8 if ties else 0.0), np.exp(-h)], axis=1)
    odds /= odds.sum(axis=1, keepdims=True)
    draws = generator.random(n_pairs)
    outcome = (draws[:, None] >= odds.cumsum(axis=1)).sum(axis=1)
    lost = outcome == 2
    first[lost], second[lost] = second[lost].copy(), first[lost].copy()
    return first, second, (outcome != 1) * 1.0, odds[np.arange(n_pairs), outcome]


@pytest.mark.parametrize("ties", [False, True])
def test_exact_scores_become_calibrated(ties: bool) -> None:
    """Behind the model that made the pairs by no more than what learning it costs."""
    first, second, magnitude, true = matches(20_000, ties)
    proba = np.empty((len(first), 3))
    RecursiveMPRank().test_then_train_pairs(first, second, magnitude, proba)
    assert np.allclose(proba.sum(axis=1), 1.0)
    said = np.where(magnitude == 0, proba[:, 1], proba[:, 0])
    late = slice(5_000, None)
    assert -np.log(said[late]).mean() < -np.log(true[late]).mean() + 0.01
    decided = magnitude[late] > 0
    if ties:
        assert proba[late, 1].mean() == pytest.approx(1 - decided.mean(), abs=0.02)
    else:
        assert (proba[:, 1] == 0).all()


def test_a_probability_is_antisymmetric_and_sums_to_one(learner: Make) -> None:
    model = learner(5)
    first, second, magnitude, _ = matches(200, True)
    assert model.prefer_proba_one({0: 1.0}, {0: 2.0}) == pytest.approx({1: 0.5, -1: 0.5})
    assert model.prefer_one({0: 1.0}, {0: 2.0}) == 0
    model.learn_pairs(first, second, magnitude)
    for one, two in zip(first[:10].tolist(), second[:10].tolist(), strict=True):
        a: dict[Any, float] = dict(enumerate(one))
        b: dict[Any, float] = {**dict(enumerate(two)), "unknown": 1.0}
        there, back = model.prefer_proba_one(a, b), model.prefer_proba_one(b, a)
        assert there.keys() == {1, 0, -1}
        assert sum(there.values()) == pytest.approx(1.0)
        assert there == pytest.approx({1: back[-1], 0: back[0], -1: back[1]})
        assert model.prefer_one(a, b) == -model.prefer_one(b, a)


def test_of_a_batch_it_is_what_is_said_of_one(learner: Make) -> None:
    """`proba` of a batch is `prefer_proba_one` before each pair, to the bit, and so is the state after it."""
    first, second, magnitude, _ = matches(60, True)
    one, many, batch = learner(5), learner(5), learner(5)
    proba = np.empty((60, 3))
    batch.test_then_train_pairs(first, second, magnitude, proba)
    for row in range(60):
        a, b = dict(enumerate(first[row].tolist())), dict(enumerate(second[row].tolist()))
        said = one.prefer_proba_one(a, b)
        assert [said[1], said.get(0, 0.0), said[-1]] == proba[row].tolist()
        one.learn_pair(a, b, magnitude[row])
    for begin, end in ((0, 7), (7, 8), (8, 60)):
        some = slice(begin, end)
        many.learn_pairs(first[some], second[some], magnitude[some])
    assert state_digest(one) == state_digest(batch) == state_digest(many)


def test_it_is_kept(learner: Make, tmp_path: Any) -> None:
    first, second, magnitude, _ = matches(50, True)
    model = learner(5)
    model.learn_pairs(first, second, magnitude)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    asked = {0: 1.0, 1: 0.5}, {2: 1.0}
    assert again.prefer_proba_one(*asked) == model.prefer_proba_one(*asked)


def test_an_ensemble_says_the_share_of_its_members() -> None:
    model = OAPBPM(3, n_members=99, seed=1)
    for _ in range(50):
        model.learn_pair({"a": 1.0}, {"b": 1.0})
    said = model.prefer_proba_one({"a": 1.0}, {"b": 1.0})
    assert said[1] == pytest.approx((99 + 0.5) / 100)  # all of them, and one that is undecided
    assert model.prefer_proba_one({"c": 1.0}, {"d": 1.0}) == pytest.approx({1: 0.5, -1: 0.5})


def test_probabilities_are_finite_whatever_comes() -> None:
    model = OnlineMPRank()
    model.learn_pair({"a": 1e25}, {"a": -1e25}, 1e25)
    model.learn_pair({"a": 1.0}, {"a": -1.0}, 0.0)
    said = model.prefer_proba_one({"a": 1e25}, {"a": 0.0})
    assert all(math.isfinite(each) for each in said.values())


def test_damaged_odds_are_refused() -> None:
    from stream_rank.learners.base.restore import learner_from

    model = PRank(3)
    model.learn_pair({"a": 1.0}, {"b": 1.0})
    for damaged in ([], [1.0] * 6, [math.nan] * 7, [-1.0] * 7, "1234567", [0.0] * 7, None):
        state = model.dump()
        state.metadata["odds"] = damaged
        with pytest.raises(SnapshotError, match="odds"):
            learner_from(state)
