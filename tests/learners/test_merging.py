"""One learner out of several that learned apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stream_rank
from stream_rank import (
    OAPBPM,
    OAPVP,
    AveragedPRank,
    Gaussian,
    MergeError,
    NearestRanks,
    Neighbours,
    OAPBagg,
    OAPStream,
    OnlineMPRank,
    OrdinalFactors,
    PairwiseRanker,
    PRank,
    RecursiveMPRank,
    Scale,
    VotedPRank,
    WidrowHoff,
    average,
)
from stream_rank.checkpoint.model_file import state_digest
from tests.learners.conftest import LEARNERS

NAMES = ["a", "b", "c", "d", "e"]
FEATURES = st.dictionaries(st.sampled_from(NAMES), st.integers(-8, 8), max_size=4)
"""Of whole numbers the sums of rules are exact, and so are averages but for the last step."""
RATINGS = st.lists(st.tuples(FEATURES, st.sampled_from("pqrst")), max_size=30)
SHARDS = st.lists(RATINGS, min_size=1, max_size=4)


def memory_of(model: Any) -> Any:
    return model._model.memory


def learned(make: Any, shard: Sequence[tuple[Any, ...]]) -> Any:
    model = make()
    for x, y, *group in shard:
        model.learn_one(x, y, *group)
    return model


@pytest.mark.parametrize("name", LEARNERS)
def test_one_alone_is_itself(name: str) -> None:
    model = LEARNERS[name](n_ranks=5)
    X, y = OAPStream(seed=1).arrays(200)
    model.learn_many(X, y)
    one = average([model])
    assert one is not model
    assert state_digest(one) == state_digest(model)


@given(SHARDS)
@settings(max_examples=60)
def test_features_and_labels_are_those_of_all(shards: list[Any]) -> None:
    models = [learned(PRank, shard) for shard in shards]
    before = [state_digest(model) for model in models]
    one = average(models)
    assert one.features == list(dict.fromkeys(name for each in models for name in each.features))
    assert one.labels == sorted({label for each in models for label in each.labels})
    assert one.n_events == sum(map(len, shards))
    assert one.thresholds == sorted(one.thresholds)
    assert [state_digest(model) for model in models] == before  # which stay as they are
    for name, weight in one.weights.items():
        counts = [each.n_events * (name in each.features) for each in models]
        mean = sum(
            count * each.weights.get(name, 0.0) for count, each in zip(counts, models, strict=True)
        )
        assert weight == pytest.approx(mean / sum(counts), rel=1e-14, abs=1e-14)


@given(SHARDS, st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_order_moves_features_and_last_digits_alone(shards: list[Any], random: Any) -> None:
    models = [learned(AveragedPRank, shard) for shard in shards]
    one = average(models)
    random.shuffle(models)
    other = average(models)
    assert other.labels == one.labels
    assert other.thresholds == pytest.approx(one.thresholds, rel=1e-13, abs=1e-13)
    assert other.weights == pytest.approx(one.weights, rel=1e-13, abs=1e-13)


def test_a_label_takes_its_place_as_when_it_is_discovered() -> None:
    low, high = learned(PRank, [({"a": 1.0}, 1), ({"a": 2.0}, 2)] * 3), PRank()
    for y in (3, 1, 3):
        high.learn_one({"a": float(y)}, y)
    one = average([low, high])
    for model, label in ((low, 3), (high, 2)):
        model._insert(label)
    assert one.labels == [1, 2, 3]
    expected = [(6 * a + 3 * b) / 9 for a, b in zip(low.thresholds, high.thresholds, strict=True)]
    assert one.thresholds == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("plain", [True, False])
def test_sums_over_rounds_add_up(plain: bool) -> None:
    """Before and after it learns on, the mean over rounds is that of all rounds that any had."""
    X, y = OAPStream(seed=2).arrays(90)
    models = [AveragedPRank(n_ranks=5, plain=plain) for _ in range(2)]
    models[0].learn_many(X[:60], y[:60])
    models[1].learn_many(X[60:], y[60:])
    one = average(models)
    for at in range(2):
        found = np.array([*one.weights.values(), *one.thresholds])
        parts = [np.array([*each.weights.values(), *each.thresholds]) for each in models]
        if at == 0:
            np.testing.assert_allclose(found, (60 * parts[0] + 30 * parts[1]) / 90, rtol=1e-12)
            current = np.array(memory_of(one)["weights"][0, : len(one.features)])
            one.learn_one(dict.fromkeys(one.features, 0.0), one.labels[0])
        else:  # nothing moves the weights where all values are 0: one round more of what they were
            np.testing.assert_allclose(
                found[: len(current)],
                (60 * parts[0] + 30 * parts[1])[: len(current)] / 91 + current / 91,
                rtol=1e-12,
            )


def test_a_feature_that_came_late_is_averaged_over_the_rounds_that_it_was_in() -> None:
    def shard(count: int, every: int) -> AveragedPRank:
        model = AveragedPRank(n_ranks=3)
        for event in range(count):
            late = {"late": 1.0 + event % 3} if event > 10 and event % every == 0 else {}
            model.learn_one({"one": float(event % 5 - 2), **late}, 1 + event % 3)
        return model

    often, seldom, never = shard(200, 2), shard(100, 10), shard(300, 1000)
    rounds = [float(memory_of(each)["clocks"][1]) for each in (often, seldom)]
    one = average([often, seldom, never])
    mean = rounds[0] * often.weights["late"] + rounds[1] * seldom.weights["late"]
    assert never.features == ["one"]
    assert min(rounds) > 1
    assert one.weights["late"] == pytest.approx(mean / sum(rounds), rel=1e-12)
    assert memory_of(one)["clocks"][1] == sum(rounds)


@pytest.mark.parametrize("kind", [OAPBPM, OAPBagg, OAPVP])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_members_of_one_number_are_averaged(kind: Any, dtype: str) -> None:
    models = [kind(n_ranks=5, n_members=12, seed=1, dtype=dtype) for _ in range(2)]
    X, y = OAPStream(seed=3).arrays(400)
    models[0].learn_many(X[:300], y[:300])
    models[1].learn_many(X[300:], y[300:])
    one = average(models)
    first, second, memory = (memory_of(each) for each in (*models, one))
    width = len(one.features)
    for name in ("weights", "mean"):
        mean = 0.75 * first[name].astype(float) + 0.25 * second[name].astype(float)
        np.testing.assert_allclose(memory[name][..., :width], mean[..., :width], rtol=1e-6)
    np.testing.assert_array_equal(memory["correct"], first["correct"] + second["correct"])
    assert one.n_updates == models[0].n_updates + models[1].n_updates


def test_an_empty_shard_changes_nothing() -> None:
    for name in ("PRank", "AveragedPRank", "OAPBPM", "OAPVP", "WidrowHoff", "RecursiveMPRank"):
        model, empty = (LEARNERS[name](n_ranks=5) for _ in range(2))
        X, y = OAPStream(seed=1).arrays(100)
        model.learn_many(X, y)
        assert state_digest(average([model, empty])) == state_digest(model)
        assert average([empty, model]).predict_many(X).tolist() == model.predict_many(X).tolist()


EVENTS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(NAMES), st.floats(-4, 4, width=16), max_size=4),
        st.floats(-4, 4, width=16),
        st.sampled_from(["x", "y", "z", None]),
    ),
    max_size=25,
)


@pytest.mark.parametrize("C", [None, 10.0])
@given(shards=st.lists(EVENTS, min_size=1, max_size=3))
@settings(max_examples=40)
def test_recursive_mprank_is_the_one_that_saw_everything(
    C: float | None, shards: list[Any]
) -> None:
    """To rounding: with a regularization of 1, or m / 20, and values up to 4 the equations have a condition of some thousands.

    What it learns on from there is the same too, groups and their means included.
    """
    one = average([learned(lambda: RecursiveMPRank(C=C), shard) for shard in shards])
    whole = learned(lambda: RecursiveMPRank(C=C), [event for shard in shards for event in shard])
    for model in (one, whole):
        model.learn_pair({"a": 1.0, "new": 2.0}, {"b": 1.0}, 1.5)
    for _ in range(2):
        assert one.weights == pytest.approx(whole.weights, rel=1e-10, abs=1e-10)
        assert one.bias == pytest.approx(whole.bias, rel=1e-10, abs=1e-10)
        assert one.n_events == whole.n_events
        for model in (one, whole):
            for group in ("x", "y", "z", None):
                model.learn_one({"a": 1.0, "e": 2.0}, 3.0, group)


def test_where_groups_are_too_many_those_of_later_learners_stay() -> None:
    models = [RecursiveMPRank(max_groups=2) for _ in range(2)]
    for model, groups in zip(models, ("ab", "cd"), strict=True):
        for number, group in enumerate(groups * 3):
            model.learn_one({"f": float(number % 4)}, float(number), group)
    one = average(models)
    assert {name for name, _ in one.described()["groups"]} == {"c", "d"}
    assert state_digest(stream_rank.average([one])) == state_digest(one)
    model = models[1]
    kept, rows = (dict(each.described()["groups"]) for each in (one, model))
    for group in "cd":
        for name in ("counts", "label_means"):
            assert memory_of(one)[name][kept[group]] == memory_of(model)[name][rows[group]]


def test_what_pairs_taught_of_sureness_is_averaged_by_pairs() -> None:
    models = [PRank(n_ranks=3) for _ in range(2)]
    for model, count in zip(models, (30, 10), strict=True):
        for pair in range(count):
            model.learn_pair({"a": 2.0 + pair % 3}, {"a": 1.0}, float(pair % 4 > 0))
    one = average(models)
    lead = [each.prefer_proba_one({"a": 2.0}, {"a": 1.0}) for each in (models[1], one, models[0])]
    assert sum(lead[1].values()) == pytest.approx(1.0)
    odds = [np.array(each.described()["odds"]) for each in (*models, one)]
    np.testing.assert_allclose(odds[2][2:], 0.75 * odds[0][2:] + 0.25 * odds[1][2:])
    np.testing.assert_array_equal(odds[2][:2], odds[0][:2] + odds[1][:2])


def test_eight_shards_are_as_good_as_one_that_saw_everything() -> None:
    """Behind what a learner gets in front of it by default; by seed, on 5,000 events that nobody learned."""
    for seed in (1, 2, 3):
        X, y = OAPStream(seed=seed, features="quadratic").arrays(45_000)
        models = [Scale() | stream_rank.Normalize() | OAPBPM(n_ranks=5, seed=1) for _ in range(9)]
        models[8].learn_many(X[:40_000], y[:40_000])
        for number, model in enumerate(models[:8]):
            model.learn_many(X[number:40_000:8], y[number:40_000:8])
        loss = [
            np.abs(model.predict_many(X[40_000:]) - y[40_000:]).mean()
            for model in (average(models[:8]), models[8])
        ]
        assert loss[0] <= 1.05 * loss[1]


def test_a_merged_learner_is_kept_and_learns_on(tmp_path: Any) -> None:
    X, y = OAPStream(seed=1).arrays(600)
    for name in ("AveragedPRank", "OAPBPM", "WidrowHoff", "RecursiveMPRank-C"):
        models = [LEARNERS[name](n_ranks=5) for _ in range(2)]
        for number, model in enumerate(models):
            model.learn_many(X[number:400:2], y[number:400:2])
        one = average(models)
        stream_rank.save(one, tmp_path / "model")
        other = stream_rank.load(tmp_path / "model")
        assert state_digest(other) == state_digest(one)
        for each in (one, other):
            each.learn_many(X[400:], y[400:])
        assert state_digest(other) == state_digest(one)


def pair_of(make: Any, **more: Any) -> list[Any]:
    models = [make(**more), make(**more)]
    for model in models:
        model.learn_one({"a": 1.0}, 1)
    return models


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([], "no learner to be averaged"),
        ([PRank(), OAPBPM(seed=1)], "learner 2 is a OAPBPM and learner 1 a PRank"),
        (
            [PRank(), PRank(), PRank(n_ranks=5)],
            "learner 3 has n_ranks=5 and learner 1 n_ranks=None",
        ),
        (
            [PRank(), PRank(update="romma")],
            "learner 2 has update='romma' and learner 1 update='perc",
        ),
        (
            [PRank(update="arow"), PRank()],
            "learner 2 has update='perceptron' and learner 1 update='a",
        ),
        ([PRank(dtype="float32"), PRank()], "learner 2 has dtype='float64'"),
        ([PRank(), Scale() | PRank()], "learner 2 is behind stages and learner 1 is not"),
        ([Scale() | PRank(), PRank()], "learner 1 is behind stages and learner 2 is not"),
        ([Scale(2.0) | PRank(), Scale() | PRank()], "stage 2 has width=5.0 and stage 1 width=2.0"),
        (
            [Scale() | PRank(), stream_rank.Normalize() | PRank()],
            "learner 2 is behind Normalize and learner 1 behind Scale",
        ),
        (
            [stream_rank.Hedge([PRank(n_ranks=3), PRank(n_ranks=3)])],
            "of committees, each member with those of its kind",
        ),
        (pair_of(VotedPRank), "VotedPRank: the rules of its past vote"),
        (pair_of(NearestRanks), "NearestRanks: it is no rule"),
        (
            pair_of(PRank, kernel=Gaussian(1.0)),
            "PRank: with a kernel it is made of support vectors",
        ),
        (pair_of(OnlineMPRank), "OnlineMPRank: its weights are those of the events that it keeps"),
        (pair_of(OnlineMPRank, kernel=Gaussian(1.0)), "OnlineMPRank: its weights are those"),
        (
            pair_of(OrdinalFactors),
            "OrdinalFactors: traits of users and items that were learned apart",
        ),
        (pair_of(lambda: Neighbours() | PRank()), "the references are the first users"),
        (pair_of(PairwiseRanker), "PairwiseRanker: it makes its pairs with the last events"),
        (pair_of(RecursiveMPRank, forgetting=0.9), "RecursiveMPRank: with `forgetting` an event"),
        (
            [learned(PRank, [({"a": 1.0}, "low")]), learned(PRank, [({"a": 1.0}, 3)])],
            "PRank: learner 2 knows labels of another kind",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(models: list[Any], words: str) -> None:
    with pytest.raises(MergeError, match=words.replace("(", r"\(")):
        average(models)


def test_no_more_features_than_a_learner_takes() -> None:
    models = [WidrowHoff(), WidrowHoff()]
    for number, model in enumerate(models):
        model.learn_one({f"{number}{i}": 1.0 for i in range(3)}, 1.0)
        model._model.most_features = 5
    with pytest.raises(MergeError, match="takes at most 5 features"):
        average(models)
