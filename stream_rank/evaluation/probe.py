"""How a learner stands, looked at by the last events that it learned."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.contestants.contestant import Contestant
from stream_rank.engine.products import mean, product
from stream_rank.learners.tables.rows import Rows

__all__ = ["Probe", "probe"]

Array = npt.NDArray[Any]


class Probe(NamedTuple):
    """What can be seen of a rule; None where a learner has no such thing."""

    norm: float | None
    """The Euclidean length of the weights."""
    thresholds: list[float]
    margin: float | None
    """By how much scores lie within the thresholds of their ranks, on average; what lies outside counts against it."""
    disagreement: float | None
    """The share of the members that do not vote as most of them do, on average."""
    updates: int | None
    """Members' mistakes so far, each of which moved one."""

    @property
    def finite(self) -> bool:
        """Whether all of it are numbers to go on with."""
        numbers = (self.norm, *self.thresholds, self.margin)
        return all(math.isfinite(number) for number in numbers if number is not None)


def probe(contestant: Contestant, rows: Rows | None, labels: Array) -> Probe:
    """Look at a learner, by some events if there are any. It stays as it is; the cost is that of predicting them, and of the weights."""
    seen = contestant.insight(rows if rows is not None and len(rows) else None)
    weights = np.fromiter(seen.weights.values(), np.float64, len(seen.weights))
    norm = math.sqrt(product(weights, weights)) if len(weights) else None
    margin = disagreement = None
    if seen.scores is not None and seen.thresholds:
        margin = _margin(seen.scores, labels, seen.labels, seen.thresholds)
        if seen.shares is not None:
            disagreement = 1 - mean(seen.shares.max(axis=1))
    return Probe(norm, seen.thresholds, margin, disagreement, seen.updates)


def _margin(scores: Array, labels: Array, known: list[Any], thresholds: list[float]) -> float:
    place = {float(label): i for i, label in enumerate(known)}
    ranks = np.array([place[label] for label in labels.tolist()])
    edges = np.array([-np.inf, *thresholds, np.inf])
    return mean(np.minimum(scores - edges[ranks], edges[ranks + 1] - scores))
