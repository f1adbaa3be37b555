"""The engine against the papers' algorithms, written out."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank import OAPBPM, OAPVP, AveragedPRank, OAPBagg, PRank, VotedPRank
from tests.learners import oracle
from tests.learners.conftest import paper_events


@pytest.mark.parametrize("sampling", [0.3, 0.9, 1.0])
def test_ensembles_are_the_papers_algorithm_2(sampling: float) -> None:
    family = oracle.Family(5, 70, sampling, key=9)
    bpm, bagg, vp = (make(5, 70, sampling, seed=9) for make in (OAPBPM, OAPBagg, OAPVP))
    for x, y in paper_events(400):
        assert bpm.predict_one(x) == family.bpm(x)
        assert bagg.predict_one(x) == oracle.rounded(family.bagg(x))
        assert vp.predict_one(x) == oracle.rounded(family.vp(x))
        assert bpm.vote_one(x) == pytest.approx(family.bagg(x))
        assert bagg.vote_one(x) == pytest.approx(family.bagg(x))
        assert vp.vote_one(x) == pytest.approx(family.vp(x))
        for model in (family, bpm, bagg, vp):
            model.learn_one(x, y) if hasattr(model, "learn_one") else model.learn(x, y)
    mean = family.mean()
    for model in (bpm, bagg):
        assert model.weights == pytest.approx({n: w / 70 for n, w in mean.w.items()})
        assert model.thresholds == pytest.approx([c / 70 for c in mean.c])


def test_prank_is_algorithm_1() -> None:
    model, plain = PRank(5), oracle.Perceptron(5)
    for x, y in paper_events(1500):
        assert model.predict_one(x) == plain.rank(x)
        assert model.utility_one(x) == plain.score(x)
        model.learn_one(x, y)
        plain.learn(x, y)
        assert model.thresholds == plain.c
    assert model.weights == plain.w


def test_averaged_prank_is_the_mean_of_all_rounds() -> None:
    model, plain = AveragedPRank(5, plain=True), oracle.Averaged(5)
    for x, y in paper_events(800):
        assert model.predict_one(x) == plain.rank(x)
        model.learn_one(x, y)
        plain.learn(x, y)
    assert model.weights == pytest.approx({n: w / 800 for n, w in plain.sum.w.items()})
    assert model.thresholds == pytest.approx([c / 800 for c in plain.sum.c])


def test_averaged_prank_of_features_that_are_always_there_is_the_plain_mean() -> None:
    model, plain = AveragedPRank(5), AveragedPRank(5, plain=True)
    for x, y in paper_events(800):
        if model._model.events == 0:
            x = {name: value or 1.0 for name, value in x.items()}
        assert model.predict_one(x) == plain.predict_one(x)
        assert model.utility_one(x) == plain.utility_one(x)
        model.learn_one(x, y)
        plain.learn_one(x, y)
    assert model.weights == plain.weights
    assert model.thresholds == plain.thresholds


@pytest.mark.parametrize("most", [1, 2, 20, 1000])
def test_voted_prank_keeps_the_rules_that_survived_longest(most: int) -> None:
    model, plain = VotedPRank(5, most), oracle.Voted(5, most)
    for x, y in paper_events(600):
        assert model.predict_one(x) == oracle.rounded(plain.vote(x))
        assert model.vote_one(x) == pytest.approx(plain.vote(x))
        model.learn_one(x, y)
        plain.learn(x, y)
    assert len(plain.slots) <= most


halves = st.integers(-8, 8).map(lambda n: n / 2)


@settings(max_examples=60)
@given(
    events=st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abcde"), halves), st.integers(1, 4)),
        max_size=60,
    ),
    n_members=st.integers(1, 9),
    sampling=st.sampled_from([0.2, 0.5, 1.0]),
)
def test_any_stream_with_ties(events: list[Any], n_members: int, sampling: float) -> None:
    """Few values, so scores meet thresholds often; features come and go."""
    family = oracle.Family(4, n_members, sampling, key=1)
    model = OAPBPM(4, n_members, sampling, seed=1)
    single, plain = PRank(4), oracle.Perceptron(4)
    for x, y in events:
        assert model.predict_one(x) == family.bpm(x)
        assert single.predict_one(x) == plain.rank(x)
        family.learn(x, y)
        model.learn_one(x, y)
        plain.learn(x, y)
        single.learn_one(x, y)
        assert single.thresholds == plain.c == sorted(plain.c)


@settings(max_examples=60)
@given(
    events=st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abcdefghijkl"), halves), st.integers(1, 4)),
        min_size=1,
        max_size=60,
    ),
    dtype=st.sampled_from(["float64", "float32"]),
)
def test_averaged_prank_averages_late_features_over_their_own_rounds(
    events: list[Any], dtype: str
) -> None:
    model, plain = AveragedPRank(4, dtype=dtype), oracle.Present(4)
    beginning = [({"a": number / 2, "b": 1.0}, 1 + number % 4) for number in range(9)]
    for x, y in beginning + events:
        model.learn_one(x, y)
        plain.learn(x, y)
        weights = plain.weights()
        expected = {name: weights.get(name, 0.0) for name in model.weights}
        assert model.weights == pytest.approx(expected)
        assert model.thresholds == pytest.approx(plain.thresholds())
        utility = sum(value * weights.get(name, 0.0) for name, value in x.items())
        assert model.utility_one(x) == pytest.approx(utility, abs=1e-9)


def test_a_late_feature_is_not_drawn_to_zero() -> None:
    """The rule of a feature that came after 1,000 rounds is as good after ten rounds as if it had come first."""
    models = [AveragedPRank(2), AveragedPRank(2, plain=True)]
    for model in models:
        for place in range(1000):
            model.learn_one({"a": 1.0 + place % 2, "one": 1.0}, 1 + place % 2)
        for _ in range(10):
            model.learn_one({"late": 1.0}, 2)
    own, plain = (model.weights["late"] for model in models)
    assert own >= 1.0
    assert abs(plain) < 0.05


def test_ties_count_as_mistakes_only_in_a_wrong_round() -> None:
    """At the start every score ties with every threshold, and the prediction is the highest rank."""
    right = PRank(3)
    right.learn_one({"a": 1.0}, 3)  # predicted 3: all ties, no mistake
    assert right.thresholds == [0.0, 0.0]
    assert right.weights == {"a": 0.0}

    low = PRank(3)
    low.learn_one({"a": 1.0}, 1)  # both thresholds are on the wrong side
    assert low.thresholds == [1.0, 1.0]
    assert low.weights == {"a": -2.0}

    middle = PRank(3)
    middle.learn_one(
        {"a": 1.0}, 2
    )  # c(1) ties on the right side and moves too: the round was wrong
    assert middle.thresholds == [-1.0, 1.0]
    assert middle.weights == {"a": 0.0}
