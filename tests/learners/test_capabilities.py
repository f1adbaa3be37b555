"""What learners tell about themselves, against what they do."""

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from river import base

from stream_rank import (
    OAPBPM,
    OAPVP,
    FeatureError,
    Gaussian,
    OnlineMPRank,
    PRank,
    RecursiveMPRank,
    SnapshotError,
    VotedPRank,
    WidrowHoff,
)
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.base.state import State, digest_of
from stream_rank.learners.catalogue import name_of
from tests.learners.conftest import LEARNERS, Make, dicts, events

N_EVENTS = 40


def taught(make: Make) -> Any:
    X, y = events(N_EVENTS)
    model = make(n_ranks=5)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        model.learn_one(x, label)
    return model


def told(model: Any) -> dict[str, Any]:
    """All that can be asked, in a form that can be compared."""
    state = model.dump()
    return {
        "predicts": model.predicts,
        "limits": model.limits,
        "learns": (model.learns_groups, model.learns_preferences, model.has_votes),
        "parameters": model.parameters,
        "features": model.features,
        "numbers": (model.n_events, model.n_updates),
        "rule": model.rule(),
        "state": digest_of(state.metadata, state.arrays),
    }


@pytest.mark.parametrize("name", LEARNERS)
def test_copies_tell_the_same(name: str) -> None:
    model = taught(LEARNERS[name])
    expected = told(model)
    for other in (
        copy.copy(model),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        learner_from(model.dump()),
    ):
        assert told(other) == expected
    assert told(model) == expected  # asking leaves it as it is


@pytest.mark.parametrize("name", LEARNERS)
def test_clones_can_the_same_and_know_nothing(name: str) -> None:
    model = taught(LEARNERS[name])
    clone = model.clone()
    assert told(clone) == told(LEARNERS[name](n_ranks=5))
    for kept in ("predicts", "limits", "learns", "parameters"):
        assert told(clone)[kept] == told(model)[kept]
    assert (clone.features, clone.n_events, clone.n_updates or 0) == ([], 0, 0)
    assert not any(clone.rule().weights.values())
    assert clone.rule().support == []


def test_what_it_predicts(learner: Make) -> None:
    model = taught(learner)
    found = model.predict_one({0: 0.5})
    if model.predicts == "ranks":
        assert found in range(1, 6)
        assert isinstance(found, int)
    else:
        assert isinstance(found, float)
        assert isinstance(model, base.Regressor)


def test_widrow_hoff_predicts_what_it_was_told_to() -> None:
    assert WidrowHoff().predicts == "scores"
    assert WidrowHoff(n_ranks=3).predicts == "ranks"
    assert WidrowHoff(n_ranks=3).rule().thresholds == [1.5, 2.5]
    assert WidrowHoff(n_ranks=3).rule().labels == [1, 2, 3]
    assert WidrowHoff().rule().labels == WidrowHoff().rule().thresholds == []


def test_limits_are_where_events_begin_to_be_refused(learner: Make) -> None:
    model = learner(n_ranks=5)
    largest, longest, most = model.limits
    bound = min(largest, math.sqrt(longest))
    model.learn_one({"a": 0.999 * bound}, 1)
    for x in ({"a": 1.001 * largest}, {"a": 0.9 * bound, "b": 0.9 * bound}):
        if sum(value * value for value in x.values()) > longest or max(x.values()) > largest:
            with pytest.raises(FeatureError):
                model.learn_one(x, 1)
    assert model.n_events == 1
    assert most > 1_000


def test_the_number_of_features_is_limited() -> None:
    model = RecursiveMPRank()
    most = int(model.limits.max_features)
    with pytest.raises(FeatureError, match="at most"):
        model.learn_one(dict.fromkeys(range(most + 1), 1.0), 1.0)
    assert model.features == []


def test_features_come_in_the_order_of_their_slots(learner: Make) -> None:
    model = learner(n_ranks=5)
    model.learn_one({"b": 1.0, "a": 0.5}, 1)
    model.learn_one({"c": 1.0, 7: 0.5}, 3)
    assert model.features == ["a", "b", 7, "c"]
    model.features.clear()
    assert len(model.features) == 4


def test_events_and_updates_are_counted(learner: Make) -> None:
    model = taught(learner)
    assert model.n_events == N_EVENTS
    if model.n_updates is not None:
        assert model.n_updates > 0
    assert (model.n_updates is None) == (not isinstance(model, base.Classifier))


def test_groups_and_preferences_are_learned_where_it_says_so(learner: Make) -> None:
    model = taught(learner)
    if model.learns_groups:
        model.learn_one({0: 1.0}, 1, group="a")
    else:
        with pytest.raises(TypeError, match="group"):
            model.learn_one({0: 1.0}, 1, group="a")
    assert model.learns_preferences
    model.learn_pair({0: 1.0}, {0: 0.0})
    assert model.has_votes == hasattr(model, "vote_one")


