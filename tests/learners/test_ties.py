"""Ties, preferences of magnitude 0: no side is ahead, and every learner learns that."""

from typing import Any

import numpy as np
import pytest

from stream_rank import (
    OAPBPM,
    Gaussian,
    NearestRanks,
    OnlineMPRank,
    PairwiseRanker,
    PRank,
    RecursiveMPRank,
    VotedPRank,
    WidrowHoff,
)
from tests.learners.conftest import Make


def test_a_tie_moves_a_perceptron_to_even_but_no_further_than_a_step() -> None:
    model = PRank(3)
    model.learn_pair({"a": 2.0}, {"b": 1.0})
    assert model.weights == {"a": 2.0, "b": -1.0}
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=0.0)  # ahead by 3 of a square of 2: one step
    assert model.weights == {"a": 1.0, "b": 0.0}
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=0.0)  # ahead by 1: half a step is enough
    assert model.weights == {"a": 0.5, "b": 0.5}
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=0.0)
    assert model.weights == {"a": 0.5, "b": 0.5}
    assert (model.n_updates, model.n_events) == (3, 4)


def test_a_tie_is_a_difference_of_zero_to_least_squares() -> None:
    model = WidrowHoff(learning_rate=0.25)
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=4.0)
    model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=0.0)
    assert model.weights == {"a": 0.5, "b": -0.5}
    exact = RecursiveMPRank(C=1e6)
    exact.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=2.0)
    exact.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=0.0)
    assert exact.utility_one({"a": 1.0}) - exact.utility_one({"b": 1.0}) == pytest.approx(1.0, 1e-3)


@pytest.mark.parametrize("loss", ["hinge", "hr-1", "mp-2", "svr-1", "rls-unit", "rls-relative"])
def test_every_pairwise_loss_draws_a_tie_to_even(loss: str) -> None:
    model = PairwiseRanker(loss=loss, learning_rate=0.5, averaging=False, seed=1)
    for _ in range(20):
        model.learn_pair({"a": 1.0}, {"b": 1.0})
    before = model.utility_one({"a": 1.0}) - model.utility_one({"b": 1.0})
    for _ in range(50):
        model.learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=0.0)
    after = model.utility_one({"a": 1.0}) - model.utility_one({"b": 1.0})
    assert before > 0
    assert abs(after) <= 0.1 + 1e-9  # svr does not mind its epsilon


def league(n_pairs: int = 3_000, n_teams: int = 12) -> list[tuple[Any, Any, float]]:
    """Matches of teams whose strengths are 0 or 1: equals draw, and the stronger wins, mostly."""
    generator = np.random.default_rng(5)
    matches = []
    for _ in range(n_pairs):
        one, two = generator.choice(n_teams, 2, replace=False).tolist()
        ahead = one % 2 - two % 2
        if generator.random() < 0.1:
            ahead = int(generator.integers(-1, 2))
        first, second = ({f"team{one}": 1.0}, {f"team{two}": 1.0})
        matches.append((first, second, 1.0) if ahead >= 0 else (second, first, 1.0))
        if ahead == 0:
            matches[-1] = (first, second, 0.0)
    return matches


def test_a_rule_of_ties_and_wins_knows_equals(learner: Make) -> None:
    room: dict[str, Any] = {}
    if getattr(learner(5), "kernel", None):
        room["budget"] = 200
    if isinstance(learner(5), OnlineMPRank):
        room = {**room, "budget": 2000}
    model = learner(5, **room)
    for first, second, magnitude in league():
        model.learn_pair(first, second, magnitude)
    scores = [model.utility_one({f"team{team}": 1.0}) for team in range(12)]
    if isinstance(model, NearestRanks):  # which learns ranks alone
        assert set(scores) == {3.0}
        return
    strong, weak = np.array(scores[1::2]), np.array(scores[0::2])
    assert strong.min() > weak.max()
    between = strong.mean() - weak.mean()
    assert max(strong.std(), weak.std()) < between / 2


@pytest.mark.parametrize(
    "model",
    [
        PRank(3, kernel=Gaussian(1.0), budget=50),
        OAPBPM(3, n_members=9, seed=1, kernel=Gaussian(1.0), budget=50),
        VotedPRank(3, max_hypotheses=5),
        OAPBPM(3, n_members=70, seed=1, dtype="float32"),
    ],
)
def test_a_tie_brings_the_items_together(model: Any) -> None:
    for _ in range(8):
        model.learn_pair({"a": 1.0}, {"b": 1.0})
    lead = model.utility_one({"a": 1.0}) - model.utility_one({"b": 1.0})
    for _ in range(400):
        model.learn_pair({"b": 1.0}, {"a": 1.0}, magnitude=0.0)
    after = model.utility_one({"a": 1.0}) - model.utility_one({"b": 1.0})
    assert 0 <= abs(after) < 0.2 * lead


@pytest.mark.parametrize("magnitude", [-1.0, -1e-300, float("nan"), float("inf"), "1", None])
def test_a_magnitude_below_zero_is_refused(magnitude: Any) -> None:
    with pytest.raises(ValueError, match="magnitude must be a number from 0, a tie, to"):
        PRank(3).learn_pair({"a": 1.0}, {"b": 1.0}, magnitude=magnitude)
