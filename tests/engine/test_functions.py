"""The engine's own exponential and logarithm: close to the true values, and made of exact operations alone."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.engine.functions import cosines, exponentials, logarithms
from stream_rank.engine.preparation.waves import draw_normals, waves_dense


def exponential(x: float) -> float:
    found = np.empty(1)
    exponentials(np.array([x]), found)
    return float(found[0])


def cosine(x: float) -> float:
    found = np.empty(1)
    cosines(np.array([x]), found)
    return float(found[0])


def logarithm(x: float) -> float:
    found = np.empty(1)
    logarithms(np.array([x]), found)
    return float(found[0])


def units(found: float, wanted: float) -> float:
    """The distance in units of the last place."""
    return abs(found - wanted) / math.ulp(wanted)


@given(st.floats(-700, 700))
def test_the_exponential_is_within_two_units(x: float) -> None:
    assert units(exponential(x), math.exp(x)) <= 2


@given(st.floats(1e-300, 1e300))
def test_the_logarithm_is_within_two_units(x: float) -> None:
    assert units(logarithm(x), math.log(x)) <= 2


@given(st.floats(-(2.0**21), 2.0**21))
def test_the_cosine_is_within_a_unit_of_one(x: float) -> None:
    assert abs(cosine(x) - math.cos(x)) <= 2.3e-16


@pytest.mark.parametrize("farthest", [4.0, 2.0**21])
def test_cosines_of_vectors_are_as_close_as_they_say(farthest: float) -> None:
    angles = np.random.default_rng(1).uniform(-farthest, farthest, 200_000)
    angles[:4] = 0.0, np.pi, -farthest, farthest
    event, found, scratch = np.ones((1, 1)), np.empty((1, len(angles))), np.empty((5, len(angles)))
    given = np.ones(1), angles[None], np.zeros(len(angles)), 1.0, scratch
    waves_dense(event, np.zeros(1, np.int64), *given, 0, found)
    exact = np.array([math.cos(angle) for angle in angles.tolist()])
    assert abs(found[0] - exact).max() <= 1.2e-15
    assert found[0, 0] == 1.0
    assert abs(found).max() <= 1.0


def test_directions_are_normal() -> None:
    found = np.empty(200_000)
    draw_normals(np.uint64(3), np.uint64(5), found)
    ordered = np.sort(found)
    expected = np.array([NormalDist().cdf(x) for x in ordered[::100]])
    assert abs(expected - (np.arange(0, len(found), 100) + 0.5) / len(found)).max() < 0.004


def test_values_known_exactly() -> None:
    assert cosine(0.0) == 1.0
    assert cosine(1e9) == cosine(2.0**21)
    assert exponential(0.0) == 1.0
    assert logarithm(1.0) == 0.0
    assert logarithm(2.0) == math.log(2.0)


def test_what_is_beyond_the_bounds_is_taken_for_the_bound() -> None:
    assert exponential(1e9) == exponential(709.0) < math.inf
    assert exponential(-1e9) == exponential(-708.0) > 0.0


def test_the_bits_are_these() -> None:
    """As every machine must find them: recorded once, from the definition in exact operations."""
    values = np.linspace(-20, 20, 9)
    found = np.empty(9)
    exponentials(values, found)
    assert [x.hex() for x in found.tolist()] == [slow_exponential(x).hex() for x in values.tolist()]


def slow_exponential(x: float) -> float:
    """The same operations in Python, which fuses none."""
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    series = 0.0
    for n in range(13, -1, -1):
        series = 1.0 / math.factorial(n) + r * series
    return math.ldexp(series, k)
