"""Specifications of learners with ranges in them, such as `oap-bpm:sampling=0.1..0.9`, and the candidates that they mean."""

import re
from math import sqrt

from stream_rank.errors import ConfigError

__all__ = ["candidates_of", "searched"]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"=\s*({_NUMBER})\.\.({_NUMBER})(?=\s*(?:[,|)]|$))")
_WIDE = 100.0
"""From so large a quotient of its ends on, a range is gone through in equal factors instead of equal steps."""
_DIGITS = 4


def searched(spec: str) -> bool:
    """Whether there is a range in it.

    >>> searched("oap-bpm:sampling=0.1..0.9"), searched("oap-bpm:sampling=0.5")
    (True, False)
    """
    return _RANGE.search(spec) is not None


def candidates_of(spec: str, most: int) -> list[str]:
    """The candidates of a specification: itself without ranges, else at most `most`, spread evenly over its ranges.

    One range is gone through from end to end. Several are gone through by fractions of powers of one irrational number, which fill a box evenly
    however many of them are taken (the R sequence). Whole ends make whole numbers, so there may be fewer candidates.

    >>> candidates_of("oap-bpm:sampling=0.1..0.9", 3)
    ['oap-bpm:sampling=0.1', 'oap-bpm:sampling=0.5', 'oap-bpm:sampling=0.9']
    >>> candidates_of("waves:width=0.1..100 | oap-bpm:n_members=1..2", 4)
    ['waves:width=18.39 | oap-bpm:n_members=2', 'waves:width=3.383 | oap-bpm:n_members=1', 'waves:width=0.6222 | oap-bpm:n_members=2', 'waves:width=0.1144 | oap-bpm:n_members=1']
    """
    ranges = _RANGE.findall(spec)
    if not ranges:
        return [spec]
    steps = _steps(len(ranges))
    found: dict[str, None] = {}
    for number in range(most):
        places = [((number + 1) * step) % 1.0 for step in steps]
        if len(ranges) == 1:
            places = [number / max(1, most - 1)]
        values = iter(
            _between(low, high, place, spec)
            for (low, high), place in zip(ranges, places, strict=True)
        )
        found[_RANGE.sub(lambda _: f"={next(values)}", spec)] = None  # noqa: B023 - used at once
    return list(found)


def _steps(dimensions: int) -> list[float]:
    """Powers of the root of `x**(d + 1) = x + 1`, which is found by Newton's method."""
    root = 2.0
    for _ in range(60):
        power = 1.0
        for _ in range(dimensions):
            power *= root
        root -= (power * root - root - 1) / ((dimensions + 1) * power - 1)
    found: list[float] = []
    for _ in range(dimensions):
        found.append((found[-1] if found else 1.0) / root)
    return found


def _between(low: str, high: str, place: float, spec: str) -> str:
    first, last = float(low), float(high)
    if not first < last:
        raise ConfigError(
            f"{spec!r}: of a range the second number is the larger, not {low}..{high}"
        )
    whole = not any(mark in low + high for mark in ".eE")
    if first > 0 and last / first >= _WIDE:
        value = _geometric(first, last, place)
    else:
        value = first + place * (last - first)
    return str(round(value)) if whole else f"{value:.{_DIGITS}g}"


def _geometric(first: float, last: float, place: float) -> float:
    """Between two numbers, that part of the way in equal factors: by bisection, since the machine's powers differ in their last digits."""
    if place >= 1.0:
        return last
    low, high, at, step = first, last, 0.0, 1.0
    for _ in range(20):
        middle, step = sqrt(low * high), step / 2
        if place >= at + step:
            low, at = middle, at + step
        else:
            high = middle
    return low
