"""Explicit maps against the kernels whose inner products they are."""

from math import comb, exp
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank import PolynomialFeatures, RandomFourierFeatures

small = st.floats(-2, 2).map(lambda value: round(value, 2))
some_events = st.dictionaries(st.sampled_from("abcd"), small, max_size=4)


def dot(x: dict[Any, float], z: dict[Any, float]) -> float:
    return sum(value * z.get(name, 0.0) for name, value in x.items())


@given(some_events, some_events, st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_polynomial_features_are_the_polynomial_kernel(
    x: dict[str, float], z: dict[str, float], degree: int, offset: float
) -> None:
    """Also where the two have different features."""
    products = PolynomialFeatures(degree, offset)
    mapped = dot(products.transform_one(x), products.transform_one(z))
    assert mapped == pytest.approx((dot(x, z) + offset) ** degree, abs=1e-9)


def test_names_and_number_of_products() -> None:
    products = PolynomialFeatures(3).transform_one({"b": 2.0, "a": 1.0})
    assert len(products) == comb(2 + 3, 3)
    assert list(products) == [
        *("*", "a", "b", "a*a", "a*b", "b*b", "a*a*a", "a*a*b", "a*b*b", "b*b*b"),
    ]
    assert list(PolynomialFeatures(2, 0.0).transform_one({"a": 1.0, "b": 1.0})) == [
        "a*a",
        "a*b",
        "b*b",
    ]


@pytest.mark.parametrize("make", [PolynomialFeatures, lambda: RandomFourierFeatures(20, seed=1)])
def test_many_is_one(make: Any) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    transformer = make()
    frame = pd.DataFrame(X, columns=["b", "c", "a"], index=range(5, 25))
    many = transformer.transform_many(frame)
    one = [transformer.transform_one(x) for x in frame.to_dict("records")]
    assert many.to_dict("records") == [pytest.approx(x) for x in one]
    assert list(many.index) == list(frame.index)
    polars = transformer.transform_many(pl.DataFrame(X, schema=["b", "c", "a"]))
    assert polars.to_dicts() == [pytest.approx(x) for x in one]
    if make is PolynomialFeatures:  # waves belong to names, and 0 is not "a"
        assert np.allclose(transformer.matrix(frame[["a", "b", "c"]].to_numpy()), many.to_numpy())


def test_random_fourier_features_approach_the_gaussian_kernel() -> None:
    waves = RandomFourierFeatures(n_components=20_000, width=0.7, keep=False, seed=3)
    generator = np.random.default_rng(0)
    for x, z in generator.normal(0, 0.5, size=(5, 2, 3)):
        left, right = (waves.transform_one(dict(enumerate(row))) for row in (x, z))
        expected = exp(-((x - z) ** 2).sum() / (2 * 0.7**2))
        assert dot(left, right) == pytest.approx(expected, abs=0.03)  # 1 / sqrt(20,000) is 0.007


def test_waves_depend_on_seed_and_names_alone() -> None:
    first, second, other = (RandomFourierFeatures(50, 1.0, False, seed) for seed in (9, 9, 8))
    second.transform_one({"other": 1.0, "b": 2.0})
    x = {"a": 0.3, "b": -1.0}
    assert first.transform_one(x) == second.transform_one(dict(reversed(x.items())))
    assert first.transform_one(x) != other.transform_one(x)
    assert first.transform_one({"a": 1.0}) != first.transform_one({"b": 1.0})
    assert first.transform_one({1: 1.0}) != first.transform_one({"1": 1.0})
    assert first.transform_one({**x, "gone": 0.0}) == first.transform_one(x)
