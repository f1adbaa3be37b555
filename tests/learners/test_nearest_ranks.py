"""The nearest events, against a slow and obvious twin."""

import numpy as np
import pytest

from stream_rank import NearestRanks
from tests.learners.conftest import dicts, events


def test_ranks_are_shared_out_by_distance_among_the_last_events() -> None:
    window, neighbors = 40, 6
    X, y = events(150, 9)  # of which eight features count
    model, kept = NearestRanks(5, neighbors, window, n_features=8), X[:, :8]
    for now, (x, label) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        found = list(model.predict_proba_one(x).values())
        first = max(0, now - window)
        expected = np.full(5, 0.5 / 5)
        if now:
            squared = ((kept[first:now] - kept[now]) ** 2).sum(axis=1)
            near = np.argsort(squared, kind="stable")[:neighbors]
            weights = 1 / (squared[near] + 1e-3 * (kept[:now] ** 2).sum() / now)
            for place, weight in zip(near, weights / weights.sum() * len(near), strict=True):
                expected[y[first + place] - 1] += weight
        expected /= expected.sum()
        assert found == pytest.approx(expected.tolist(), rel=1e-9)
        assert model.predict_one(x) == 1 + int((np.cumsum(found)[:4] <= 0.5).sum())
        model.learn_one(x, label)


def test_what_comes_again_gets_its_rank() -> None:
    X, _ = events(300)
    y = np.random.default_rng(5).integers(1, 6, 300)  # there is no rule
    model = NearestRanks(5)
    model.learn_many(X, y)
    assert (model.predict_many(X) == y).mean() > 0.99


def test_what_it_cannot_remember() -> None:
    model = NearestRanks(3)
    model.learn_many(*events(20, n_ranks=3))
    model._model.memory["ranks"][4] = 9
    with pytest.raises(ValueError, match="no rank"):
        model._model.resume()
    with pytest.raises(ValueError, match="at most"):
        NearestRanks(3, window=10_000_000)
