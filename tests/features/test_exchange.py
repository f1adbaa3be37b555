"""Stages whose features give their places to others: what goes out, what is kept, and names like those that stages make."""

from collections.abc import Callable
from typing import Any

import pytest

from stream_rank import Cross, Neighbours, Normalize, RandomFourierFeatures, Scale, TargetMean
from stream_rank.features.catalogue import stage_from, state_of
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.learners.base.state import digest_of

EVENTS: list[tuple[dict[str, Any], int]] = [
    ({"user": user, "n": 3.0 * i, "old": float(i % 5)}, 1 + i % 3)
    for i, user in enumerate(["ann", "bob", "ann", "eve"] * 5)
]
STAGES: dict[str, Callable[[], FeatureStage]] = {
    "scale": Scale,
    "target_mean": lambda: TargetMean(["user"]),
    "waves": lambda: RandomFourierFeatures(5, width=2.0, seed=1),
    "normalize": Normalize,
    "cross": lambda: Cross(["user*n"]),
}


def learned(stage: FeatureStage, without: str = "") -> FeatureStage:
    for x, y in EVENTS:
        stage.learn_one({name: value for name, value in x.items() if name != without}, y)
    return stage


@pytest.mark.parametrize("name", ["scale", "target_mean", "waves", "cross"])
def test_it_is_as_if_the_old_one_had_never_come(name: str) -> None:
    one, other = learned(STAGES[name]()), learned(STAGES[name](), without="old")
    assert one.exchange({"old": "new", "never": "too"}) == {"old": "new"}
    for x in ({"user": "ann", "n": 1.0, "new": 2.0}, {"new": 1.0, "n": 2.0, "user": "bob"}):
        for stage in (one, other):
            stage.learn_one(x, 2)
        for ask in (x, {"new": 0.5}, {"old": 0.5, "n": 1.0}):
            assert one.transform_one(ask) == pytest.approx(other.transform_one(ask), rel=1e-12)


@pytest.mark.parametrize("name", STAGES)
def test_what_was_exchanged_is_kept(name: str) -> None:
    one = learned(STAGES[name]())
    one.exchange({"user=ann": "user=new", "old": "user=other"})
    other = stage_from(state_of(one))
    for x in ({"user": "new", "n": 1.0}, {"user": "ann", "old": 2.0}, {"user": "other", "n": 3.0}):
        for stage in (one, other):
            stage.learn_one(x, 3)
        assert one.transform_one(x) == other.transform_one(x)
    assert one.features == other.features == ["n", "user=other", "user=new", *one.features[3:]]


def test_a_category_that_comes_instead_has_a_mean_of_its_own() -> None:
    stage = learned(TargetMean(["user"]))
    overall = stage.transform_one({"user": "never"})["mean(user)"]
    assert stage.transform_one({"user": "ann"})["mean(user)"] != overall
    assert stage.exchange({"user=ann": "word=x"}) == {"user=ann": "word=x"}
    assert stage.transform_one({"word": "x"})["mean(user)"] == overall
    assert stage.exchange({"word=x": "user=ann"}) == {"word=x": "user=ann"}
    assert stage.transform_one({"user": "ann"})["mean(user)"] == overall


def test_products_go_with_their_features() -> None:
    stage = Cross(["user*item"])
    stage.learn_one({"user": "ann", "item": "x"})
    stage.learn_one({"user": "bob", "item": "x"})
    assert stage.exchange({"user=ann": "user=new"}) == {
        "user=ann": "user=new",
        "user=ann*item=x": "user=new*item=x",
    }
    product = {"item=x": 1.0, "user=new": 1.0, "user=new*item=x": 1.0}
    assert stage.transform_one({"user": "new", "item": "x"}) == product
    assert "user=ann*item=x" not in stage.transform_one({"user": "ann", "item": "x"})
    stage.exchange({"item=x": "word=y"})  # of another field
    assert stage.transform_one({"user": "new", "word": "y"}) == {"user=new": 1.0, "word=y": 1.0}


def test_names_like_those_that_stages_make() -> None:
    """A name that goes out for two reasons stays as long as one of them does, and one that is there already is taken."""
    stage = Cross(["n*item"])
    stage.learn_one({"n": 2.0, "item": "x", "n*item=x": 5.0})
    assert stage.exchange({"n*item=x": "new"}) == {}  # the product is still called that
    assert stage.transform_one({"new": 2.0}) == {"new": 2.0}
    stage.learn_one({"n": 2.0, "item": "y", "n*item=z": 1.0})
    # the product of n and y gets the name of what comes in already, and nothing goes out where it was
    found = stage.exchange({"item=y": "item=z"})
    gone = found["n*item=y"]
    assert found == {"item=y": "item=z", "n*item=y": gone}
    assert isinstance(gone, int)
    assert gone < 0
    x = {"n": 2.0, "item": "z", "n*item=z": 3.0}
    assert stage.transform_one(x) == {"n": 2.0, "item=z": 1.0, "n*item=z": 5.0}
    assert stage_from(state_of(stage)).transform_one(x) == stage.transform_one(x)
    assert digest_of(*state_of(stage_from(state_of(stage)))) == digest_of(*state_of(stage))


def test_a_reference_that_comes_instead_has_given_nothing() -> None:
    stage = Neighbours(["user", "item"], n=2)
    for user, item, stars in (("ann", "up", 5), ("bob", "up", 1), ("ann", "heat", 4)):
        stage.learn_one({"user": user, "item": item}, stars)
    assert stage.exchange({"user=ann": "user=new", "item=heat": "item=next"}) == {
        "by(user=ann)": "by(user=new)"
    }
    other = stage_from(state_of(stage))
    for each in (stage, other):
        assert each.transform_one({"user": "cem", "item": "up"}) == {"by(user=bob)": -1.0}
        each.learn_one({"user": "new", "item": "next"}, 5)
        assert each.transform_one({"item": "next"}) == {"by(user=new)": 1.0}
    assert digest_of(*state_of(stage)) == digest_of(*state_of(other))
