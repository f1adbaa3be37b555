"""How a learner stands, looked at by the last events that it learned."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import mean, product
from stream_rank.learners.ensemble import Ensemble
from stream_rank.learners.rank_learner import RankLearner
from stream_rank.learners.rows import Rows
from stream_rank.stream.contestant import Contestant

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
    rule, model = contestant.rule(), contestant.model
    weights = np.fromiter(rule["weights"].values(), np.float64, len(rule["weights"]))
    norm = math.sqrt(product(weights, weights)) if len(weights) else None
    thresholds = list(rule["thresholds"])
    if not isinstance(model, RankLearner):
        return Probe(norm, thresholds, None, None, None)
    margin = disagreement = None
    if rows is not None and len(rows) and len(thresholds):
        margin = _margin(np.asarray(model.utility_many(rows)), labels, model.labels, thresholds)
        if isinstance(model, Ensemble):
            shares = np.asarray(model.predict_proba_many(rows))
            disagreement = 1 - mean(shares.max(axis=1))
    return Probe(norm, thresholds, margin, disagreement, model._model.updates)


def _margin(scores: Array, labels: Array, known: list[Any], thresholds: list[float]) -> float:
    place = {float(label): i for i, label in enumerate(known)}
    ranks = np.array([place[label] for label in labels.tolist()])
    edges = np.array([-np.inf, *thresholds, np.inf])
    return mean(np.minimum(scores - edges[ranks], edges[ranks + 1] - scores))
