"""Stages: as their oracles, the same event by event and many at once, in River's pipelines, kept and loaded."""

import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from river import checks, compose, preprocessing

import stream_rank
from stream_rank import (
    OAPBPM,
    AveragedPRank,
    Cross,
    FeatureError,
    FeatureHasher,
    Neighbours,
    Normalize,
    PolynomialFeatures,
    PRank,
    RandomFourierFeatures,
    RecursiveMPRank,
    Scale,
    SnapshotError,
    TargetMean,
)
from stream_rank.checkpoint.model_file import state_digest
from stream_rank.features.catalogue import STAGES, stage_from, state_of
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.features.lessons import lessons_of
from stream_rank.features.prepared import Prepared, through
from stream_rank.features.rows_of import rows_of, rows_of_dicts
from stream_rank.learners.base.state import State
from stream_rank.learners.base.values import features_of
from tests.features import oracles

pytestmark = pytest.mark.long(15)

Given = list[tuple[dict[str, Any], int]]

VALUES = st.one_of(
    st.integers(-3, 3),
    st.integers(-(10**6), 10**6).map(lambda n: n / 8),
    st.sampled_from([0.0, 1.0]),
    st.booleans(),
)
EVENTS = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {"price": VALUES},
            optional={
                "age": VALUES,
                "user": st.sampled_from(["ann", "bob", "eve", ""]),
                "item": st.sampled_from("abc"),
                "tags": st.lists(st.sampled_from("xyz"), max_size=3),
                "size": st.fixed_dictionaries({}, optional={"w": VALUES, "note": st.none()}),
            },
        ),
        st.integers(1, 5),
    ),
    min_size=1,
    max_size=30,
)
CHAINS: dict[str, tuple[Callable[[], list[FeatureStage]], Callable[[], list[Any]]]] = {
    "scale": (lambda: [Scale()], lambda: [oracles.Scale()]),
    "normalize": (lambda: [Normalize()], lambda: [oracles.Normalize()]),
    "cross": (lambda: [Cross(["user*item"])], lambda: [oracles.Cross("user*item")]),
    "target_mean": (
        lambda: [TargetMean(["user", "tags"], damping=2.0)],
        lambda: [oracles.TargetMean(["user", "tags"], 2.0)],
    ),
    "neighbours": (
        lambda: [Neighbours(["user", "item"], n=2)],
        lambda: [oracles.Neighbours("user", "item", 2, False)],
    ),
    "neighbours beside": (
        lambda: [Neighbours(["user", "item"], n=3, keeps=True)],
        lambda: [oracles.Neighbours("user", "item", 3, True)],
    ),
    "polynomial": (
        lambda: [Normalize(), PolynomialFeatures(2, 0.5)],
        lambda: [oracles.Normalize(), oracles.Polynomial(2, 0.5)],
    ),
    "hash": (
        lambda: [FeatureHasher(bits=3)],
        lambda: [oracles.FeatureHasher(FeatureHasher(bits=3))],
    ),
    "waves": (
        lambda: [RandomFourierFeatures(7, seed=4)],
        lambda: [oracles.Waves(RandomFourierFeatures(7, seed=4), 7)],
    ),
    "all": (
        lambda: [
            TargetMean(["user", "item"], damping=1.0),
            Cross(["user*item", "price*tags"]),
            Scale(width=2.0),
            Normalize(),
        ],
        lambda: [
            oracles.TargetMean(["user", "item"], 1.0),
            oracles.Cross("user*item"),
            oracles.Cross("price*tags"),
            oracles.Scale(2.0),
            oracles.Normalize(),
        ],
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
@settings(max_examples=60)
@given(EVENTS)
def test_a_stage_is_its_oracle(chain: str, events: Given) -> None:
    make, oracle = CHAINS[chain]
    plain = [(features_of(x), float(y)) for x, y in events]
    expected = oracles.known_after(oracle(), plain)
    rows = rows_of_dicts([x for x, _ in events], 1e60)
    everything = np.ones(len(events), np.bool_)
    lessons = lessons_of(rows, everything, everything)
    labels = np.array([y for _, y in events], np.float64)[lessons.events]
    found = list(through(make(), lessons, labels).dicts())
    learned_names: set[Any] = set()
    for place, (asked, learned) in enumerate(expected):
        _assert_near(found[2 * place + 1], learned)
        # what nobody has learned a weight for may be missing
        for name, value in asked.items():
            assert found[2 * place].get(name, value) == pytest.approx(value, rel=1e-6, abs=1e-6)
        assert found[2 * place].keys() <= asked.keys()
        assert asked.keys() & learned_names - found[2 * place].keys() == set()
        learned_names |= learned.keys()


def _assert_near(found: dict[Any, float], expected: dict[Any, float]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-6)


def _model(learner: Any) -> Any:
    return (
        TargetMean(["user", "item"], damping=1.0)
        | Cross(["user*item", "price*tags"])
        | Scale()
        | RandomFourierFeatures(5, seed=1)
        | Normalize()
        | learner
    )


MODELS: dict[str, Callable[[], Any]] = {
    "PRank": lambda: _model(PRank(n_ranks=5)),
    "OAPBPM": lambda: _model(OAPBPM(n_ranks=5, n_members=5, seed=3)),
    "AveragedPRank": lambda: _model(AveragedPRank(n_ranks=5)),
    "RecursiveMPRank": lambda: _model(RecursiveMPRank()),
    "polynomial": lambda: Scale() | PolynomialFeatures(3) | Normalize() | PRank(n_ranks=5),
    "hashed": lambda: FeatureHasher(bits=3) | Scale() | Normalize() | AveragedPRank(n_ranks=5),
}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(EVENTS, st.data())
def test_many_is_one_to_the_bit(name: str, events: Given, data: st.DataObject) -> None:
    """River's own loop over dicts, and tables in any pieces."""
    one, many = MODELS[name](), MODELS[name]()
    assert isinstance(one, Prepared)
    expected = []
    for x, y in events:
        expected.append(one.predict_one(x))
        one.learn_one(x, y)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(events) - 1)), max_size=3)))
    found: list[Any] = []
    rows = rows_of_dicts([x for x, _ in events], 1e60)
    labels = [y for _, y in events]
    for begin, end in pairwise([0, *(cut for cut in cuts if cut < len(events)), len(events)]):
        found += list(many.test_then_train(rows.part(begin, end), labels[begin:end]))
    assert found == expected
    assert state_digest(one) == state_digest(many)
    assert list(many.predict_many(rows)) == [one.predict_one(x) for x, _ in events]