def scored(rule: Any, kernel: Any, x: dict[Any, float]) -> Any:
    """The score by the rule alone."""
    if kernel is None:
        return rule.bias + sum(rule.weights.get(name, 0.0) * value for name, value in x.items())
    score = rule.bias
    for vector, coefficient in rule.support:
        names = {**vector, **x}
        if "Gaussian" in kernel:
            square = sum((vector.get(n, 0.0) - x.get(n, 0.0)) ** 2 for n in names)
            value = math.exp(-square / (2 * kernel["Gaussian"]["width"] ** 2))
        else:
            product = sum(vector.get(n, 0.0) * x.get(n, 0.0) for n in names)
            given = kernel["Polynomial"]
            value = (product + given["offset"]) ** given["degree"]
        score += coefficient * value
    return score


@pytest.mark.parametrize("name", LEARNERS)
def test_rules_predict_as_learners_do(name: str) -> None:
    model = taught(LEARNERS[name])
    rule, kernel = model.rule(), model.parameters.get("kernel")
    if kernel == {"Gaussian": {"width": None}}:
        kernel = {"Gaussian": {"width": model.kernel_width}}
    assert rule.exact == (
        name.split("-")[0] not in ("OAPBagg", "OAPVP", "VotedPRank", "NearestRanks")
    )
    assert bool(rule.support) == (kernel is not None)
    assert bool(rule.weights) == (kernel is None)
    assert len(rule.labels) == (5 if model.predicts == "ranks" else 0)
    tolerance = 1e-4 if "float32" in name else 1e-7
    if name == "NearestRanks":
        return  # it has no weights
    for x in dicts(events(30, seed=9)[0]):
        score = scored(rule, kernel, x)
        assert score == pytest.approx(model.utility_one(x), rel=tolerance, abs=tolerance)
        if model.predicts == "scores":
            assert score == pytest.approx(model.predict_one(x), rel=tolerance, abs=tolerance)
        elif rule.exact and min(abs(score - edge) for edge in rule.thresholds) > tolerance:
            rank = sum(edge <= score for edge in rule.thresholds)
            assert model.predict_one(x) == rule.labels[rank]


def test_insight_is_what_the_methods_say(learner: Make) -> None:
    model = taught(learner)
    X, _ = events(20, seed=4)
    alone, seen = model.insight(), model.insight(X)
    rule = model.rule()
    assert alone.scores is alone.shares is None
    assert seen[:4] == alone[:4] == (rule.weights, rule.thresholds, model.n_updates, rule.labels)
    if model.n_updates is None:
        assert seen.scores is None
    else:
        assert np.array_equal(seen.scores, model.utility_many(X))
    if model.has_votes:
        assert np.array_equal(seen.shares, model.predict_proba_many(X))
    else:
        assert seen.shares is None


def test_discovered_labels_are_part_of_rule_and_state() -> None:
    model = OAPBPM(n_members=5, seed=1)
    assert model.insight(np.ones((2, 1))).scores is None  # nothing is known yet
    for number in range(30):
        model.learn_one({"a": number % 3 - 1.0}, ["bad", "fair", "good"][number % 3])
    assert model.rule().labels == model.dump().metadata["labels"] == ["bad", "fair", "good"]
    assert learner_from(model.dump()).rule() == model.rule()


def test_state_is_text_and_arrays_of_its_own(learner: Make) -> None:
    model = taught(learner)
    state = model.dump()
    assert isinstance(state, State)
    metadata = json.loads(json.dumps(state.metadata))
    assert metadata == state.metadata
    assert metadata["learner"] == name_of(type(model))
    before = {name: array.copy() for name, array in state.arrays.items()}
    twin: Any = learner_from(State(metadata, state.arrays))
    X, y = events(10, seed=5)
    twin.learn_many(X, y)
    model.learn_many(X, y)
    for name, array in before.items():
        assert np.array_equal(array, state.arrays[name]), name
    assert told(twin) == told(model)


def test_who_is_not_in_the_catalogue_cannot_be_kept() -> None:
    class Mine(PRank):
        """A learner of somebody else's."""

    with pytest.raises(SnapshotError, match="a Mine cannot be kept; the learners of stream-rank"):
        Mine().dump()


def test_rooms_are_made_by_each_part_or_refused() -> None:
    state = taught(LEARNERS["RecursiveMPRank"]).dump()
    for key, value, said in (
        ("features", "abc", "features are no list"),
        ("groups", {}, "groups are no list"),
        ("features", ["a", "a"], "a feature twice"),
        ("groups", [["a", 2]], "groups and their rows"),
        ("learner", "nobody", "nobody"),
    ):
        with pytest.raises(SnapshotError, match=said):
            learner_from(State({**state.metadata, key: value}, state.arrays))
    with pytest.raises(SnapshotError, match="memories"):
        learner_from(State(state.metadata, {f"x/{name}": a for name, a in state.arrays.items()}))


def test_kernels_show_their_support_in_the_rule_alone() -> None:
    for model in (PRank(3, Gaussian(1.0)), OnlineMPRank(kernel=Gaussian(1.0))):
        model.learn_one({"a": 1.0}, 1)
        assert model.insight().weights == {}
        assert model.rule().support == model.support != []


def test_members_vote_where_it_says_so() -> None:
    assert OAPVP(3).has_votes
    assert VotedPRank(3).has_votes
    assert OAPBPM(3).has_votes
    assert OAPBPM(3).rule().exact  # its mean decides
    assert not OAPVP(3).rule().exact
    assert not PRank(3).has_votes
