"""How sure a mean loss is, and a difference of two, where neighbouring losses are alike.

The losses of a stream are no independent draws: they fall while a learner learns, and rise together where the stream is hard. The circular
block bootstrap (Politis and Romano, 1992) draws runs of neighbouring parts, so what neighbours have in common stays in the
draw. All learners are given the same draws, since they had the same events: how two differ is much surer than how each does.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import products

__all__ = ["FEWEST", "Interval", "Resampled"]

_Array = npt.NDArray[np.float64]

FEWEST = 20
"""Of fewer parts than that nothing is said: their bootstrap is too sure of itself."""
_DRAWS = 2_000
_TAIL = 0.05
"""Intervals are of 90 %: from the 5 % to the 95 % quantile of the draws."""


class Interval(NamedTuple):
    """Where a mean lies with a confidence of 90 %."""

    low: float
    high: float


class Resampled:
    """The mean losses of several learners over draws of the same parts of a stream.

    Cost: O(draws · n^(2/3)) for each learner with n parts, since runs are summed by differences of running sums.

    >>> even, odd = [0.4, 0.6] * 50, [0.5, 0.7] * 50
    >>> draws = Resampled([even, odd])
    >>> draws.difference(0, 1)
    Interval(low=-0.1, high=-0.1)
    >>> draws.chances.tolist()
    [1.0, 0.0]
    """

    def __init__(self, losses: Sequence[Sequence[float]], seed: int = 1) -> None:
        """The losses of each learner, in the same parts; they are cut to the shortest, which may lack the last one."""
        n = min(map(len, losses))
        series = np.array([list(each[:n]) for each in losses], np.float64)
        run = next(size for size in itertools.count(1) if size * size * size >= n)
        count = -(-n // run)
        starts = np.random.default_rng(seed).integers(0, n, (_DRAWS, count))
        around = np.concatenate([series, series[:, :run]], axis=1)
        sums = np.concatenate([np.zeros((len(series), 1)), np.add.accumulate(around, axis=1)], 1)
        ones = np.ones(count)
        self.means: _Array = np.stack(
            [products(each[starts + run] - each[starts], ones) / (run * count) for each in sums]
        )
        """A row for each learner, a column for each draw."""

    def interval(self, learner: int) -> Interval:
        """Where the mean loss of a learner lies."""
        return _quantiles(self.means[learner])

    def difference(self, learner: int, other: int) -> Interval:
        """Where the difference of two learners' mean losses lies."""
        return _quantiles(self.means[learner] - self.means[other])

    @property
    def chances(self) -> _Array:
        """For each learner the share of draws in which none had a lower loss; of equal ones, the first."""
        best = np.argmin(self.means, axis=0)
        shares: _Array = np.bincount(best, minlength=len(self.means)) / self.means.shape[1]
        return shares


def _quantiles(draws: _Array) -> Interval:
    ordered = np.sort(draws)
    place = int(_TAIL * len(ordered))
    low, high = ordered[place], ordered[len(ordered) - 1 - place]
    return Interval(round(float(low), 12), round(float(high), 12))
