"""River's estimators as contestants."""

import math
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.errors import ConfigError
from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.tables.rows import Rows

__all__ = ["RiverLearner"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class RiverLearner:
    """An estimator of River's, called event by event. Snapshots cannot hold it, because the form of its state is unknown."""

    learns_groups = learns_preferences = gives_probabilities = has_users = finds_items = False
    state = None
    limits = LearnerLimits(math.inf, math.inf, math.inf)

    def __init__(
        self, name: str, model: base.Classifier | base.Regressor, n_ranks: int | None
    ) -> None:
        self.name = name
        self.chain: tuple[str, ...] = ()
        self.votes_of: tuple[str, ...] = ()
        self.model: Any = model
        classifies = isinstance(model, base.Classifier)  # River has no other way to tell them apart
        self.predicts: Literal["ranks", "scores"] = "ranks" if classifies else "scores"
        if classifies and n_ranks is None:
            raise ConfigError(f"{name} is a classifier: how many ranks are there? `n_ranks`")
        if classifies and not getattr(model, "_multiclass", False):
            raise ConfigError(
                f"{name} tells true from false; a classifier of several classes is needed"
            )

    def memory_at(self, n_features: int) -> int:
        """Nobody knows."""
        return 0

    def bound(self, max_features: int) -> None:
        """Nothing: it has no limits of its own."""

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn whatever an estimator raises into a `ConfigError`."""
        try:
            yield
        except Exception as error:
            raise ConfigError(
                f"{self.name} cannot learn this stream: {type(error).__name__}: {error}"
            ) from error

    def _answers(self, labels: Array) -> list[Any]:
        whole = self.predicts == "ranks"
        answers: list[Any] = labels.astype(np.int64).tolist() if whole else labels.tolist()
        return answers

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        """Predict events, each before it is learned."""
        found = np.empty(len(rows))
        with self._guarded():
            for i, (x, y) in enumerate(zip(rows.dicts(), self._answers(labels), strict=True)):
                found[i] = _as_float(self.model.predict_one(x))
                self.model.learn_one(x, y)
        return found

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        """Learn events that were predicted before."""
        with self._guarded():
            for x, y in zip(rows.dicts(), self._answers(labels), strict=True):
                self.model.learn_one(x, y)

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
        """Predict and learn what is to be: no more, since a prediction may change an estimator."""
        found = np.full(len(rows), np.nan)
        answers = self._answers(np.where(learning, labels, 1.0))
        with self._guarded():
            for i, (x, y) in enumerate(zip(rows.dicts(), answers, strict=True)):
                if asking[i]:
                    found[i] = _as_float(self.model.predict_one(x))
                if learning[i]:
                    self.model.learn_one(x, y)
        return found

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events one by one in their order, since a prediction may change an estimator."""
        with self._guarded():
            whole = (unknown_features.get(place, x) for place, x in enumerate(rows.dicts()))
            return np.array([_as_float(self.model.predict_one(x)) for x in whole], np.float64)

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        """River's estimators do not learn preferences."""
        return np.full(len(preferred), np.nan), np.full((len(preferred), 3), np.nan)

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Nothing: what River's estimators know of a feature, they keep."""

    def digest(self) -> None:
        """There is none, because the form of its state is unknown."""

    def rule(self) -> Rule:
        """An empty rule: River has no common form of rules."""
        return Rule({}, [], 0.0, False, [], [])

    def insight(self, rows: Rows | None = None) -> Insight:
        """An empty insight: River has no common form of rules."""
        return Insight({}, [], None, [])


def _as_float(prediction: Any) -> float:
    return np.nan if prediction is None else float(prediction)
