"""Learners behind stages as contestants."""

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stream_rank.contestants.contestant import Contestant, Memory
from stream_rank.contestants.preparations import Chain, Preparations, specs_of
from stream_rank.engine.preparation.lessons import answers
from stream_rank.features.catalogue import state_of
from stream_rank.features.lessons import pairs_of
from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.state import State, digest_of
from stream_rank.learners.tables.rows import Rows

__all__ = ["PreparedLearner"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class PreparedLearner:
    """A contestant whose events go through stages first: `scale | normalize | prank`.

    As in River's pipelines an event is predicted by what the stages knew before it, and learned after they learned it.
    """

    def __init__(
        self, name: str, chain: Chain, preparations: Preparations, inner: Contestant
    ) -> None:
        self.name, self.chain = name, chain
        self.votes_of: tuple[str, ...] = ()
        self._preparations, self._inner = preparations, inner

    @property
    def model(self) -> Any:
        """The estimator behind the stages."""
        return self._inner.model

    @property
    def key(self) -> str:
        """The key of its state in snapshots."""
        return f"learners/{self.name}"

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Whether its predictions are ranks or scores."""
        return self._inner.predicts

    @property
    def limits(self) -> LearnerLimits:
        """The largest numbers that stages and learner take; how long an event is, the stages may change."""
        inner = self._inner.limits
        largest = min([inner.largest, *(stage.largest for stage in self._stages)])
        return inner._replace(largest=largest, longest=np.inf)

    def memory_at(self, n_features: int) -> int:
        """Bytes that the learner takes at most with so many features behind the stages."""
        return self._inner.memory_at(n_features)

    def bound(self, max_features: int) -> None:
        """Let no more features than so many out of the stages; those are left out that came last."""
        self._inner.bound(max_features)

    @property
    def _stages(self) -> list[Any]:
        return self._preparations.of(self.chain)

    @property
    def learns_groups(self) -> bool:
        """Whether it makes use of the groups of events."""
        return self._inner.learns_groups

    @property
    def has_users(self) -> bool:
        """Whether it learns of users."""
        return self._inner.has_users

    @property
    def finds_items(self) -> bool:
        """Whether the learner orders items for users."""
        return self._inner.finds_items

    @property
    def gives_probabilities(self) -> bool:
        """Whether it says how likely each rank is."""
        return self._inner.gives_probabilities

    @property
    def learns_preferences(self) -> bool:
        """Whether it learns that one item is preferred to another."""
        return self._inner.learns_preferences

    @property
    def state(self) -> Memory | None:
        """Itself, if what is behind the stages can be kept."""
        return None if self._inner.state is None else self

    def dump(self) -> State:
        """The state of the learner, and which stages are before it: theirs are kept once for all learners."""
        assert self._inner.state is not None  # or nobody asks
        state = self._inner.state.dump()
        if not self.chain:
            return state
        return State({**state.metadata, "preparation": list(self.chain)}, state.arrays)

    def load(self, state: State) -> None:
        """Continue from another's state."""
        assert self._inner.state is not None
        if state.metadata.get("preparation", []) != list(self.chain):
            raise ValueError(f"it was prepared by {state.metadata.get('preparation')}")
        self._inner.state.load(state)

    def digest(self) -> str | None:
        """A digest of the states of the learner and its stages."""
        if self._inner.state is None:
            return None
        state = self.dump()
        plain = State({**state.metadata, "preparation": specs_of(self.chain)}, state.arrays)
        parts = {"learner": plain}
        parts |= {str(i): state_of(stage) for i, stage in enumerate(self._stages)}
        metadata = {key: state.metadata for key, state in parts.items()}
        return digest_of(
            metadata,
            {
                f"{key}/{name}": a
                for key, state in parts.items()
                for name, a in state.arrays.items()
            },
        )

    def rule(self) -> Rule:
        """The rule over prepared features: it predicts events that went through the stages."""
        return self._inner.rule()

    def insight(self, rows: Rows | None = None) -> Insight:
        """What monitoring shows: the rule over prepared features, and its scores and votes for some events."""
        asked = None if rows is None else self._bounded(self._preparations.asked(self.chain, rows))
        return self._inner.insight(asked)

    # Events -----------------------------------------------------------------------------------

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        """Predict events, each before it is learned by stages and learner."""
        everything = np.ones(len(rows), np.bool_)
        return self.learn_some(rows, labels, groups, everything, everything)

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        """Learn events that were predicted before."""
        self.learn_some(
            rows, labels, groups, np.zeros(len(rows), np.bool_), np.ones(len(rows), np.bool_)
        )

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
        """Predict the events that `asking` says, and learn those that `learning` says, each after its prediction."""
        lessons = self._preparations.lessons(self.chain, rows, labels, asking, learning)
        events, learned = lessons.events, lessons.learning
        asked = ~learned
        both = None if shares is None else np.empty((len(events), shares.shape[1]))
        if watched is not None:
            # by the rows that are learned: what is believed is then as it was asked
            watched = watched._replace(asking=watched.asking[events])
        predictions = self._inner.learn_some(
            self._bounded(lessons.rows),
            labels[events],
            None if groups is None else groups[events],
            asked,
            learned,
            both,
            watched,
        )
        found = np.full(len(rows), np.nan)
        answers(events, learned, predictions, found)
        if shares is not None and both is not None:
            shares[events[asked]] = both[asked]
        return found

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; nothing is learned."""
        asked = self._bounded(self._preparations.asked(self.chain, rows))
        unknown = {
            event: next(self._bounded(self._preparations.asked_one(self.chain, x)).dicts())
            for event, x in unknown_features.items()
        }
        return self._inner.predict(asked, unknown)

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        """Learn preferences, whose items are prepared by what the stages knew before them."""
        prepared = self._preparations.pairs(self.chain, preferred, others).rows
        one, other = map(self._bounded, pairs_of(prepared))
        return self._inner.test_then_train_pairs(one, other, magnitudes)

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Forget features, in the stages too, and give the place of each to another."""
        self._inner.exchange(self._preparations.exchanged(self.chain, names))

    def _bounded(self, rows: Rows) -> Rows:
        """Rows that the learner can take, each by itself: what stages made too large is cut off, and the last names are left
        out where they made more than it can know.

        The first happens only where an event is larger by orders of magnitude than all before it.
        """
        limits = self._inner.limits
        too_many = len(rows.names) > limits.max_features
        if not too_many and limits.longest == np.inf and rows.within(0.5 * limits.largest):
            return rows
        lengths = rows.last - rows.first
        ends = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(rows.first - (ends - lengths), lengths)
        slots, values = rows.slots[places], rows.values[places]
        bounds = np.sqrt(limits.longest / np.maximum(lengths, 1))
        most = np.repeat(np.minimum(0.5 * limits.largest, bounds), lengths)
        if not too_many and (np.abs(values) <= most).all():
            return rows
        known = slots < limits.max_features
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
        return Rows(
            rows.names,
            before[ends - lengths],
            before[ends],
            slots[known],
            np.clip(values, -most, most)[known],
            np.minimum(rows.met, min(limits.max_features, len(rows.names))).astype(np.int64),
        )
