"""Sums that windows may add to and take from for ever."""

import math

__all__ = ["ExactSum", "difference_of_products", "two_product"]

_SPLITTER = 2.0**27 + 1
"""Halves a double's 53 digits (Veltkamp)."""


def two_product(a: float, b: float) -> tuple[float, float]:
    """The product rounded, and what rounding left out (Dekker).

    >>> two_product(1e8 + 1, 1e8 + 1)
    (1.00000002e+16, 1.0)
    """
    product = a * b
    high_a = _SPLITTER * a
    high_a -= high_a - a
    high_b = _SPLITTER * b
    high_b -= high_b - b
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


class ExactSum:
    """A sum of twice a double's digits: what is taken out again leaves nothing behind.

    Cost: O(1).

    >>> total = ExactSum()
    >>> for number in (1.0, 1e30, -1e30):
    ...     total.add(number)
    >>> total.value
    1.0
    """

    def __init__(self) -> None:
        self.high = 0.0
        self.low = 0.0

    def add(self, number: float) -> None:
        """Add a number."""
        total = self.high + number
        back = total - self.high
        low = self.low + ((self.high - (total - back)) + (number - back))
        self.high = total + low
        self.low = low - (self.high - total)

    def add_product(self, a: float, b: float) -> None:
        """Add the product of two numbers, with all its digits."""
        product, rest = two_product(a, b)
        self.add(product)
        self.add(rest)

    @property
    def value(self) -> float:
        """The sum, rounded."""
        return self.high + self.low

    def times(self, other: "ExactSum") -> list[float]:
        """Numbers whose sum is the product with another."""
        return [
            *two_product(self.high, other.high),
            *two_product(self.high, other.low),
            *two_product(self.low, other.high),
        ]


def difference_of_products(a: ExactSum, b: ExactSum, c: ExactSum, d: ExactSum) -> float:
    """`a * b - c * d`, rounded once."""
    return math.fsum([*a.times(b), *(-number for number in c.times(d))])
