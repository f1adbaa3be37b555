"""A committee: its weights, its bound, and that it is its members."""

from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_rank import (
    Hedge,
    OAPStream,
    OrdinalLogit,
    PRank,
    RandomFourierFeatures,
    Scale,
    load,
    save,
)
from stream_rank.committees.votes import Votes
from stream_rank.errors import LabelError, SnapshotError


def made(n_ranks: int | None = 5) -> Hedge:
    line, curve = OrdinalLogit(n_ranks), OrdinalLogit(n_ranks)
    waves = RandomFourierFeatures(n_components=20, seed=1)
    return Hedge([Scale() | line, Scale() | waves | curve, PRank(n_ranks)])


def streams(n_events: int, n_ranks: int) -> dict[str, tuple[Any, Any]]:
    """Predictions of four members, and labels: by chance, one good member, and one that makes the leader change all the time."""
    generator = np.random.default_rng(0)
    chance = generator.integers(1, n_ranks + 1, (4, n_events)).astype(float)
    labels = generator.integers(1, n_ranks + 1, n_events).astype(float)
    good = chance.copy()
    good[2] = labels
    turns = np.tile(labels, (4, 1))
    behind = np.where(labels > n_ranks / 2, 1.0, float(n_ranks))
    for event in range(n_events):
        turns[event % 2, event] = behind[event]
        turns[2:, event] = behind[event]
    return {"chance": (chance, labels), "good": (good, labels), "turns": (turns, labels)}


@pytest.mark.parametrize("stream", ["chance", "good", "turns"])
def test_the_loss_is_within_the_bound_and_weights_are_what_they_are_said_to_be(stream: str) -> None:
    n_events, n_ranks = 600, 6
    ranks, labels = streams(n_events, n_ranks)[stream]
    votes, whole, drawn, lost = Votes(4), Votes(4), 0.0, 0.0
    losses = np.abs(ranks - labels) / (n_ranks - 1)
    shares = np.zeros((4, n_events, n_ranks))
    for member, row in enumerate(ranks.astype(int)):
        shares[member, np.arange(n_events), row - 1] = 1.0
    for event in range(n_events):
        before, rate = losses[:, :event].sum(axis=1), sqrt(8 * log(4) / (event + 1))
        expected = np.array([exp(-rate * (loss - before.min())) for loss in before])
        weights = np.array(votes.weights)
        assert weights == pytest.approx(expected / expected.sum(), rel=1e-9)
        one = slice(event, event + 1)
        given = shares[:, one], ranks[:, one], labels[one], np.ones(1, np.bool_)
        (found,), _ = votes.pool(*given)
        mean, off = weights @ losses[:, event], abs(found - labels[event]) / (n_ranks - 1)
        assert off <= 2 * mean + 1e-12  # the median's loss
        drawn, lost = drawn + mean, lost + off
        bound = losses[:, : event + 1].sum(axis=1).min() + sqrt(2 * (event + 1) * log(4))
        assert drawn <= bound + sqrt(log(4) / 8)
    whole.pool(shares, ranks, labels, np.ones(n_events, np.bool_))
    assert whole.losses.tolist() == votes.losses.tolist()
    assert lost <= 2 * drawn


def test_many_is_one_to_the_bit_and_members_are_as_alone() -> None:
    X, y = OAPStream(seed=1).arrays(300)
    one, many, alone = made(), made(), Scale() | OrdinalLogit(5)
    found = [*many.test_then_train(X[:17], y[:17]), *many.test_then_train(X[17:], y[17:])]
    expected = []
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        expected.append(one.predict_one(dict(enumerate(x))))
        one.learn_one(dict(enumerate(x)), label)
        alone.learn_one(dict(enumerate(x)), label)
    assert found == expected
    assert one.weights == many.weights
    assert one.learners[0]["OrdinalLogit"].weights == alone["OrdinalLogit"].weights
    proba = [list(one.predict_proba_one(dict(enumerate(x))).values()) for x in X[:5].tolist()]
    assert many.predict_proba_many(X[:5]).tolist() == proba
    assert np.sum(proba, axis=1) == pytest.approx(np.ones(5))


def test_the_pool_is_the_mean_of_the_members_by_their_weights() -> None:
    model, stream = made(), list(OAPStream(seed=2).take(60))
    for x, y in stream:
        model.learn_one(x, y)
    x = stream[0][0]
    first, second, third = model.learners
    mine = [*(each.predict_proba_one(x) for each in (first, second)), {third.predict_one(x): 1.0}]
    expected = {
        rank: sum(w * each.get(rank, 0.0) for w, each in zip(model.weights, mine, strict=True))
        for rank in range(1, 6)
    }
    assert model.predict_proba_one(x) == pytest.approx(expected)
    below = np.cumsum(list(expected.values()))
    assert model.predict_one(x) == 1 + int((below <= 0.5).sum())


def test_labels_are_discovered() -> None:
    X, y = OAPStream(seed=1).arrays(120)
    words = ["abcde"[label - 1] for label in y.tolist()]
    one, many = made(None), made(None)
    found = many.test_then_train(X, words)
    assert found[0] is None
    told = made()
    told.learn_many(X, y)
    for x, word in zip(X.tolist(), words, strict=True):
        one.learn_one(dict(enumerate(x)), word)
    assert one.weights == many.weights
    assert many.labels == list("abcde")
    with pytest.raises(LabelError):
        many.learn_one({0: 1.0}, 3)
    assert many.n_events == one.n_events


def test_preferences_are_pooled_and_members_without_have_no_say() -> None:
    model = Hedge([Scale() | OrdinalLogit(3), OrdinalLogit(3), PRank(3)])
    for turn in range(40):
        model.learn_pair({"a": 2.0 + turn % 3}, {"a": float(turn % 2)})
    proba = model.prefer_proba_one({"a": 2.0}, {"a": 0.0})
    assert proba[1] > 0.8
    assert sum(proba.values()) == pytest.approx(1.0)
    assert model.prefer_one({"a": 0.0}, {"a": 2.0}) == -1
    votes, nobody = Votes(2), np.array([[np.nan], [1.0]])
    shares = np.array([[[np.nan] * 3], [[0.7, 0.1, 0.2]]])
    assert votes.pool_pairs(nobody, shares, np.ones(1), True).tolist() == [[0.7, 0.1, 0.2]]
    assert votes.pool_pairs(-nobody, shares, np.ones(1), True).tolist() == [[0.7, 0.1, 0.2]]
    assert votes.losses.tolist() == [1.0, 1.0]  # whoever sleeps loses what the others do


def test_it_is_saved_with_its_members(tmp_path: Path) -> None:
    model, file = made(), str(tmp_path / "model.safetensors")
    stream = list(OAPStream(seed=2).take(80))
    for x, y in stream:
        model.learn_one(x, y)
    save(model, file)
    again = load(file)
    for x, y in stream:
        assert again.predict_proba_one(x) == model.predict_proba_one(x)
        again.learn_one(x, y)
        model.learn_one(x, y)
    assert again.weights == model.weights
    model.votes.losses[:] = np.nan
    save(model, file)
    with pytest.raises(SnapshotError, match="lost more"):
        load(file)


@pytest.mark.parametrize(
    ("learners", "words"),
    [
        ([], "needs learners"),
        ([Scale()], "learners of ranks"),
        ([PRank(3), PRank(4)], "different numbers"),
    ],
)
def test_what_is_no_committee(learners: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Hedge(learners)
    learner = PRank(3)
    with pytest.raises(ValueError, match="twice"):
        Hedge([learner, Scale() | learner])
