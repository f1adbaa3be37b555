"""Learners of this package as contestants."""

import math
from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stream_rank.features.lessons import lessons_of
from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.base.state import State, digest_of
from stream_rank.learners.tables.rows import Rows

__all__ = ["NativeLearner"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class NativeLearner:
    """A learner of this package as a contestant; it is its own `Memory` for snapshots."""

    def __init__(self, name: str, model: Learner, n_ranks: int | None) -> None:
        self.name = name
        self.chain: tuple[str, ...] = ()
        self.votes_of: tuple[str, ...] = ()
        self.model: Any = model
        self._most_features = math.inf
        # with a known number of ranks labels become integers; discovered labels stay as they came
        self._whole = self.predicts == "ranks" and n_ranks is not None

    @property
    def key(self) -> str:
        """The key of its state in snapshots."""
        return f"learners/{self.name}"

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Whether its predictions are ranks or scores."""
        return self.model.predicts  # type: ignore[no-any-return]

    @property
    def limits(self) -> LearnerLimits:
        """The largest numbers and the most features that it takes."""
        limits: LearnerLimits = self.model.limits
        return limits._replace(max_features=min(limits.max_features, self._most_features))

    def memory_at(self, n_features: int) -> int:
        """Bytes that it takes at most with so many features, of which it knows no more than it can."""
        return int(self.model.memory_at(min(n_features, self.limits.max_features)))

    def bound(self, max_features: int) -> None:
        """Take no more features than so many."""
        self._most_features = max_features

    @property
    def learns_groups(self) -> bool:
        """Whether it makes use of the groups of events."""
        return bool(self.model.learns_groups)

    @property
    def has_users(self) -> bool:
        """Whether it learns of users."""
        return bool(self.model.takes_names)

    @property
    def finds_items(self) -> bool:
        """Whether it orders items for users, and counts how well in `learn_some`."""
        return bool(getattr(self.model, "finds_items", False))

    @property
    def gives_probabilities(self) -> bool:
        """Whether it says how likely each rank is."""
        return bool(self.model.gives_probabilities)

    @property
    def learns_preferences(self) -> bool:
        """Whether it learns that one item is preferred to another."""
        return bool(self.model.learns_preferences)

    @property
    def state(self) -> "NativeLearner":
        """Itself."""
        return self

    def dump(self) -> State:
        """Its whole state."""
        return self.model.dump()  # type: ignore[no-any-return]

    def load(self, state: State) -> None:
        """Continue from another's state."""
        self.model = learner_from(state)

    def digest(self) -> str:
        """The digest of its state."""
        return digest_of(*self.dump())

    def rule(self) -> Rule:
        """The weights by feature and the thresholds, as far as it has any."""
        return self.model.rule()  # type: ignore[no-any-return]

    def insight(self, rows: Rows | None = None) -> Insight:
        """What monitoring shows: the rule, and its scores and votes for some events."""
        return self.model.insight(rows)  # type: ignore[no-any-return]

    def _answers(self, labels: Array) -> Array:
        return labels.astype(np.int64) if self._whole else labels

    def _more(self, groups: Array | None) -> dict[str, Any]:
        return {"group": groups} if self.learns_groups and groups is not None else {}

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        """Predict events, each before it is learned."""
        found = self.model.test_then_train(rows, self._answers(labels), **self._more(groups))
        return _as_floats(found)

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        """Learn events that were predicted before."""
        self.model.learn_many(rows, self._answers(labels), **self._more(groups))

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
        """Predict events, and learn some, each after its prediction."""
        more = self._more(groups)
        if shares is None:
            return _as_floats(self.model.learn_some(rows, labels, learning, **more))
        if self.model.asks_what_it_learns or not (asking & learning).any():
            counted = {} if watched is None else {"watched": watched}
            found = self.model.learn_some(rows, labels, learning, shares=shares, **counted)
            return _as_floats(found)
        # what others learn has no probabilities: it is asked for in a row of its own
        lessons, found = lessons_of(rows, asking, learning), np.full(len(rows), np.nan)
        both, asked = np.empty((len(lessons.events), shares.shape[1])), ~lessons.learning
        given = lessons.rows, labels[lessons.events], None, asked, lessons.learning, both
        answers = self.learn_some(*given)
        found[lessons.events[asked]], shares[lessons.events[asked]] = answers[asked], both[asked]
        return found

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events."""
        found = _as_floats(self.model.predict_many(rows))
        for place, x in unknown_features.items():
            prediction = self.model.predict_one(x)
            found[place] = np.nan if prediction is None else float(prediction)
        return found

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        """Learn preferences; what was predicted before each is learned."""
        proba = np.empty((len(magnitudes), 3))
        leads = self.model.test_then_train_pairs(preferred, others, magnitudes, proba)
        return leads, proba

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Forget features, and give the place of each to another."""
        self.model.exchange(names)


def _as_floats(predictions: Array) -> Array:
    return np.asarray(predictions, np.float64)  # None becomes NaN
