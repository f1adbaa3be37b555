"""The hinge losses of all pairs, by their sum alone."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stream_rank.engine.scoring.violations import count_violations

__all__ = ["HingeOfLabels", "HingeOfPairs", "HingeRisk", "Risk"]

Array = npt.NDArray[Any]


class Risk(NamedTuple):
    """The mean of `max(0, 1 - (f(h) - f(j)))` over pairs, and its slope in every event's score."""

    loss: float
    slope: Array


class HingeRisk(Protocol):
    """What a rule is asked by."""

    n_pairs: int

    def at(self, scores: Array) -> Risk:
        """The loss of some scores."""


class HingeOfLabels:
    """All pairs of different labels within groups: O(m log m), however many pairs there are (Joachims 2006, with a tree for its ranks)."""

    def __init__(self, y: Array, groups: Array) -> None:
        order = np.argsort(groups, kind="stable")
        self._groups = groups
        self._bounds = np.append(np.flatnonzero(np.diff(groups[order], prepend=-1)), len(y))
        self._ranks = np.empty(len(y), np.int64)
        self.n_pairs = 0
        for events in np.split(order, self._bounds[1:-1]):
            _, ranks, counts = np.unique(y[events], return_inverse=True, return_counts=True)
            self._ranks[events] = ranks + 1
            self.n_pairs += (len(events) ** 2 - int(np.square(counts).sum())) // 2
        self._tree = np.empty(int(self._ranks.max(initial=0)) + 1, np.int64)

    def at(self, scores: Array) -> Risk:
        """The loss of some scores."""
        order = np.lexsort((scores, self._groups))
        some, m = scores[order], len(scores)
        below, above = np.empty(m, np.int64), np.empty(m, np.int64)
        count_violations(some, self._ranks[order], self._bounds, self._tree, below, above)
        pull = (above - below) / self.n_pairs
        slope = np.empty(m)
        slope[order] = pull
        return Risk(float(below.sum()) / self.n_pairs + float(pull @ some), slope)


class HingeOfPairs:
    """Pairs one by one: O(p)."""

    def __init__(self, preferred: Array, other: Array) -> None:
        self._preferred = preferred
        self._other = other
        self.n_pairs = len(preferred)

    def at(self, scores: Array) -> Risk:
        """The loss of some scores."""
        short = 1 - (scores[self._preferred] - scores[self._other])
        wrong = short > 0
        m = len(scores)
        slope = np.bincount(self._other[wrong], minlength=m) - np.bincount(
            self._preferred[wrong], minlength=m
        )
        return Risk(float(short[wrong].sum()) / self.n_pairs, slope / self.n_pairs)
