"""Ratings: where a hidden score, with normal noise, lies among the edges of ranks."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simulators.streams.chances import normal_below
from simulators.streams.concepts import phase
from simulators.streams.draws import Draws
from simulators.streams.told import Told, least_of_ranks, written

__all__ = ["Rated", "Ratings"]

Array = npt.NDArray[Any]

_NO_NOISE = 1e-12
"""Less than any distance of a score from an edge: ranks are then certain."""


class Rated(Protocol):
    """Events with scores."""

    names: list[str]
    edges: Array

    def table(self, first: int, count: int) -> Array:
        """The features of some events, NaN where one is not there."""

    def scores(self, X: Array, rules: Array) -> Array:
        """The scores of events by rules."""

    def unseen(self, seen: Array, rules: Array) -> Array:
        """The variances of scores by what is not seen: NaN where a rule cannot tell."""


class Ratings:
    """Ratings of some kind.

    Parameters
    ----------
    noise
        The deviation of what is added to a score.
    label_noise
        The share of labels that any rank takes the place of.
    missing
        The share of features that are not told.
    drift, every
        See `concepts`; the highest rank is new after `every` events with the drift `rank`.
    """

    loss = "rank loss"

    def __init__(
        self,
        seed: int,
        rated: Rated,
        noise: float,
        label_noise: float = 0.0,
        missing: float = 0.0,
        drift: str = "none",
        every: int = 10_000,
    ) -> None:
        self._rated, self._noise, self._label_noise, self._missing = (
            *(rated, noise, label_noise),
            missing,
        )
        self._drift, self._every = drift, every
        self._n_ranks = len(rated.edges) + 1
        self._added, self._chances = Draws(seed, "noise"), Draws(seed, "chances")
        self._left_out = Draws(seed, "missing")
        self.flags = f"--n-ranks {self._n_ranks}"

    def told(self, first: int, count: int) -> Told:
        """Some events."""
        X = self._rated.table(first, count)
        events = np.arange(first, first + count)
        now = phase(self._drift, first, count, self._every)
        chances = self._chances.uniform(first, count, 3)
        rules = np.where(chances[:, 0] < now.chance, now.coming, now.passing)
        ranks = self._n_ranks - ((self._drift == "rank") & (events < self._every))
        added = self._noise * self._added.normal(first, count, 1)[:, 0]
        scores = self._rated.scores(X, rules) + added
        y = np.minimum(np.searchsorted(self._rated.edges, scores) + 1, ranks)
        any_rank = np.floor(chances[:, 2] * ranks).astype(np.int64) + 1
        y = np.where(chances[:, 1] < self._label_noise, any_rank, y)
        seen = ~(self._left_out.uniform(first, count, X.shape[1]) < self._missing)
        nothing = np.flatnonzero(~seen.any(axis=1))
        seen[nothing, nothing % X.shape[1]] = True  # an event without features is none
        told = np.where(seen, X, np.nan)
        shares = (
            self._shares(told, seen | np.isnan(X), now.passing, ranks) * (1 - now.chance)[:, None]
            + self._shares(told, seen | np.isnan(X), now.coming, ranks) * now.chance[:, None]
        )
        at_random = (np.arange(self._n_ranks) < ranks[:, None]) / ranks[:, None]
        shares = (1 - self._label_noise) * shares + self._label_noise * at_random
        names = self._rated.names
        lines = [
            f'{{"x": {written(names, x)}, "y": {label}}}'
            for x, label in zip(told.tolist(), y.tolist(), strict=True)
        ]
        return Told(lines, {"": least_of_ranks(shares)})

    def _shares(self, told: Array, seen: Array, rules: Array, ranks: Array) -> Array:
        """How likely ranks are by a rule, given what is told."""
        means = self._rated.scores(told, rules)
        spread = np.sqrt(self._noise**2 + self._rated.unseen(seen, rules))
        away = self._rated.edges - means[:, None]
        below = normal_below(away / np.maximum(spread, _NO_NOISE)[:, None])
        below[np.arange(1, self._n_ranks) >= ranks[:, None]] = 1.0
        found: Array = np.diff(below, axis=1, prepend=0.0, append=1.0)
        return found
