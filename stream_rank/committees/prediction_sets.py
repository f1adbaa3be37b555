"""Prediction sets: neighbouring ranks, among which the label is as often as was asked for."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from river import base

from stream_rank.engine.scoring.sets import (
    COUNT,
    COVERED,
    LEVEL,
    RECENT,
    SUMS,
    bounds,
    count_sets,
)
from stream_rank.parameters import check_number

__all__ = ["PredictionSets"]


class PredictionSets(base.Classifier):
    r"""A learner whose `predict_set_one` is a run of neighbouring labels, among which the true one is in a given part of the events.

    The set reaches from the lowest label to the highest that are more probable than `1 - level`. Before each event is learned, the set is
    compared with its label, and the level moves by `rate(t)` times what went wrong (adaptive conformal inference):

        level += rate(t) * (missed - (1 - coverage)),    missed = 1 if the label was outside, else 0,
        rate(t) = max(rate, 1 / sqrt(t)) for the t-th event.

    So over T events, whatever they are and however good the learner is, the part that was missed differs from `1 - coverage` by at most
    `2 / (rate(T) * T)`: a level of 1 or more is all labels, which miss nothing, and one of 0 or less
    none, so that levels stay between -1 and 2. After a drift the level follows. What the level is off at the beginning costs as many events too many, or too few, as
    it is over the rate there, once and for all; so it begins with 1, and not with `rate`, which on short streams would be seen. Where the learner is right
    more often than asked, some sets are empty: those of the events of which it is least certain.

    Cost: that of `predict_proba_one` beside the learner's own. It cannot be saved in a snapshot; the learner can. A run counts how
    often such sets of its learners cover labels, and how large they are, by itself: `coverage` and `set_size` in its summary.

    Parameters
    ----------
    learner
        A classifier over ordered labels with `predict_proba_one`, alone or behind stages.
    coverage
        In what part of events the label is to be within the set.
    rate
        How fast the level moves in the end: more follows drifts sooner, less gives steadier sets.

    References
    ----------
    I. Gibbs and E. Candes. Adaptive conformal inference under distribution shift. NeurIPS 2021.
    A. Angelopoulos, R. Barber and S. Bates. Online conformal prediction with decaying step sizes. ICML 2024.
    M. Sadinle, J. Lei and L. Wasserman. Least ambiguous set-valued classifiers with bounded error levels. JASA 114, 2019.

    Examples
    --------
    >>> from stream_rank import OAPStream, OrdinalLogit, PredictionSets
    >>> model = PredictionSets(OrdinalLogit(n_ranks=5))
    >>> for x, y in OAPStream(seed=1, features="quadratic").take(2_000):
    ...     model.learn_one(x, y)
    >>> model.predict_set_one(x), round(model.covered, 2)
    ([3, 4], 0.9)
    """

    def __init__(self, learner: Any, coverage: float = 0.9, rate: float = 0.05) -> None:
        check_number("coverage", coverage, 0.0, 1.0)
        check_number("rate", rate, 1e-6, 1.0)
        self.learner = learner
        self.coverage = coverage
        self.rate = rate
        self._sums = np.zeros(SUMS)
        self._sums[LEVEL] = coverage

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from stream_rank.learners.ordinal_logit import OrdinalLogit

        yield {"learner": OrdinalLogit()}

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def level(self) -> float:
        """What a label's probability and this must exceed 1 together with, to be in a set."""
        return float(self._sums[LEVEL])

    @property
    def covered(self) -> float:
        """In what part of the events so far the label was within the set."""
        events = float(self._sums[COUNT])
        return float(self._sums[COVERED]) / events if events else self.coverage

    def predict_set_one(self, x: Mapping[Any, Any]) -> list[Any]:
        """Neighbouring labels, ascending; none where no label is probable enough."""
        shares = self.learner.predict_proba_one(x)
        first, end = bounds(np.array([*shares.values()], np.float64), self.level)
        return [*shares][first:end]

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one event, after its set was compared with its label."""
        shares = self.learner.predict_proba_one(x)
        self.learner.learn_one(x, y)
        if shares:
            rank = [*shares].index(y) + 1 if y in shares else 0  # no set has a label that is new
            given = np.array([[*shares.values()]], np.float64), np.array([float(rank)])
            count_sets(*given, self.coverage, self.rate, self._sums, np.empty((RECENT, 1)))

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> Any:
        """What the learner predicts."""
        return self.learner.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The learner's probabilities."""
        return self.learner.predict_proba_one(x, **kwargs)  # type: ignore[no-any-return]

    def __copy__(self) -> Self:
        return deepcopy(self)  # two must not share a learner
