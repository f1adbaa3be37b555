"""One stage out of several that prepared shards of a stream."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank import (
    Cross,
    FeatureHasher,
    MergeError,
    Normalize,
    OAPStream,
    PolynomialFeatures,
    PRank,
    RandomFourierFeatures,
    Scale,
    TargetMean,
    average,
)
from stream_rank.features.catalogue import stage_from, state_of
from stream_rank.learners.base.state import digest_of

STAGES: dict[str, Any] = {
    "scale": Scale,
    "normalize": Normalize,
    "cross": lambda: Cross(["user*item", "item*price"]),
    "polynomial": PolynomialFeatures,
    "polynomial-3": lambda: PolynomialFeatures(degree=3, offset=0.0),
    "hash": lambda: FeatureHasher(bits=4),
    "waves": lambda: RandomFourierFeatures(n_components=16, seed=1),
    "target_mean": TargetMean,
}
VALUES = {
    "user": st.sampled_from(["ann", "bob", "eve"]),
    "item": st.sampled_from(["x", "y"]),
    "price": st.integers(-3, 3).map(float),
    "size": st.floats(-4, 4, width=16),
}
EVENTS = st.lists(
    st.tuples(st.fixed_dictionaries({}, optional=VALUES), st.integers(1, 5)), max_size=8
)


@pytest.mark.parametrize("name", STAGES)
@given(shards=st.lists(EVENTS, min_size=1, max_size=3))
@settings(max_examples=40)
def test_a_merged_stage_does_what_one_does_that_saw_everything(
    name: str, shards: list[Any]
) -> None:
    parts, whole = [STAGES[name]() for _ in shards], STAGES[name]()
    for part, shard in zip(parts, shards, strict=True):
        for x, y in shard:
            part.learn_one(x, y)
            whole.learn_one(x, y)
    one = parts[0].merged(parts[1:])
    again = stage_from(state_of(one))
    events = [x for shard in shards for x, _ in shard] + [{"user": "new", "price": 2.0}]
    for stage in (one, again):
        for x in events:
            assert stage.transform_one(x) == pytest.approx(
                whole.transform_one(x), rel=1e-9, abs=1e-9
            )
        stage.learn_one({"user": "new", "item": "z", "price": 9.0}, 4)
    whole.learn_one({"user": "new", "item": "z", "price": 9.0}, 4)
    assert digest_of(*state_of(again)) == digest_of(*state_of(one))
    assert one.transform_one(events[0]) == pytest.approx(
        whole.transform_one(events[0]), rel=1e-9, abs=1e-9
    )
    assert again.transform_one(events[0]) == one.transform_one(events[0])


@pytest.mark.parametrize("name", STAGES)
def test_a_learner_behind_merged_stages_gets_its_features_by_name(name: str) -> None:
    """A learner knows what its own stage lets out, so behind the merged one it meets no name for the first time."""
    pipelines = [STAGES[name]() | PRank(n_ranks=5) for _ in range(2)]
    events = [
        ({"user": user, "item": item, "price": float(price)}, 1 + (price + len(item)) % 5)
        for price, user in enumerate(("ann", "bob", "ann", "eve", "bob", "ann"))
        for item in ("x", "yy")
    ]
    for number, (x, y) in enumerate(events):
        pipelines[number % 3 > 0].learn_one(x, y)
    one = average(pipelines)
    before = set(one.learner.features)
    for x, y in events:
        one.learn_one(x, y)
    made = {key for x, _ in events for key in one.stages[0].transform_one(x)}
    assert made >= before
    if name not in (
        "cross",
        "polynomial",
        "polynomial-3",
        "hash",
    ):  # these make products and buckets of both shards
        assert set(one.learner.features) == before


def test_waves_of_other_places_are_refused() -> None:
    events = [{"a": 1.0, "b": 2.0}, {"b": 1.0, "c": 1.0}]
    for more, words in (
        ({"seed": None}, "give a seed"),
        ({"seed": 1, "orders": [1, 0]}, "had different fields"),
        ({"seed": 1, "max_inputs": 2}, "others came first elsewhere"),
    ):
        stages = [RandomFourierFeatures(n_components=4, **more) for _ in events]
        for stage, x in zip(stages, events, strict=True):
            stage.learn_one(x)
        with pytest.raises(MergeError, match=words):
            stages[0].merged(stages[1:])


def test_waves_with_few_fields_look_where_those_of_the_shards_do() -> None:
    first, second, empty = (
        RandomFourierFeatures(n_components=8, seed=1, orders=[1, 2]) for _ in range(3)
    )
    for x, _ in OAPStream(seed=1).take(20):
        first.learn_one(x)
        second.learn_one(x)
    expected = first.merged([second]).transform_one(x)
    assert empty.merged([first, second]).transform_one(x) == expected
