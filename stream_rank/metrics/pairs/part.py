"""The pairs of one group, and what is made of those of several; without River, which is slow to import."""

import math
from collections.abc import Iterable
from typing import Protocol

__all__ = ["Part", "mean_of"]


class Part(Protocol):
    """The pairs of one group."""

    @property
    def events(self) -> int:
        """How many events there are."""

    def add(self, y_true: float, y_pred: float, w: float, sign: int) -> None:
        """Add an event if `sign` is 1, take it away again if it is -1."""

    def fraction(self) -> tuple[float, float]:
        """What is summed over all pairs, and what it is to be divided by."""


def mean_of(parts: Iterable[Part], empty: float) -> float:
    """The mean over all pairs; `empty` while there is no pair that counts."""
    fractions = [part.fraction() for part in parts]
    below = math.fsum(fraction[1] for fraction in fractions)
    return math.fsum(fraction[0] for fraction in fractions) / below if below else empty
