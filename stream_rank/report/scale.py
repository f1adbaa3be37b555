"""Scales of charts: from numbers to coordinates."""

import math
from dataclasses import dataclass

__all__ = ["Scale", "short"]

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """Maps numbers from `low` to `high` to coordinates from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False
    whole: bool = False
    """Whether only whole numbers are on it."""

    def place(self, number: float) -> float:
        """The coordinate of a number."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, number = math.log10(low), math.log10(high), math.log10(max(number, low))
        share = (number - low) / (high - low) if high > low else 0.5
        return self.begin + share * (self.end - self.begin)

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers on the scale.

        >>> Scale(0, 1.1, 0, 1).ticks()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        >>> Scale(0.5, 11.5, 0, 1, whole=True).ticks()
        [5.0, 10.0]
        >>> Scale(0.9, 2.1, 0, 1, whole=True).ticks()
        [1.0, 2.0]
        """
        if self.logarithmic:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**power for power in powers]
        size = (self.high - self.low) / about or 1.0
        size = max(size, 1.0) if self.whole else size
        unit = 10.0 ** math.floor(math.log10(size))
        steps = (unit * each for each in _STEPS if not self.whole or (unit * each).is_integer())
        step = next(each for each in steps if each >= size * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(step * count, 12) for count in range(first, last + 1)]


def short(number: float) -> str:
    """A number in few characters.

    >>> [short(n) for n in (0.25, 10, 1e5, 2.5e6)]
    ['0.25', '10', '100 k', '2.5 M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size * 10 or (abs(number) >= size and number % size == 0):
            return f"{number / size:.4g} {letter}"
        if abs(number) >= size and letter != "k":
            return f"{number / size:.4g} {letter}"
    return f"{number:.4g}"
