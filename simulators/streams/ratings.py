"""Ratings whose hidden score, with normal noise, lies between the edges of ranks: over normal features, or on the OAP paper's saddle."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simulators.streams.chances import normal_below
from simulators.streams.concepts import phase
from simulators.streams.draws import Draws
from simulators.streams.normal_features import NormalFeatures, rounded
from simulators.streams.told import Told, least_of_ranks, written
from stream_rank.engine.products import products

__all__ = ["Linear", "Rated", "Ratings", "Saddle"]

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


class Linear:
    """Scores that are sums of weighted features; edges at equal distances between -1.5 and 1.5."""

    def __init__(
        self, seed: int, width: int, non_zeros: int, n_ranks: int, grows_every: int
    ) -> None:
        self._features = NormalFeatures(seed, "ratings", width, non_zeros, grows_every)
        self.names = self._features.names
        self.edges = 1.5 * (2 * np.arange(1, n_ranks) / n_ranks - 1)

    def table(self, first: int, count: int) -> Array:
        """Features."""
        return self._features.table(first, count)

    def scores(self, X: Array, rules: Array) -> Array:
        """Scores."""
        return products(np.where(np.isnan(X), 0.0, X), self._features.by_rule(rules))

    def unseen(self, seen: Array, rules: Array) -> Array:
        """Of a feature that is not seen, which is normal: the square of its weight."""
        weights = self._features.by_rule(rules)
        return products(np.where(seen, 0.0, weights), weights)


class Saddle:
    """The OAP paper's: points of the unit square, scored by `10 (x0 - a) (x1 - b)`, with a and b of 1/2 by the first rule."""

    names = ["x0", "x1"]  # noqa: RUF012 - as of the others
    edges = np.array([-1.0, -0.1, 0.25, 1.0])

    def __init__(self, seed: int) -> None:
        self._points = Draws(seed, "points")
        self._centres = Draws(seed, "centres")

    def table(self, first: int, count: int) -> Array:
        """Points."""
        return rounded(self._points.uniform(first, count, 2))

    def scores(self, X: Array, rules: Array) -> Array:
        """Scores; the centres of other rules lie within 0.3 of the first."""
        known, places = np.unique(rules, return_inverse=True)
        centres = np.array([self._centres.uniform(int(rule), 1, 2)[0] for rule in known])
        centres = np.where((known == 0)[:, None], 0.5, 0.2 + 0.6 * centres)[places]
        found: Array = 10.0 * (X[:, 0] - centres[:, 0]) * (X[:, 1] - centres[:, 1])
        return found

    def unseen(self, seen: Array, rules: Array) -> Array:
        """Both coordinates are always there."""
        return np.where(seen.all(axis=1), 0.0, np.nan)


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
