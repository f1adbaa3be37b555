"""The exponential for whoever waits for it: close to the true values, and the same bits in every lane."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.engine.exponentials import exponential_each, exponential_soon, logistic_each
from stream_rank.engine.jit import compiled
from stream_rank.engine.lanes import load, store
from stream_rank.engine.pointers import pointer
from tests.engine.test_functions import units


@compiled
def _all(values, soon, each, odds):
    for i in range(values.size):
        soon[i] = exponential_soon(values[i])
    numbers = load(pointer(values, 0, np.float64), 0, 0.0)
    store(pointer(each, 0, np.float64), 0, exponential_each(numbers))
    store(pointer(odds, 0, np.float64), 0, logistic_each(numbers))


@given(st.lists(st.floats(-700, 700), min_size=8, max_size=8))
def test_it_is_within_two_units_and_the_same_in_every_lane(values: list[float]) -> None:
    soon, each, odds = np.empty((3, 8))
    _all(np.array(values), soon, each, odds)
    assert soon.tolist() == each.tolist()
    for x, found, share in zip(values, soon.tolist(), odds.tolist(), strict=True):
        assert units(found, math.exp(x)) <= 2
        true = 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))
        assert units(share, true) <= 4


def test_what_is_beyond_the_bounds_is_taken_for_the_bound() -> None:
    soon, each, odds = np.empty((3, 8))
    _all(np.array([0.0, 1e9, 709.0, -1e9, -708.0, 1.0, -0.0, 1e300]), soon, each, odds)
    assert soon.tolist() == each.tolist()
    assert soon[0] == soon[6] == 1.0
    assert soon[1] == soon[2] == soon[7] < math.inf
    assert soon[3] == soon[4] > 0.0
