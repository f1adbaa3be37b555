"""A learner of this package, in the loop."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.rows import Rows

__all__ = ["NativeLearner"]

Array = npt.NDArray[Any]


class NativeLearner:
    """A learner of this package, which answers for itself."""

    def __init__(self, name: str, model: Learner, n_ranks: int | None) -> None:
        self.name = name
        self.model: Any = model  # what all learners can, and those of ranks or of groups alone
        self.predicts: Literal["ranks", "scores"] = model.predicts
        self.limits: LearnerLimits = model.limits
        self.learns_groups: bool = model.learns_groups
        self.learns_preferences: bool = model.learns_preferences
        self._whole = self.predicts == "ranks" and n_ranks is not None

    def _answers(self, labels: Array) -> Array:
        return labels.astype(np.int64) if self._whole else labels

    def _more(self, groups: list[Any] | None) -> dict[str, Any]:
        return {"group": groups} if self.learns_groups and groups is not None else {}

    def test_then_train(self, rows: Rows, labels: Array, groups: list[Any] | None) -> Array:
        """Predict events, each before it is learned; NaN where there was no prediction yet."""
        found = self.model.test_then_train(rows, self._answers(labels), **self._more(groups))
        return _as_floats(found)

    def learn(self, rows: Rows, labels: Array, groups: list[Any] | None) -> None:
        """Learn events that were predicted before."""
        self.model.learn_many(rows, self._answers(labels), **self._more(groups))

    def predict(self, rows: Rows, strange: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; `strange` ones have features that rows have not, and stand beside them whole."""
        found = _as_floats(self.model.predict_many(rows))
        for place, x in strange.items():
            prediction = self.model.predict_one(x)
            found[place] = np.nan if prediction is None else prediction
        return found

    def prefer(self, preferred: dict[Any, float], other: dict[Any, float], by: float) -> float:
        """Learn a preference; by how much the preferred was ahead before."""
        ahead = self.model.utility_one(preferred) - self.model.utility_one(other)
        self.model.learn_pair(preferred, other, by)
        return float(ahead)

    def state(self) -> State:
        """All that the learner is."""
        state: State = self.model.dump()
        return state

    def rule(self) -> Rule:
        """What was learned, to score with elsewhere."""
        rule: Rule = self.model.rule()
        return rule

    def insight(self, X: Rows | None = None) -> Insight:
        """What is to be seen of the learner, by some events if there are any."""
        insight: Insight = self.model.insight(X)
        return insight


def _as_floats(predictions: Array) -> Array:
    return np.asarray(predictions, np.float64)  # None becomes NaN
