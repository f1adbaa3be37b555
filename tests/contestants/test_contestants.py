"""The package's learners and River's answer the same questions."""

from math import inf
from typing import Any

import numpy as np
import pytest
from river import dummy, linear_model

from stream_rank import OAPBPM, OnlineMPRank, PRank, RecursiveMPRank, WidrowHoff
from stream_rank.codec.limits import Limits
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.learner_spec import contestant_of
from stream_rank.contestants.limits import limits_of
from stream_rank.errors import ConfigError
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.tables.rows import Rows


def rows_of(x: dict[str, float]) -> Rows:
    """One event as rows of a stream."""
    place, count = np.zeros(1, np.int64), np.array([len(x)])
    values = np.array([*x.values()])
    return Rows([*x], place, count, np.arange(len(x)), values, count)


ASKED = [name for name in vars(Contestant) if not name.startswith("_")]


@pytest.mark.parametrize(
    ("model", "predicts", "groups", "preferences"),
    [
        (PRank(5), "ranks", False, True),
        (OAPBPM(5), "ranks", False, True),
        (WidrowHoff(5), "ranks", False, True),
        (WidrowHoff(), "scores", False, True),
        (OnlineMPRank(), "scores", True, True),
        (linear_model.LinearRegression(), "scores", False, False),
        (dummy.NoChangeClassifier(), "ranks", False, False),
    ],
)
def test_every_question_has_an_answer(
    model: Any, predicts: str, groups: bool, preferences: bool
) -> None:
    contestant = contestant_of("it", model, 5)
    for name in ASKED:
        assert hasattr(contestant, name), name
    assert contestant.predicts == predicts
    assert contestant.learns_groups == groups
    assert contestant.learns_preferences == preferences
    state, rule = contestant.state, contestant.rule()
    if isinstance(contestant.model, linear_model.LinearRegression | dummy.NoChangeClassifier):
        assert state is None
        assert (rule.weights, rule.exact, contestant.limits) == ({}, False, (inf, inf, inf))
    else:
        assert state is not None
        assert learner_from(state.dump()).limits == contestant.limits
        assert rule.exact
    one, other = rows_of({"a": 1.0}), rows_of({"a": 0.0})
    (lead,), (proba,) = contestant.test_then_train_pairs(one, other, np.ones(1))
    assert (lead == lead) == preferences
    assert proba.tolist() == [0.5, 0.0, 0.5] if preferences else np.isnan(proba).all()
    assert contestant.insight().weights.keys() == contestant.rule().weights.keys()


def test_limits_are_those_of_the_narrowest() -> None:
    def found(*models: Any) -> Limits:
        contestants = [contestant_of(str(i), model, 5) for i, model in enumerate(models)]
        limits: Limits = limits_of(contestants, 5, 100_000, delayed=False)
        return limits

    river = linear_model.LinearRegression()
    assert found(river) == Limits(n_ranks=5, grouped=True)
    assert found(PRank(5)).largest == PRank(5).limits.largest
    assert found(PRank(5), river).largest == PRank(5).limits.largest
    narrow = found(PRank(5, dtype="float32"), RecursiveMPRank(), river)
    assert narrow.largest == PRank(5, dtype="float32").limits.largest
    assert narrow.max_features == RecursiveMPRank().limits.max_features
    assert narrow.longest == np.inf
    assert (found(PRank(5)).grouped, narrow.grouped) == (False, True)


def test_a_classifier_of_rivers_needs_ranks() -> None:
    with pytest.raises(ConfigError, match="how many ranks"):
        contestant_of("it", dummy.NoChangeClassifier(), None)
    with pytest.raises(ConfigError, match="several classes"):
        contestant_of("it", linear_model.LogisticRegression(), 5)
