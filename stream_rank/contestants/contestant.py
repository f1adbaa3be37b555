"""The protocol of contestants: the learners of a run."""

from collections.abc import Hashable, Mapping
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.rows import Rows

__all__ = ["Contestant", "Memory"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Memory(Protocol):
    """A contestant's state for snapshots; `checkpoint.stateful.Stateful` is the same protocol."""

    @property
    def key(self) -> str:
        """The key of its state in snapshots."""

    def dump(self) -> State:
        """Its whole state."""

    def load(self, state: State) -> None:
        """Continue from another's state."""


class Contestant(Protocol):
    """A learner of ranks or of scores, and what it can do.

    Callers use these members alone, and never check the class of a contestant.
    """

    name: str
    """The specification that it was asked for by; unique within a run."""

    @property
    def model(self) -> Any:
        """The estimator."""

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Whether its predictions are ranks or scores."""

    @property
    def chain(self) -> tuple[str, ...]:
        """The specifications of the stages before it, in their order."""

    @property
    def votes_of(self) -> tuple[str, ...]:
        """The names of those whose votes it counts: they learn every event before it does."""

    @property
    def limits(self) -> LearnerLimits:
        """The largest numbers and the most features that it takes."""

    def memory_at(self, n_features: int) -> int:
        """Bytes that it takes at most with so many features; 0 if that is not known."""

    def bound(self, max_features: int) -> None:
        """Take no more features than so many, which its limits say from now on."""

    @property
    def learns_groups(self) -> bool:
        """Whether it makes use of the groups of events."""

    @property
    def has_users(self) -> bool:
        """Whether it learns of users, whose losses count by groups then."""

    @property
    def finds_items(self) -> bool:
        """Whether it orders items for users, and counts how well in `learn_some`."""

    @property
    def gives_probabilities(self) -> bool:
        """Whether it says how likely each rank is."""

    @property
    def learns_preferences(self) -> bool:
        """Whether it learns that one item is preferred to another."""

    @property
    def state(self) -> Memory | None:
        """Its state for snapshots; None if it has none, so that its run cannot be resumed."""

    def digest(self) -> str | None:
        """A digest of its whole state: with the same digest two behave the same from here on. None if there is none."""

    def rule(self) -> Rule:
        """The weights by feature and the thresholds, as far as it has any."""

    def insight(self, rows: Rows | None = None) -> Insight:
        """What monitoring shows: the rule, and its scores and votes for some events. Cost: predicting them."""

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        """Predict events, each before it is learned; NaN where there was no prediction yet."""

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        """Learn events that were predicted before."""

    def learn_some(
        self,
        rows: Rows,
        labels: Array,
        groups: Array | None,
        asking: Mask,
        learning: Mask,
        shares: Array | None = None,
        watched: Any = None,
    ) -> Array:
        """Predict the events that `asking` says, and learn those that `learning` says, each after its prediction.

        One that gives probabilities leaves each rank's in `shares`, a row for each event; one that `finds_items` counts in `watched` what
        users liked next. What is returned for others means nothing.
        """

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; those of `unknown_features` have features that rows have not, and are given whole."""

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        """Learn preferences; before each is learned, by how much the preferred item was ahead, and the probabilities that it
        is preferred, that neither is, and that the other is. NaN if it does not learn preferences."""

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Forget features, and give the place of each to the one that it is mapped to, which is as one that never came.

        Between any two events; those that come after it have other names in the same slots.
        """