def test_frames_arrays_and_dicts_are_one() -> None:
    generator = np.random.default_rng(5)
    X = generator.normal(3, 2, size=(300, 11))
    X[:, 4] = generator.integers(0, 2, 300)
    y = generator.integers(1, 6, 300)
    names = [f"f{i:02}" for i in range(11)]
    models = [Scale() | Normalize() | PRank(n_ranks=5) for _ in range(4)]
    frame = pd.DataFrame(X, columns=names)
    first = models[0].test_then_train(frame, y)
    for i in range(300):
        x = dict(zip(names, X[i].tolist(), strict=True))
        models[1].learn_one(dict(reversed(x.items())), int(y[i]))
    for i in range(0, 300, 7):
        models[2].learn_many(frame[i : i + 7], y[i : i + 7])
    text = frame.assign(f04=[["no", "yes"][int(v)] for v in X[:, 4]])
    models[3].learn_many(text, y)
    assert len({state_digest(model) for model in models[:3]}) == 1
    assert list(first.index) == list(frame.index)
    assert "f04=yes" in models[3].features
    numbered = Scale() | Normalize() | PRank(n_ranks=5)
    assert list(numbered.test_then_train(X, y)) == list(first)


def test_discovered_labels() -> None:
    events = [({"a": float(i % 4)}, ["bad", "fair", "good", "very good"][i % 4]) for i in range(60)]
    one, many = Scale() | PRank(), Scale() | PRank()
    expected = []
    for x, y in events:
        expected.append(one.predict_one(x))
        one.learn_one(x, y)
    assert (
        list(many.test_then_train(pd.DataFrame([x for x, _ in events]), [y for _, y in events]))
        == expected
    )


