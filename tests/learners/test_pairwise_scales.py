"""PairwiseRanker without a rate: neither the scale nor the number of features needs tuning, and the rule is a mean."""

import gzip
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank import PairwiseRanker
from stream_rank.learners.models.pairwise import LOSSES
from tests.conftest import research_data
from tests.learners.conftest import dicts

MAGNITUDES = ("mp-1", "mp-2", "hmp-1", "hmp-2", "rls-magnitude", "rls-relative")


def noisy(n_events: int, n_features: int, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_events, n_features))
    score = X @ generator.normal(size=n_features) / np.sqrt(n_features)
    return X, np.round(2 * score + generator.normal(size=n_events))


def disagreement(scores: Any, y: Any, groups: Any) -> float:
    """Over the pairs of a group whose labels differ; ties count one half."""
    bad = total = 0.0
    for group in np.unique(groups):
        s, t = scores[groups == group], y[groups == group]
        over = t[:, None] > t
        ahead = (s[:, None] - s)[over]
        bad += (ahead < 0).sum() + 0.5 * (ahead == 0).sum()
        total += over.sum()
    return bad / total


@pytest.mark.parametrize("rate", [0.05, None])
@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_the_rule_is_the_mean_of_the_weights_by_their_number(
    loss: str, rate: float | None, seed: int
) -> None:
    """Against the sums, written out; of `hr` each by its direction."""
    X, y = noisy(40, 3, seed)
    model = PairwiseRanker(loss, learning_rate=rate, seed=1)
    sum_, whole = np.zeros(3), 0.0
    for number, x in enumerate(dicts(X)):
        if number % 7 == 6:
            model.learn_pair(x, {0: 0.5}, 2.0)
        else:
            model.learn_one(x, y[number])
        last = model._model.memory["weights"][:3]
        size = np.sqrt(last @ last) if loss.startswith("hr") else 1.0
        if size > 0:
            sum_ += (number + 1) / size * last
            whole += (number + 1) / size
        if whole:
            assert [*model.weights.values()] == pytest.approx(sum_ / whole)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("power", [-60, -3, 5, 60])
def test_the_scale_of_features_makes_no_difference(loss: str, power: int) -> None:
    """To the bit, for powers of two."""
    X, y = noisy(200, 4)
    one, other = PairwiseRanker(loss, seed=1), PairwiseRanker(loss, seed=1)
    scores = one.test_then_train(X, y)
    assert (other.test_then_train(X * 2.0**power, y) == scores).all()
    first, second = X[:100], X[100:]
    ahead = one.test_then_train_pairs(first, second)
    scaled = other.test_then_train_pairs(first * 2.0**power, second * 2.0**power)
    assert (scaled == ahead).all()


@pytest.mark.parametrize("loss", MAGNITUDES)
@pytest.mark.parametrize("power", [-20, 20])
def test_the_scale_of_labels_makes_no_difference(loss: str, power: int) -> None:
    X, y = noisy(200, 4)
    one, other = PairwiseRanker(loss, seed=1), PairwiseRanker(loss, seed=1)
    scores = one.test_then_train(X, y)
    assert (other.test_then_train(X, y * 2.0**power) == scores * 2.0**power).all()


@pytest.mark.parametrize("n_features", [5, 46, 300])
def test_no_rate_is_much_better_than_none(n_features: int) -> None:
    X, y = noisy(3000, n_features)
    groups = np.arange(3000) // 100

    def lost(**parameters: Any) -> float:
        model = PairwiseRanker(seed=1, **parameters)
        return disagreement(model.test_then_train(X, y, group=groups.tolist()), y, groups)

    rates = [10.0**power for power in range(-5, 1)]
    assert lost() < 1.03 * min(lost(learning_rate=rate, averaging=False) for rate in rates)


def test_an_event_out_of_all_proportion_is_forgotten() -> None:
    X, y = noisy(12_000, 5)
    X[50] *= 1e6
    model, groups = PairwiseRanker(seed=1), np.arange(2000) // 100
    scores = model.test_then_train(X, y)
    clean = PairwiseRanker(seed=1).test_then_train(X[51:], y[51:])
    assert disagreement(scores[-2000:], y[-2000:], groups) < 1.1 * disagreement(
        clean[-2000:], y[-2000:], groups
    )


def test_a_rule_that_turns_is_followed() -> None:
    """By the last weights at once, by their mean after a while; by a plain mean it would take as long again."""
    X, y = noisy(9000, 20)
    y[3000:] *= -1
    groups = np.arange(1000) // 100
    last = PairwiseRanker(seed=1, averaging=False).test_then_train(X, y)
    mean = PairwiseRanker(seed=1).test_then_train(X, y)
    assert disagreement(last[3500:4500], y[3500:4500], groups) < 0.3
    assert disagreement(mean[-1000:], y[-1000:], groups) < 0.3


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_standardised_features_of_a_letor_set(scale: float) -> None:
    """Prequential disagreement within queries, the first of them included; the scale of all features is nothing to it."""
    path = research_data("ohsumed-letor3/QueryLevelNorm/S1.txt.gz")
    with gzip.open(path, "rt") as file:
        lines = [line.split("#")[0].split() for line in file]
    y = np.array([float(line[0]) for line in lines])
    groups = np.array([int(line[1][4:]) for line in lines])
    X = np.array([[float(part.split(":")[1]) for part in line[2:]] for line in lines])
    Z = (X - X.mean(0)) / np.maximum(X.std(0), 1e-9) * scale
    scores = PairwiseRanker(seed=1).test_then_train(Z, y, group=groups.tolist())
    assert disagreement(scores, y, groups) < 0.41
