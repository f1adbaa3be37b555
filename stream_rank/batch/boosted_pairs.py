"""The weights that RankBoost gives to pairs, `exp(f(j) - f(h))` for h preferred over j, summed in various ways."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BoostedLabels", "BoostedPairs"]

Array = npt.NDArray[Any]


def _log_sum(logs: Array) -> float:
    return float(np.logaddexp.reduce(logs, initial=-np.inf))


class BoostedPairs:
    """Pairs one by one: O(p)."""

    def __init__(self, n_events: int, preferred: Array, other: Array) -> None:
        self._n_events = n_events
        self._preferred = preferred
        self._other = other
        self.n_pairs = len(preferred)

    def _weights(self, scores: Array) -> Array:
        logs = scores[self._other] - scores[self._preferred]
        weights: Array = np.exp(logs - _log_sum(logs))
        return weights

    def pull(self, scores: Array) -> Array:
        """For every event the weight of the pairs in which it is preferred, less that of those in which it is not."""
        weights, m = self._weights(scores), self._n_events
        pull: Array = np.bincount(self._preferred, weights, m) - np.bincount(
            self._other, weights, m
        )
        return pull

    def parted(self, scores: Array, above: Array) -> tuple[float, float]:
        """The weight of the pairs of which only the preferred is above, and of those of which only the other is."""
        weights = self._weights(scores)
        lead = above[self._preferred].astype(int) - above[self._other]
        return float(weights[lead > 0].sum()), float(weights[lead < 0].sum())

    def mean_loss(self, scores: Array) -> float:
        """The mean of `exp(f(j) - f(h))`."""
        logs = scores[self._other] - scores[self._preferred]
        return float(np.exp(_log_sum(logs) - np.log(self.n_pairs)))


class BoostedLabels:
    """All pairs of different labels within groups: O(m), in logarithms, since a rule that parts all pairs has weights of any size."""

    def __init__(self, y: Array, groups: Array) -> None:
        labels = np.unique(y, return_inverse=True)[1]
        width = int(labels.max(initial=0)) + 1
        found, self._classes = np.unique(groups * width + labels, return_inverse=True)
        self._starts = np.flatnonzero(np.diff(found // width, prepend=-1))
        self._ends = np.append(self._starts[1:], len(found))
        self._order = np.argsort(self._classes, kind="stable")
        self._bounds = np.flatnonzero(np.diff(self._classes[self._order], prepend=-1))
        counts = np.bincount(self._classes)
        self.n_pairs = 0
        for start, end in zip(self._starts, self._ends, strict=True):
            some = counts[start:end]
            self.n_pairs += (int(some.sum()) ** 2 - int(np.square(some).sum())) // 2

    def _beyond(self, logs: Array, higher: bool) -> Array:
        """For every event the logarithm of the sum of the exponentials over lower labels of its group, or over higher ones."""
        classes = np.logaddexp.reduceat(logs[self._order], self._bounds)
        sums = np.full(len(classes), -np.inf)
        for start, end in zip(self._starts, self._ends, strict=True):
            some = classes[start:end]
            if higher:
                sums[start : end - 1] = np.logaddexp.accumulate(some[:0:-1])[::-1]
            else:
                sums[start + 1 : end] = np.logaddexp.accumulate(some[:-1])
        return sums[self._classes]

    def _log_total(self, scores: Array) -> float:
        return _log_sum(self._beyond(scores, higher=False) - scores)

    def pull(self, scores: Array) -> Array:
        """For every event the weight of the pairs in which it is preferred, less that of those in which it is not."""
        total = self._log_total(scores)
        preferred = np.exp(self._beyond(scores, higher=False) - scores - total)
        other = np.exp(self._beyond(-scores, higher=True) + scores - total)
        pull: Array = preferred - other
        return pull

    def parted(self, scores: Array, above: Array) -> tuple[float, float]:
        """The weight of the pairs of which only the preferred is above, and of those of which only the other is."""
        total = self._log_total(scores)
        weights = []
        for side in (above, ~above):
            logs = self._beyond(np.where(side, -np.inf, scores), higher=False) - scores
            weights.append(float(np.exp(_log_sum(logs[side]) - total)))
        return weights[0], weights[1]

    def mean_loss(self, scores: Array) -> float:
        """The mean of `exp(f(j) - f(h))`."""
        return float(np.exp(self._log_total(scores) - np.log(self.n_pairs)))