def test_pairs_go_through_the_stages() -> None:
    generator = np.random.default_rng(2)
    X, Z = generator.normal(size=(2, 80, 3))
    one, many = (Scale() | Normalize() | PRank(n_ranks=5) for _ in range(2))
    leads = many.test_then_train_pairs(X, Z)
    for x, z in zip(X, Z, strict=True):
        one.learn_pair(dict(enumerate(x.tolist())), dict(enumerate(z.tolist())))
    assert state_digest(one) == state_digest(many)
    assert np.isfinite(leads).all()
    a, b = dict(enumerate(X[0])), dict(enumerate(Z[0]))
    assert one.prefer_one(a, b) == -one.prefer_one(b, a)


ESTIMATORS: dict[str, Any] = {
    "Scale": Scale(),
    "Normalize": Normalize(),
    "Cross": Cross(["user*item"]),
    "FeatureHasher": FeatureHasher(bits=6),
    "hashed": FeatureHasher(bits=3) | Scale() | PRank(),
    "PolynomialFeatures": PolynomialFeatures(),
    "polynomial": Scale() | PolynomialFeatures() | PRank(),
    "TargetMean": TargetMean(["user", "item"]),
    "waves": Scale() | RandomFourierFeatures(20, seed=2) | AveragedPRank(),
    "Neighbours": Neighbours(["user", "item"], n=5),
    "pipeline": Scale() | Normalize() | PRank(),
    "pipeline of scores": TargetMean(["user"]) | Scale() | RecursiveMPRank(),
}


@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param(name, check, id=f"{name}-{number}-{check.__name__}")
        for name, estimator in ESTIMATORS.items()
        for number, check in enumerate(checks.yield_checks(estimator))
    ],
)
def test_checks_of_river(name: str, check: Callable[[Any], None]) -> None:
    check(ESTIMATORS[name].clone())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_check_is_skipped(name: str) -> None:
    assert ESTIMATORS[name]._unit_test_skips() == set()


def test_with_steps_of_rivers_it_is_a_pipeline_of_rivers() -> None:
    assert type(preprocessing.StandardScaler() | Scale() | PRank()) is compose.Pipeline
    assert type(Scale() | preprocessing.StandardScaler()) is compose.Pipeline
    assert type(Scale() | Normalize() | preprocessing.StandardScaler()) is compose.Pipeline


@settings(max_examples=30)
@given(EVENTS, EVENTS)
def test_kept_and_loaded_it_goes_on_as_before(before: Given, after: Given) -> None:
    model = _model(OAPBPM(n_ranks=5, n_members=5, seed=3))
    for x, y in before:
        model.learn_one(x, y)
    twin = pickle.loads(pickle.dumps(model))
    stages = [stage_from(State(*state_of(stage))) for stage in model.stages]
    other = Prepared(*stages, pickle.loads(pickle.dumps(model.learner)))
    for x, y in after:
        assert model.predict_one(x) == twin.predict_one(x) == other.predict_one(x)
        for each in (model, twin, other):
            each.learn_one(x, y)
    assert state_digest(model) == state_digest(twin) == state_digest(other)


def test_pipelines_are_saved(tmp_path: Path) -> None:
    model = _model(PRank(n_ranks=5))
    for i in range(50):
        model.learn_one({"user": f"u{i % 7}", "item": f"i{i % 5}", "price": i * 1.5}, 1 + i % 5)
    stream_rank.save(model, tmp_path / "model")
    loaded = stream_rank.load(tmp_path / "model")
    assert state_digest(loaded) == state_digest(model)
    assert loaded.predict_one({"user": "new", "price": 2}) == model.predict_one(
        {"user": "new", "price": 2}
    )
    with pytest.raises(SnapshotError, match="StandardScaler cannot be kept"):
        stream_rank.save(preprocessing.StandardScaler() | PRank(), tmp_path / "other")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STAGES)
