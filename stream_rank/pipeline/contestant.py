"""Learners in the loop: the package's own, and any estimator of River's, answer the same questions."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy.typing as npt

from stream_rank.codec.limits import Limits
from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.rows import Rows
from stream_rank.pipeline.native_learner import NativeLearner
from stream_rank.pipeline.river_learner import RiverLearner

__all__ = ["Contestant", "contestant_of", "limits_of"]

Array = npt.NDArray[Any]


class Contestant(Protocol):
    """A learner of ranks or of scores that rides on a stream."""

    @property
    def name(self) -> str:
        """What it was asked for by."""

    @property
    def model(self) -> Any:
        """The estimator itself."""

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Whether predictions are ranks, or scores."""

    @property
    def limits(self) -> LearnerLimits:
        """What an event must keep to, to be learned."""

    @property
    def learns_groups(self) -> bool:
        """Whether it makes use of the groups of events."""

    @property
    def learns_preferences(self) -> bool:
        """Whether it learns preferences."""

    def test_then_train(self, rows: Rows, labels: Array, groups: list[Any] | None) -> Array:
        """Predict events, each before it is learned; NaN where there was no prediction yet."""

    def learn(self, rows: Rows, labels: Array, groups: list[Any] | None) -> None:
        """Learn events that were predicted before."""

    def predict(self, rows: Rows, strange: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; `strange` ones have features that rows have not, and stand beside them whole."""

    def prefer(self, preferred: dict[Any, float], other: dict[Any, float], by: float) -> float:
        """Learn a preference; by how much the preferred was ahead before. NaN if it cannot learn preferences."""

    def state(self) -> State | None:
        """All that it is; None if it cannot be kept."""

    def rule(self) -> Rule:
        """What was learned, as far as it is known."""

    def insight(self, X: Rows | None = None) -> Insight:
        """What is to be seen of it, by some events if there are any; it stays as it is."""


def contestant_of(name: str, model: Any, n_ranks: int | None) -> Contestant:
    """A learner as a contestant; a `ConfigError` if it cannot learn such a stream."""
    if isinstance(model, Learner):  # the one place that asks: from here on contestants answer
        return NativeLearner(name, model, n_ranks)
    return RiverLearner(name, model, n_ranks)


def limits_of(
    contestants: Sequence[Contestant], n_ranks: int | None, max_features: int, delayed: bool
) -> Limits:
    """What all contestants can bear, so that an event is learned by all or none."""
    limits = [each.limits for each in contestants]
    return Limits(
        n_ranks=n_ranks,
        largest=min([Limits.largest, *(each.largest for each in limits)]),
        longest=min([Limits.longest, *(each.longest for each in limits)]),
        max_features=int(min([max_features, *(each.max_features for each in limits)])),
        delayed=delayed,
        grouped=any(each.predicts == "scores" for each in contestants),
    )
