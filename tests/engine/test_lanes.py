"""Vectors of numbers, against exact arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.engine.jit import compiled
from stream_rank.engine.lanes import fused, load, store
from stream_rank.engine.pointers import pointer

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8).map(np.array)


@compiled
def fuse(left, right, more):
    a, b = load(pointer(left, 0, np.float64), 0, 0.0), load(pointer(right, 0, np.float64), 0, 0.0)
    store(pointer(more, 0, np.float64), 0, fused(a, b, load(pointer(more, 0, np.float64), 0, 0.0)))


@given(NUMBERS, NUMBERS, NUMBERS)
def test_fused_rounds_once(left, right, more):
    exact = [
        Fraction(a) * Fraction(b) + Fraction(c)
        for a, b, c in zip(left.tolist(), right.tolist(), more.tolist(), strict=True)
    ]
    fuse(left, right, more)
    assert more.tolist() == [float(each) for each in exact]


def test_twice_rounded_it_would_be_another_number():
    little = np.full(8, 2.0**-30)
    more = np.full(8, -1.0)
    fuse(1.0 + little, 1.0 - little, more)
    assert more.tolist() == [-(2.0**-60)] * 8
