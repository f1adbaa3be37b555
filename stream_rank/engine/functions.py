"""The exponential, the logarithm and the cosine, with the same bits on every machine.

The C library's differ between its versions and processors; these are made of sums, products and quotients alone, each of
which IEEE 754 defines to the bit.

Cost: some ten nanoseconds. Error: at most two units in the last place (`tests/engine/test_functions.py`).

Reference: W. J. Cody and W. Waite. Software Manual for the Elementary Functions. 1980.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import factorial, frexp

import numpy as np

from stream_rank.engine.bits import as_bits, as_double
from stream_rank.engine.jit import compiled, inlined

__all__ = ["cosine", "cosines", "exponential", "exponentials", "logarithm", "logarithms"]

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""ln 2 in two parts, of which the first has zeros at its end, so that a whole number times it is exact."""

_TAYLOR = tuple(1.0 / factorial(n) for n in range(13, -1, -1))
_ARTANH = tuple(1.0 / n for n in range(23, 1, -2))

_LARGEST, _SMALLEST = 709.0, -708.0
"""Beyond these the result would not be a normal number."""

_COSINE = tuple((1 - n % 2 * 2) / factorial(2 * n) for n in range(8, -1, -1))
_SINE = tuple((1 - n % 2 * 2) / factorial(2 * n + 1) for n in range(8, -1, -1))
_HALF_PI = Fraction("1.57079632679489661923132169163975144209858469968755291")


def _parts_of(number: Fraction, bits: int) -> Iterator[float]:
    """A number in three parts, of which the first two have so many bits that a whole number times them is exact."""
    for _ in range(2):
        shift = bits - frexp(float(number))[1]
        part = Fraction(int(number * 2**shift), 2**shift)
        number -= part
        yield float(part)
    yield float(number)


_HALF_PI_HIGH, _HALF_PI_MIDDLE, _HALF_PI_LOW = _parts_of(_HALF_PI, 30)
_TWO_BY_PI = float(1 / _HALF_PI)
_TO_WHOLE = 1.5 * 2.0**52
"""What is added and taken away again leaves the nearest whole number."""
_FARTHEST = 2.0**21
"""Beyond this an angle's last digits are no longer known."""

_SQRT_HALF = 0.7071067811865476
_MANTISSA, _EXPONENT_OF_HALF = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(0x3FE0000000000000)


@inlined
def exponential(x):
    """`e**x`, for x within +-708: what is beyond is taken for the bound itself.

    x is `k * ln 2 + r` with `|r| <= ln 2 / 2`, so the result is `2**k` times a Taylor series of r.
    """
    x = min(max(x, _SMALLEST), _LARGEST)
    k = np.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    series = _TAYLOR[0]
    for coefficient in _TAYLOR[1:]:
        series = coefficient + r * series
    return series * as_double(np.uint64(np.int64(k) + 1023) << np.uint64(52))


@inlined
def logarithm(x):
    """The natural logarithm of a normal number above 0.

    x is `2**k * m` with m in `[sqrt(1/2), sqrt(2))`, and `ln m = 2 artanh(s)` with `s = (m - 1) / (m + 1)`, as a series.
    """
    bits = as_bits(x)
    k = np.int64(bits >> np.uint64(52)) - 1022
    m = as_double((bits & _MANTISSA) | _EXPONENT_OF_HALF)
    if m < _SQRT_HALF:
        m, k = 2.0 * m, k - 1
    s = (m - 1.0) / (m + 1.0)
    square, series = s * s, 0.0
    for coefficient in _ARTANH:
        series = (series + coefficient) * square
    return np.float64(k) * _LN2_HIGH + (2.0 * s + (2.0 * s * series + np.float64(k) * _LN2_LOW))


@inlined
def cosine(x):
    """The cosine, for x within +-2**21: what is beyond is taken for the bound itself.

    x is `k * pi / 2 + r` with `|r| <= pi / 4`, so the result is a Taylor series of the cosine or the sine of r.
    """
    x = min(max(x, -_FARTHEST), _FARTHEST)
    k = (x * _TWO_BY_PI + _TO_WHOLE) - _TO_WHOLE
    r = ((x - k * _HALF_PI_HIGH) - k * _HALF_PI_MIDDLE) - k * _HALF_PI_LOW
    square, even, odd = r * r, _COSINE[0], _SINE[0]
    for coefficient in _COSINE[1:]:
        even = coefficient + square * even
    for coefficient in _SINE[1:]:
        odd = coefficient + square * odd
    quarter = np.int64(k) & 3
    found = odd * r if quarter & 1 else even
    return -found if quarter == 1 or quarter == 2 else found


@compiled
def cosines(values, results):
    """`cosine` of every number of an array."""
    for i in range(values.size):
        results[i] = cosine(values[i])


@compiled
def exponentials(values, results):
    """`exponential` of every number of an array."""
    for i in range(values.size):
        results[i] = exponential(values[i])


@compiled
def logarithms(values, results):
    """`logarithm` of every number of an array."""
    for i in range(values.size):
        results[i] = logarithm(values[i])
