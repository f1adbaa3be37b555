"""Diagnostics of a learner: the norm of its weights, and its margin and disagreement on the last events."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.contestants.contestant import Contestant
from stream_rank.engine.products import mean, product
from stream_rank.learners.base.capabilities import as_named
from stream_rank.learners.tables.rows import Rows

__all__ = ["Probe", "probe"]

Array = npt.NDArray[Any]


class Probe(NamedTuple):
    """Diagnostics of a rule; None where one does not apply to the learner."""

    norm: float | None
    """The Euclidean length of the weights."""
    thresholds: list[float]
    margin: float | None
    """The mean distance from scores to the nearer threshold of their label; negative for scores outside of the two."""
    disagreement: float | None
    """The mean share of the members that do not vote for the rank with most votes."""
    updates: int | None
    """The number of members' mistakes so far, each of which updated one member."""

    @property
    def finite(self) -> bool:
        """Whether the norm, the thresholds and the margin are finite."""
        numbers = (self.norm, *self.thresholds, self.margin)
        return all(math.isfinite(number) for number in numbers if number is not None)


def probe(contestant: Contestant, rows: Rows | None, labels: Array) -> Probe:
    """The diagnostics of a learner, which does not change, on some events. Cost: predicting them, and O(weights)."""
    seen = contestant.insight(rows if rows is not None and len(rows) else None)
    weights = as_named(seen.weights).numbers
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
