"""The protocol of learners that ride on a stream."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import numpy.typing as npt

from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.rows import Rows

__all__ = ["Contestant", "Memory"]

Array = npt.NDArray[Any]


class Memory(Protocol):
    """What a contestant that can be kept offers to snapshots; `checkpoint.stateful` has the same."""

    @property
    def key(self) -> str:
        """What its state is kept under."""

    def dump(self) -> State:
        """All that it learned."""

    def load(self, state: State) -> None:
        """Go on from what another learned."""


class Contestant(Protocol):
    """A learner of ranks or of scores, and what it can do.

    Whoever drives contestants asks these questions and never what class they are of.
    """

    name: str
    """What it was asked for by; no two in a run have the same."""

    model: Any
    """The estimator."""

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """What its predictions are."""

    @property
    def limits(self) -> LearnerLimits:
        """The largest numbers and the most features that it takes."""

    @property
    def learns_groups(self) -> bool:
        """Whether it makes use of the groups of events."""

    @property
    def learns_preferences(self) -> bool:
        """Whether it learns that one item is preferred to another."""

    @property
    def state(self) -> Memory | None:
        """What can be kept of it; None if it cannot be kept, and so not be resumed."""

    def digest(self) -> str | None:
        """A digest of all that it is: the same for two that are the same from here on. None if nobody can tell."""

    def rule(self) -> Rule:
        """The weights by feature and the thresholds, as far as it has any."""

    def insight(self, rows: Rows | None = None) -> Insight:
        """What those who watch look at: the rule, and what its members think of some events. The cost is that of predicting them."""

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        """Predict events, each before it is learned; NaN where there was no prediction yet."""

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        """Learn events that were predicted before."""

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; those of `unknown_features` have features that rows have not, and are given whole."""

    def test_then_train_pairs(self, preferred: Rows, others: Rows, magnitudes: Array) -> Array:
        """By how much each preferred item is ahead before its preference is learned; NaN if preferences are not learned."""
