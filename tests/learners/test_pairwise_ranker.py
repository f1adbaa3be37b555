"""Every loss steps to where loss and distance together are least."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from stream_rank import MSD, Misranking, PairwiseRanker
from stream_rank.learners.models.pairwise import LOSSES
from tests.learners import oracle
from tests.learners.conftest import dicts


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 2**32), rate=st.sampled_from([0.01, 0.3, 5.0]), m=st.floats(0.1, 4.0))
def test_a_step_is_implicit(loss: str, seed: int, rate: float, m: float) -> None:
    """Against a search along the difference for the least `|w' - w|**2 / 2 + rate * loss`."""
    generator = np.random.default_rng(seed)
    model = PairwiseRanker(loss=loss, learning_rate=rate, epsilon=0.25, averaging=False)
    start = generator.normal(size=3) * 2
    model.learn_pair({0: 1.0, 1: 1.0, 2: 1.0}, {}, 1.0)
    model._model.memory["weights"][:3] = start
    z = generator.normal(size=3)
    model.learn_pair(dict(enumerate(z)), {}, m)
    moved = np.array([*model.weights.values()]) - start
    size, g = float(z @ z), float(start @ z)

    def objective(step: float) -> float:
        ends = oracle.pair_loss(loss, g + step * size, m, 0.25)
        if loss.startswith("hmp") and g <= 0:  # the loss of the pair as it was found
            ends = oracle.pair_loss(loss.replace("hmp", "mp"), g + step * size, m, 0.25)
        return step * step * size / 2 + rate * ends

    wanted = minimize_scalar(objective, bounds=(-60, 60), method="bounded", options={"xatol": 1e-9})
    step = float(moved @ z) / size
    assert moved == pytest.approx(step * z, abs=1e-9)
    assert objective(step) <= wanted.fun + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns_an_order(loss: str) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 6))
    y = X @ [3.0, -2.0, 1.0, 0.0, 0.5, -0.5] + generator.normal(0, 0.3, 3000)
    model, misranking = PairwiseRanker(loss=loss, seed=1), Misranking()
    model.learn_many(X[:2700], y[:2700])
    for score, label in zip(model.predict_many(X[2700:]), y[2700:], strict=True):
        misranking.update(label, score)
    assert misranking.get() < 0.1


@pytest.mark.parametrize("loss", ["mp-1", "mp-2", "svr-2", "rls-magnitude"])
def test_magnitudes_are_learned(loss: str) -> None:
    X = np.random.default_rng(0).normal(size=(3000, 4))
    model = PairwiseRanker(loss=loss, seed=1, epsilon=0.01)
    model.learn_many(X, X @ [1.0, -2.0, 0.5, 0.0])
    assert [*model.weights.values()] == pytest.approx([1.0, -2.0, 0.5, 0.0], abs=0.02)


def test_pairs_are_of_one_group_and_of_the_window() -> None:
    """The difference between groups is not learned, nor that to events long gone."""
    X = np.zeros((200, 2))
    X[::2, 0] = 1.0
    X[:, 1] = np.random.default_rng(0).normal(size=200)
    y = 100 * X[:, 0] + X[:, 1]
    model = PairwiseRanker(loss="mp-2", learning_rate=0.1, averaging=False)
    model.learn_many(X, y, group=["even", "odd"] * 100)
    assert model.weights[0] == 0.0
    assert model.weights[1] == pytest.approx(1.0, abs=1e-3)
    near = PairwiseRanker(loss="mp-2", learning_rate=0.1, window=1)
    near.learn_many(X[::2], y[::2])
    assert near.weights[0] == 0.0


def test_equal_labels_make_pairs_only_where_that_means_something() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    for loss in LOSSES:
        model = PairwiseRanker(loss=loss, epsilon=0.001)
        model.learn_pair({0: 1.0}, {1: 1.0}, 1.0)
        before = model.weights
        model.learn_many(X, np.ones(20))
        assert (model.weights != before) == (loss[:2] in ("mp", "sv") or loss == "rls-magnitude")


def test_pairs_are_drawn_by_the_seed() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    rules = []
    for seed in (1, 1, 2):
        model = PairwiseRanker(seed=seed, pairs=2)
        model.learn_many(X, X[:, 0] - X[:, 1])
        rules.append(model.weights)
    assert rules[0] == rules[1] != rules[2]


def test_all_of_the_window_when_it_is_small() -> None:
    """Written out: every pair with the events kept, oldest slot first."""
    X = np.random.default_rng(1).normal(size=(40, 3))
    y = np.random.default_rng(2).normal(size=40)
    model = PairwiseRanker(
        loss="mp-1",
        learning_rate=0.05,
        regularization=0.2,
        window=4,
        pairs=9,
        seed=1,
        averaging=False,
    )
    w = np.zeros(3)
    kept: list[tuple[int, int]] = []
    for i, x in enumerate(dicts(X)):
        w = w / (1 + 0.05 * 0.2)
        for _, j in sorted(kept):
            z, m = (X[i] - X[j]), y[i] - y[j]
            if m < 0:
                z, m = -z, -m
            w = w + np.clip((m - w @ z) / (z @ z), -0.05, 0.05) * z
        kept = [*(pair for pair in kept if pair[0] != i % 4), (i % 4, i)]
        model.learn_one(x, y[i])
        assert [*model.weights.values()] == pytest.approx(w)


@pytest.mark.parametrize("rate", [1e12, None])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e30, 4e49])
def test_no_scale_blows_it_up(loss: str, scale: float, rate: float | None) -> None:
    generator = np.random.default_rng(0)
    model = PairwiseRanker(loss=loss, learning_rate=rate)
    for power in (0, 1) * 10:
        X = generator.normal(size=(30, 4)).clip(-1, 1) * scale**power
        model.learn_many(X, generator.normal(size=30).clip(-1, 1) * scale ** (1 - power))
    assert np.isfinite([*model.weights.values()]).all()


@pytest.mark.parametrize(
    "parameters",
    [
        *({"loss": "ranksvm"}, {"loss": None}, {"learning_rate": 0}, {"regularization": -1}),
        *({"epsilon": -1}, {"window": 0}, {"pairs": 0}, {"seed": "x"}, {"averaging": 1}),
    ],
    ids=str,
)
def test_parameters_out_of_range(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        PairwiseRanker(**parameters)


@pytest.mark.parametrize("rate", [1.0, None])
@pytest.mark.parametrize("loss", LOSSES)
def test_tiny_numbers_leave_finite_weights(loss: str, rate: float | None) -> None:
    model = PairwiseRanker(loss=loss, learning_rate=rate)
    model.learn_pair({"a": 1e-161}, {}, 1e-170)
    for x, y in ((1e-161, 0.0), (0.0, 1e-170), (1e-140, 1e-300), (3e-150, 1e-150)):
        model.learn_one({"a": x}, y)
    assert np.isfinite(model.predict_one({"a": 1.0}))


def test_pairs_are_drawn_evenly() -> None:
    """From all of the window, not from its beginning."""
    drawn: Counter[Any] = Counter()
    for seed in range(300):
        model = PairwiseRanker(loss="mp-1", learning_rate=1e6, window=20, pairs=1, seed=seed)
        for number in range(20):
            model.learn_one({number: 1.0}, 0.0)
        model.learn_one({"new": 1.0}, 1.0)
        moved = [number for number, weight in model.weights.items() if weight < 0]
        (chosen,) = [number for number in moved if number != "new"]
        drawn[chosen] += 1
    assert len(drawn) == 20
    assert 3 <= min(drawn.values()) <= max(drawn.values()) <= 40


@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4])
def test_predictions_of_different_times_compare(offset: float) -> None:
    """Features far from zero: as the weights move, the constant goes with them."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(2000, 2))
    y = X @ [2.0, -1.0] + 7
    model, difference = PairwiseRanker(loss="mp-2", seed=1), MSD()
    scores = model.test_then_train(X + np.array([offset, 0.0]), y)
    for score, label in zip(scores[1000:], y[1000:], strict=True):
        difference.update(label, score)
    assert difference.get() < 0.01
    assert np.abs(scores[1000:] - y[1000:]).mean() < 0.1
    assert model.bias == pytest.approx(7 - 2 * offset, rel=0.01, abs=0.1)