def test_states_that_do_not_fit_are_refused(name: str) -> None:
    stage = STAGES[name]()
    for i in range(5):
        stage.learn_one({"user": f"u{i}", "item": "a", "n": i}, *([i] if stage.of_labels else []))
    metadata, arrays = state_of(stage)
    for key, array in arrays.items():
        for wrong in (array[..., :-1], np.full(array.shape, np.nan), array.astype(np.float32)):
            if wrong.size or array.size:
                with pytest.raises(SnapshotError):
                    stage_from(State(metadata, {**arrays, key: wrong}))
    for broken in (
        {"features": ["a", "a"]},
        {"features": "no"},
        {"stage": "other"},
        {"parameters": {"x": 1}},
    ):
        with pytest.raises(SnapshotError):
            stage_from(State({**metadata, **broken}, arrays))


@pytest.mark.parametrize("make", STAGES.values())
def test_what_is_no_feature_is_refused_and_changes_nothing(make: type[FeatureStage]) -> None:
    stage = make()
    labels = [1] if stage.of_labels else []
    stage.learn_one({"user": "ann", "item": "a", "n": 2.0}, *labels)
    before = stage.dump()
    for x in (
        {"n": float("nan")},
        {"n": 1e200},
        {"n": object()},
        {"n": [1.0]},
        {"n": 1, "m": {"n": None}, "a=b": 1, "a": "b"},
    ):
        with pytest.raises(FeatureError):
            stage.learn_one(x, *labels)
    assert repr(stage.dump()) == repr(before)


def test_buckets_and_signs_are_the_same_everywhere_and_of_all_names_alike() -> None:
    stage, other = FeatureHasher(bits=6), FeatureHasher(bits=6, seed=2)
    assert [stage.hash_of(name) for name in ("a", 1, "1")] == [
        0x8AC93A897EB91150,
        0xB245F2F155D913B1,
        0x55C7CA1FF5AC5BD9,
    ]
    names = [f"user={i}" for i in range(6_400)]
    buckets = np.bincount([stage.hash_of(name) >> 58 for name in names], minlength=64)
    assert 60 < buckets.min() < buckets.max() < 145  # 100, and four deviations of 10
    assert abs(sum(stage.hash_of(name) % 2 for name in names) - 3_200) < 4 * 40
    assert stage.transform_one({"user": "ann"}) != other.transform_one({"user": "ann"})


def test_a_hasher_keeps_no_names() -> None:
    stage = FeatureHasher(bits=4)
    for i in range(2_000):
        stage.learn_one({f"a{i}": 1.0, "word": f"w{i}"})
    assert stage.features == []
    assert sum(array.nbytes for array in stage.dump().arrays.values()) == 8 * 16
    assert len(pickle.dumps(stage)) < 3_000


def test_an_outlier_is_cut_off_and_what_never_varied_is_nothing() -> None:
    stage = Scale(width=3.0)
    for value in (1.0, 2.0, 3.0):
        stage.learn_one({"a": value, "same": 7.0, "flag": 1})
    assert stage.transform_one({"a": 1e9, "same": 7.0, "flag": 1}) == {
        "a": 3.0,
        "flag": 1.0,
        "same": 0.0,
    }
    assert stage.transform_one({"never": 5.0, "new=one": 1.0}) == {"never": 0.0, "new=one": 1.0}


def test_products_are_bounded() -> None:
    stage = Cross(["user*item"], max_products=3)
    for i in range(10):
        stage.learn_one({"user": f"u{i}", "item": "a"})
    assert sum("*" in str(name) for name in stage.transform_one({"user": "u2", "item": "a"})) == 1
    assert sum("*" in str(name) for name in stage.transform_one({"user": "u9", "item": "a"})) == 0
    assert len(state_of(stage).arrays["products"]) == 3


def test_a_table_is_read_as_its_rows() -> None:
    X = np.arange(12.0).reshape(4, 3)
    assert list(rows_of(X, 1e9).dicts()) == [dict(enumerate(row)) for row in X.tolist()]
    with pytest.raises(FeatureError):
        rows_of(X, 5.0)
