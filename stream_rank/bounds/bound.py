"""A bound on how much worse a rule is on other events than on those that it learned."""

from math import log, sqrt
from typing import NamedTuple

from stream_rank.parameters import check_number

__all__ = ["Bound", "check_delta", "deviation"]


class Bound(NamedTuple):
    """With probability `1 - delta` the expected loss is less than that on the events learned, plus `gap`.

    >>> from stream_rank.bounds import hinge
    >>> bound = hinge(m=100, regularization=0.1, kappa=1.0, span=4.0, delta=0.05)
    >>> bound.vacuous
    True
    >>> print(bound)
    vacuous: a gap of 43.3 where no loss is above 4 (delta 0.05)
    >>> print(hinge(m=1_000_000, regularization=0.1, kappa=1.0, span=4.0, delta=0.05))
    a gap of 0.402 where no loss is above 4 (delta 0.05)
    """

    gap: float
    most: float
    """The largest loss that there can be."""
    delta: float

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing: the expected loss is below it without any learning."""
        return self.gap >= self.most

    def __str__(self) -> str:
        said = "vacuous: " if self.vacuous else ""
        return f"{said}a gap of {self.gap:.3g} where no loss is above {self.most:g} (delta {self.delta:g})"


def check_delta(delta: float) -> None:
    """Raise a `ValueError` unless it is a probability that is neither 0 nor 1."""
    check_number("delta", delta, 1e-300, 1 - 1e-16)


def deviation(m: int, delta: float, sides: int = 1) -> float:
    """`sqrt(2 ln(sides / delta) / m)`, of McDiarmid's inequality.

    >>> deviation(m=2, delta=1 / 2.718281828459045)
    1.0
    """
    check_delta(delta)
    return sqrt(2 * log(sides / delta) / m)
