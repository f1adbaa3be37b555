"""The cosine of eight numbers at once, with the same bits on every machine.

`functions.cosine` chooses between two series, number by number. Here all lanes do the same: `cos(2 h) = 1 - 2 sin(h)**2`, where h less the
nearest multiple of pi is within pi / 2, so that one Taylor series is enough. The multiple is taken away by two fused operations, of
which the first is exact: both numbers are multiples of 2**-52, and their difference is less than 2.

Cost: 20 operations for eight numbers. Error: at most 1.2e-15 of the amplitude (`tests/engine/test_functions.py`).
"""

from math import factorial

from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import fused, spread, where

__all__ = ["cosines_of_twice"]

_PI_HIGH, _PI_LOW = 3.141592653589793, 1.2246467991473532e-16
_ONE_BY_PI = 0.3183098861837907
_TO_WHOLE = 1.5 * 2.0**52
"""What is added and taken away again leaves the nearest whole number."""
_FARTHEST = 2.0**20
"""Beyond this half of an angle is taken for the bound itself: its last digits are no longer known."""
_SINE = tuple((1 - n % 2 * 2) / factorial(2 * n + 1) for n in range(10, -1, -1))


@inlined
def cosines_of_twice(halves, amplitude):
    """`amplitude * cos(2 h)` of a vector."""
    farthest, to_whole = spread(_FARTHEST), spread(_TO_WHOLE)
    halves = where(halves < farthest, halves, farthest)
    halves = where(spread(-_FARTHEST) < halves, halves, spread(-_FARTHEST))
    turns = fused(halves, spread(_ONE_BY_PI), to_whole) - to_whole
    rest = fused(turns, spread(-_PI_HIGH), halves)
    rest = fused(turns, spread(-_PI_LOW), rest)
    square, series = rest * rest, spread(_SINE[0])
    for coefficient in _SINE[1:]:
        series = fused(series, square, spread(coefficient))
    sine = series * rest
    return fused(sine * sine, spread(-2.0 * amplitude), spread(amplitude))
