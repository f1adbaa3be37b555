"""Waves: blocks of events as one by one, and waves that look at few fields."""

from typing import Any

import numpy as np
import pytest

from stream_rank import OrdinalLogit, PolynomialFeatures, RandomFourierFeatures, Scale
from stream_rank.engine.preparation.waves import BLOCK, draw_phases, waves, waves_dense
from stream_rank.features.catalogue import stage_from, state_of


@pytest.mark.parametrize("width", [1, 3, 40])
@pytest.mark.parametrize("n_waves", [1, 16, 37])
def test_rows_of_a_matrix_are_waves_as_entries_are_to_the_bit(width: int, n_waves: int) -> None:
    generator = np.random.default_rng(width)
    directions = np.zeros((width, -(-n_waves // BLOCK) * BLOCK))
    directions[:, :n_waves] = generator.normal(size=(width, n_waves))
    phases = np.empty(n_waves)
    draw_phases(np.uint64(3), phases)
    X = generator.normal(size=(11, width))
    X[generator.random(X.shape) < 0.3] = 0.0
    for count in (1, 3, 4, 11):
        at, factors = generator.integers(0, 11, count), generator.random(count)
        given = factors, directions, phases, 0.5, np.empty((5, directions.shape[1]))
        wide = np.full((count, n_waves + 5), 7.0)
        waves_dense(X, at, *given, 2, wide)
        starts, slots = np.arange(count + 1) * width, np.tile(np.arange(width), count)
        found = np.empty((count, n_waves))
        waves(starts, slots, X[at].reshape(-1), *given, found)
        assert np.array_equal(wide[:, 2 : 2 + n_waves], found)
        assert (np.delete(wide, range(2, 2 + n_waves), axis=1) == 7.0).all()
        angles = factors[:, None] * (X[at] @ directions[:, :n_waves]) + phases
        assert np.abs(found - 0.5 * np.cos(angles)).max() < 1e-12


def test_waves_look_at_as_many_fields_as_they_are_told() -> None:
    stage = RandomFourierFeatures(12, seed=1, orders=[1, 2, 0])
    stage.learn_one({"a": 1.0, "b": 0.5, "kind": "x", "c": 2.0, "d": -1.0})
    stage.learn_one({"kind": "y", "new": 1.0})
    directions = stage.rule()["directions"]
    looks = {name: np.array(row) != 0 for name, row in directions.items()}
    among = [looks[name] for name in ("a", "b", "c", "d", "kind=x")]
    assert np.sum(among, axis=0).tolist() == [1, 2, 5] * 4
    assert looks["kind=x"].tolist() == looks["kind=y"].tolist()
    assert looks["new"].tolist()[2::3] == [True] * 4
    everywhere = RandomFourierFeatures(12, seed=1)
    everywhere.learn_one({"a": 1.0})
    scale = np.tile([np.sqrt(5), np.sqrt(5 / 2), 1.0], 4) * looks["a"]
    assert directions["a"] == pytest.approx(everywhere.rule()["directions"]["a"] * scale)
    again = stage_from(state_of(stage))
    x = {"a": 0.3, "new": 1.0, "other": 2.0}
    assert again.transform_one(x) == stage.transform_one(x)


def test_waves_of_the_first_features() -> None:
    bounded, whole = (RandomFourierFeatures(6, seed=1, width=1.0, max_inputs=m) for m in (2, 9))
    for stage in (bounded, whole):
        for x in ({"a": 1.0}, {"b": 2.0, "c": 1.0}):
            stage.learn_one(x)
    x = {"a": 0.5, "b": -1.0, "c": 3.0, "new": 2.0}
    found, expected = bounded.transform_one(x), whole.transform_one({"a": 0.5, "b": -1.0})
    assert found == {**expected, "c": 3.0, "new": 2.0}
    assert list(bounded.rule()["directions"]) == ["a", "b"]
    assert stage_from(state_of(bounded)).transform_one(x) == found
    fresh = RandomFourierFeatures(6, seed=1, width=1.0, max_inputs=2)
    assert fresh.transform_one(x).keys() == found.keys()


def test_few_of_many_fields_are_learned_sooner_by_waves_that_look_at_few() -> None:
    generator = np.random.default_rng(2)
    X = generator.uniform(-1, 1, (1_500, 25))
    score = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    y = 1 + np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score)
    off = []
    few = RandomFourierFeatures(200, seed=1, orders=[1, 2, 3, 0], narrowing=2.0)
    for stage in (RandomFourierFeatures(200, seed=1), few):
        model: Any = Scale() | stage | OrdinalLogit(4)
        found = model.test_then_train(X, y)
        off.append(np.abs(found - y)[750:].mean())
    assert off[1] < 0.75 * off[0]


def test_products_of_the_first_features() -> None:
    stage = PolynomialFeatures(max_factors=2)
    for x in ({"b": 2.0, "c": 3.0}, {"a": 5.0, "b": 1.0, "d": 2.0}):
        stage.learn_one(x)
    found = stage.transform_one({"a": 5.0, "b": 1.0, "c": 2.0})
    assert list(found) == ["*", "b", "c", "b*b", "b*c", "c*c"]
    fresh = PolynomialFeatures(max_factors=2).transform_one({"a": 5.0, "b": 1.0, "c": 2.0})
    assert set(fresh) == {"*", "a", "b", "a*a", "a*b", "b*b"}
