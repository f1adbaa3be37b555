"""Preferences by a hidden utility: who leads by it, with noise, is preferred, and where nobody leads by much there is a tie.

With logistic noise this is the model of Bradley and Terry (1952), with ties that of Rao and Kupper (1967); with normal noise it
is that of Thurstone (1927).
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simulators.streams.chances import logistic_below, normal_below
from simulators.streams.concepts import Phase, phase
from simulators.streams.draws import Draws
from simulators.streams.told import Told, least_of_outcomes, losses_of_answers

__all__ = ["Items", "Preferences"]

Array = npt.NDArray[Any]


class Items(Protocol):
    """Items that are compared, two at a time."""

    def pairs(self, first: int, count: int) -> tuple[Any, Any]:
        """The items of some events."""

    def lead(self, one: Any, other: Any, rules: Array) -> Array:
        """By how much the first is ahead of the other in utility, by rules."""

    def around(self, one: Any, other: Any) -> Array:
        """By how much it is ahead besides, so that a may beat b, b beat c, and c beat a."""

    def written(self, items: Any) -> list[str]:
        """Items as JSON."""


class Preferences:
    """Preferences between items of some kind.

    Parameters
    ----------
    model
        "bradley-terry" or "thurstone".
    noise
        The scale of what is added to a lead: of logistic noise, or the deviation of each item's normal noise.
    tie
        A lead, noise and all, of less than that is a tie.
    cycles
        So much of what goes around is added to leads; no utility can tell it.
    label_noise
        The share of events that a coin tells.
    """

    loss = "preference error"
    flags = "--learner pairwise-ranker"

    def __init__(
        self,
        seed: int,
        items: Items,
        model: str,
        noise: float = 1.0,
        tie: float = 0.0,
        cycles: float = 0.0,
        label_noise: float = 0.0,
        drift: str = "none",
        every: int = 10_000,
    ) -> None:
        self._items, self._normal, self._tie = items, model == "thurstone", tie
        self._scale = noise * 2**0.5 if self._normal else noise
        self._cycles, self._label_noise = cycles, label_noise
        self._drift, self._every = drift, every
        self._added, self._chances = Draws(seed, "noise"), Draws(seed, "chances")

    def told(self, first: int, count: int) -> Told:
        """Some events."""
        now = phase(self._drift, first, count, self._every)
        chances = self._chances.uniform(first, count, 3)
        one, other = self._items.pairs(first, count)
        around = self._cycles * self._items.around(one, other)
        rules = np.where(chances[:, 0] < now.chance, now.coming, now.passing)
        draw = self._added.normal if self._normal else self._added.logistic
        lead = self._items.lead(one, other, rules) + around
        lead = lead + self._scale * draw(first, count, 1)[:, 0]
        sign = np.where(np.abs(lead) < self._tie, 0.0, np.sign(lead))
        coin = np.where(chances[:, 2] < 0.5, 1.0, -1.0)
        sign = np.where(chances[:, 1] < self._label_noise, coin, sign)
        texts = zip(
            self._items.written(one), self._items.written(other), sign.tolist(), strict=True
        )
        lines = [
            f'{{"preferred": {b if way < 0 else a}, "other": {a if way < 0 else b}'
            + (', "tie": true}' if way == 0 else "}")
            for a, b, way in texts
        ]
        return Told(lines, self._least(one, other, around, now))

    def _least(self, one: Any, other: Any, around: Array, now: Phase) -> dict[str, Array]:
        """What the best prediction loses, and, where there are cycles, what the order by utility loses."""
        chances = self._outcomes(one, other, around, now.passing) * (1 - now.chance)
        chances += self._outcomes(one, other, around, now.coming) * now.chance
        by_coin = np.array([[0.5], [0.0], [0.5]])
        first, tie, second = (1 - self._label_noise) * chances + self._label_noise * by_coin
        found = {"": least_of_outcomes(first, tie, second)}
        if self._cycles:
            # who knows the utility alone says who leads by it
            ahead = self._items.lead(
                one, other, np.where(now.chance > 0.5, now.coming, now.passing)
            )
            losses = losses_of_answers(first, tie, second)
            found["of the order by utility"] = np.where(ahead > 0, losses[:, 0], losses[:, 2])
        return found

    def _outcomes(self, one: Any, other: Any, around: Array, rules: Array) -> Array:
        """The chances that the first is preferred, neither, or the second."""
        below = normal_below if self._normal else logistic_below
        lead = self._items.lead(one, other, rules) + around
        scale = max(self._scale, 1e-12)
        second, up_to_tie = below((-self._tie - lead) / scale), below((self._tie - lead) / scale)
        return np.stack([1 - up_to_tie, up_to_tie - second, second])
