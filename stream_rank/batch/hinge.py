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
        self._groups = []
        self.n_pairs = 0
        for events in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            counts, ranks = np.unique(y[events], return_inverse=True, return_counts=True)[2:0:-1]
            n = len(events)
            self.n_pairs += (n * n - int(np.square(counts).sum())) // 2
            if len(counts) > 1:
                tree = np.empty(len(counts) + 1, np.int64)
                self._groups.append((events, ranks.astype(np.int64) + 1, tree))

    def at(self, scores: Array) -> Risk:
        """The loss of some scores."""
        slope = np.zeros(len(scores))
        loss = 0.0
        for events, ranks, tree in self._groups:
            some = scores[events]
            order = np.argsort(some, kind="stable")
            some = some[order]
            below, above = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
            count_violations(some, ranks[order], tree, below, above)
            pull = (above - below).astype(float)
            slope[events[order]] = pull / self.n_pairs
            loss += float(below.sum() + pull @ some)
        return Risk(loss / self.n_pairs, slope)


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
