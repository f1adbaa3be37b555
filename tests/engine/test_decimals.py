"""Decimal numbers are read as Python reads them, or not at all."""

import json
import re
import struct
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank.engine.jit import compiled
from stream_rank.engine.pointers import pointer
from stream_rank.engine.reading.decimals import powers_of_ten, read_number

POWERS = powers_of_ten()
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]+)?")


@compiled
def _read(text: Any, powers: Any) -> Any:
    return read_number(pointer(text, 0, np.uint8), 0, len(text), pointer(powers, 0, np.uint64))


def read(text: str) -> tuple[float, int]:
    value, end = _read(np.frombuffer(text.encode() + b" " * 8, np.uint8), POWERS)
    return value, end


def same(text: str) -> bool:
    """Whether it was read as Python does; False where the reader does not know."""
    value, end = read(text)
    if end < 0:
        return False
    assert end == len(text)
    assert struct.pack("d", value) == struct.pack("d", float(text)), text
    return True


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=2_000)
def test_what_python_writes_is_read(number: float) -> None:
    same(repr(number))


def test_hardly_anything_is_left() -> None:
    generator = np.random.default_rng(1)
    numbers = [*generator.normal(size=2_000).tolist(), *generator.random(2_000).tolist()]
    assert sum(same(repr(number)) for number in numbers) > 3_990


@given(
    st.integers(0, 10**19 - 1),
    st.integers(-360, 320),
    st.integers(0, 25),
    st.booleans(),
)
@settings(max_examples=2_000)
def test_any_decimal(digits: int, power: int, places: int, negative: bool) -> None:
    text = str(digits)
    if places:
        text = text.rjust(places + 1, "0")
        text = f"{text[:-places]}.{text[-places:]}"
    same(f"{'-' * negative}{text}")
    same(f"{'-' * negative}{text}e{power}")


@given(st.integers(2**53, 2**63), st.integers(0, 12))
@settings(max_examples=1_000)
def test_near_half_way(number: int, power: int) -> None:
    """Whole numbers half way between two doubles, and beside."""
    for beside in (-1, 0, 1):
        same(str(number + beside))
        same(f"{number + beside}e-{power}")


@pytest.mark.parametrize("text", ["", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "e5", "--1"])
def test_what_is_no_number_in_json(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    assert read(text)[1] != len(text) or text == ""


@pytest.mark.parametrize("text", ["1e999", "1" * 20, "4.9e-324", "0." + "1" * 20])
def test_what_is_left_to_others(text: str) -> None:
    assert read(text)[1] == -1


def test_any_short_text() -> None:
    """Whatever stands before and behind it: up to seven bytes are read at once."""
    read_at_once = 0
    for letters in product("019.-e", repeat=5):
        text = "".join(letters)
        known = NUMBER.match(text)
        value, end = read(text + ',"7')
        if known is None:
            assert end < 0, text
        elif end >= 0:
            found = known[0]
            assert (struct.pack("d", value), end) == (struct.pack("d", float(found)), len(found)), (
                text
            )
            read_at_once += 1
        else:  # more follows, as after 0 or a point, or it is too large
            assert text[len(known[0]) :] or "e" in text, text
    assert read_at_once > 2_500
