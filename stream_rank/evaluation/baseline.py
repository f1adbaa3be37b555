"""Baselines: what answers would have lost that know nothing of an event but its group."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

__all__ = ["COIN", "COIN_LOSS", "Answer", "Baseline", "best_of", "counted"]

Array = npt.NDArray[Any]

COIN, COIN_LOSS = "coin", 0.5
"""What preferences are compared with: a half of the decided pairs are wrong, and a tie is half an error whichever is said."""


class Answer(NamedTuple):
    """An answer that is always given, and what it would have lost."""

    name: str
    total: float
    """The sum of its losses, which never decreases, ..."""
    terms: float
    """... and of how many predictions or pairs of them."""
    recent_loss: float | None

    @property
    def loss(self) -> float | None:
        """Its mean loss; None before there is any."""
        return self.total / self.terms if self.terms else None


class Baseline(Protocol):
    """What the learners of one kind of a scoreboard are compared with, computed once for all of them."""

    def count(self, labels: Array, numbers: Array, n_groups: int) -> None:
        """Predict labels, each from those before it, and count them; `numbers` are their groups, below `n_groups`."""

    def answers(self) -> list[Answer]:
        """The answers that could always be given, the constant first."""

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state."""

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from another baseline's state; a `ValueError` if its arrays have other sizes."""


def best_of(answers: list[Answer]) -> Answer:
    """The answer with the least loss; of equal ones the first, which is the constant.

    >>> best_of([Answer("median", 9.0, 10, 0.8), Answer("group median", 7.0, 10, 0.9)]).name
    'group median'
    """
    return min(answers, key=lambda each: each.loss or 0.0)


def counted(number: float) -> bool:
    """Whether a number of an array is a count: compiled code takes a place in a ring from it.

    >>> [counted(number) for number in (3.0, 0.0, -1.0, 0.5, float("nan"), 1e300)]
    [True, True, False, False, False, False]
    """
    return 0 <= number < 2.0**53 and number == int(number)
