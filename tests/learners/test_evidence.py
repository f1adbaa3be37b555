"""Which of two priors `OrdinalLogit` has: the one under which the labels were likelier."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stream_rank import OrdinalLogit
from stream_rank.checkpoint.model_file import state_digest
from tests.learners.conftest import dicts

Array = npt.NDArray[Any]


def _parameters(model: OrdinalLogit) -> tuple[Array, Array]:
    memory = model._model.memory
    return memory["weights"][: len(model.weights)], memory["thresholds"]


@pytest.mark.parametrize(("strength", "chosen"), [(0.2, 1.0), (12.0, 0.01)])
def test_the_prior_by_which_labels_were_likelier_leads(strength: float, chosen: float) -> None:
    """Each of the beliefs is that of a learner which was told; the evidence is what these had said of the labels."""
    X = np.random.default_rng(4).normal(size=(150, 30))
    noise = np.random.default_rng(5).logistic(size=len(X))
    y = np.searchsorted([-1.0, 1.0], strength * X @ np.full(30, 30**-0.5) + noise) + 1
    found, ahead = OrdinalLogit(3), []
    told = {prior: OrdinalLogit(3, regularization=prior) for prior in (0.01, 1.0)}
    logs = dict.fromkeys(told, 0.0)
    for turn, (x, rank) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        for prior, model in told.items():
            # what is uncertain about weights that nobody met is in no prediction
            logs[prior] += float(np.log(model.predict_proba_one(x)[rank])) if turn else 0.0
            model.learn_one(x, rank)
        found.learn_one(x, rank)
        odds, leader = found._model.memory["evidence"][0], found._model.memory["parameters"][0]
        ahead.append(odds if leader == 100.0 else -odds)
        if turn in (10, 20):
            assert ahead[0] - ahead[turn] == pytest.approx(logs[0.01] - logs[1.0], abs=1e-6)
    for mine, theirs in zip(_parameters(found), _parameters(told[chosen]), strict=True):
        assert np.array_equal(mine, theirs)


def test_pairs_are_evidence_too() -> None:
    X = np.random.default_rng(6).normal(size=(60, 20))
    signs = np.sign(X[:, 0])  # certain from one feature: weights go far
    found, told = OrdinalLogit(2), OrdinalLogit(2, regularization=0.01)
    for x, sign in zip(X, signs.tolist(), strict=True):
        for model in (found, told):
            model.learn_pair(dict(enumerate(sign * x)), {0: 0.0})
    assert np.array_equal(_parameters(found)[0], _parameters(told)[0])
    assert found._model.memory["evidence"][0] < -1.0


def test_a_belief_without_hope_is_given_up_and_one_that_forgets_keeps_both() -> None:
    X = np.random.default_rng(7).normal(size=(400, 5))
    y = (X[:, 0] > 0) + 1
    for forgetting, riding in ((1.0, 0.0), (0.99, 1.0)):
        model = OrdinalLogit(2, forgetting=forgetting)
        model.learn_many(X, y)
        assert model._model.memory["evidence"][1] == riding
        assert model._model.memory["parameters"][0] == 100.0


@pytest.mark.parametrize("precision", ["full", "diagonal"])
def test_of_two_beliefs_that_agree_one_is_given_up(precision: Any) -> None:
    """Of few features that say little, the evidence of neither is ever beyond hope; when it is given up depends on events alone."""
    coins = np.random.default_rng(3)
    X = coins.normal(size=(1_500, 3))
    y = 1 + (X[:, 0] + coins.logistic(size=1_500) > 0)
    whole, parts = (OrdinalLogit(n_ranks=2, precision=precision) for _ in range(2))
    whole.learn_many(X[:400], y[:400])
    assert whole._model.memory["evidence"][1] == 1
    whole.learn_many(X[400:], y[400:])
    assert whole._model.memory["evidence"][0] > -30
    assert whole._model.memory["evidence"][1] == 0
    for first in range(0, 1_500, 37):
        parts.learn_many(X[first : first + 37], y[first : first + 37])
    assert state_digest(parts) == state_digest(whole)
