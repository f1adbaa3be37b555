"""Learners in the loop: the package's own, and any estimator of River's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.codec.limits import Limits
from stream_rank.errors import ConfigError
from stream_rank.learners.base.grouped_learner import GroupedLearner
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.widrow_hoff import WidrowHoff

__all__ = ["Contestant", "NativeLearner", "RiverLearner", "contestant_of", "limits_of"]

Array = npt.NDArray[Any]


class Contestant(Protocol):
    """A learner of ranks or of scores that rides on a stream."""

    name: str
    ranks: bool
    """Whether it predicts ranks."""
    model: Any

    def learn(self, rows: Rows, labels: Array, groups: list[Any] | None) -> Array:
        """Predict events, each before it is learned; NaN where there was no prediction yet."""

    def absorb(self, rows: Rows, labels: Array, groups: list[Any] | None) -> None:
        """Learn events that were predicted before."""

    def predict(self, rows: Rows, strange: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; `strange` ones have features that rows have not, and stand beside them whole."""

    def prefer(self, preferred: dict[Any, float], other: dict[Any, float], by: float) -> float:
        """Learn a preference; by how much the preferred was ahead before. NaN if it cannot learn preferences."""

    def rule(self) -> Mapping[str, Any]:
        """The weights by feature and the thresholds, as far as it has any."""


class NativeLearner:
    """A learner of this package."""

    def __init__(self, name: str, model: Learner, n_ranks: int | None) -> None:
        self.name, self.model = name, model
        self.ranks = isinstance(model, RankLearner) or (
            isinstance(model, WidrowHoff) and model.n_ranks is not None
        )
        self._whole = self.ranks and n_ranks is not None
        self._grouped = isinstance(model, GroupedLearner)

    def _answers(self, labels: Array) -> Array:
        return labels.astype(np.int64) if self._whole else labels

    def _more(self, groups: list[Any] | None) -> dict[str, Any]:
        return {"group": groups} if self._grouped and groups is not None else {}

    def learn(self, rows: Rows, labels: Array, groups: list[Any] | None) -> Array:
        """Predict events, each before it is learned."""
        model: Any = self.model
        found = model.test_then_train(rows, self._answers(labels), **self._more(groups))
        return _as_floats(found)

    def absorb(self, rows: Rows, labels: Array, groups: list[Any] | None) -> None:
        """Learn events that were predicted before."""
        model: Any = self.model
        model.learn_many(rows, self._answers(labels), **self._more(groups))

    def predict(self, rows: Rows, strange: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events."""
        model: Any = self.model
        found = _as_floats(model.predict_many(rows))
        for place, x in strange.items():
            found[place] = _as_float(model.predict_one(x))
        return found

    def prefer(self, preferred: dict[Any, float], other: dict[Any, float], by: float) -> float:
        """Learn a preference; by how much the preferred was ahead before."""
        model: Any = self.model
        ahead = model.utility_one(preferred) - model.utility_one(other)
        model.learn_pair(preferred, other, by)
        return float(ahead)

    def rule(self) -> Mapping[str, Any]:
        """The weights by feature and the thresholds, as far as it has any."""
        model: Any = self.model
        try:
            weights = {str(name): weight for name, weight in model.weights.items()}
        except AttributeError:  # a kernel has none
            weights = {}
        return {"weights": weights, "thresholds": list(getattr(model, "thresholds", []))}


class RiverLearner:
    """An estimator of River's, event by event."""

    def __init__(self, name: str, model: base.Classifier | base.Regressor) -> None:
        self.name, self.model = name, model
        self.ranks = isinstance(model, base.Classifier)

    def learn(self, rows: Rows, labels: Array, groups: list[Any] | None) -> Array:
        """Predict events, each before it is learned."""
        found = np.empty(len(rows))
        with self._guarded():
            for i, (x, y) in enumerate(zip(rows.dicts(), self._answers(labels), strict=True)):
                found[i] = _as_float(self.model.predict_one(x))
                self.model.learn_one(x, y)
        return found

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Whatever somebody else's code raises."""
        try:
            yield
        except Exception as error:
            raise ConfigError(
                f"{self.name} cannot learn this stream: {type(error).__name__}: {error}"
            ) from error

    def _answers(self, labels: Array) -> list[Any]:
        answers: list[Any] = labels.astype(np.int64).tolist() if self.ranks else labels.tolist()
        return answers

    def absorb(self, rows: Rows, labels: Array, groups: list[Any] | None) -> None:
        """Learn events that were predicted before."""
        with self._guarded():
            for x, y in zip(rows.dicts(), self._answers(labels), strict=True):
                self.model.learn_one(x, y)

    def predict(self, rows: Rows, strange: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events, each as it is: a prediction may leave its mark on an estimator."""
        with self._guarded():
            whole = (strange.get(place, x) for place, x in enumerate(rows.dicts()))
            return np.array([_as_float(self.model.predict_one(x)) for x in whole], np.float64)

    def prefer(self, preferred: dict[Any, float], other: dict[Any, float], by: float) -> float:
        """River's estimators do not learn preferences."""
        return np.nan

    def rule(self) -> Mapping[str, Any]:
        """What it knows is its own business."""
        return {"weights": {}, "thresholds": []}


def _as_float(prediction: Any) -> float:
    return np.nan if prediction is None else float(prediction)


def _as_floats(predictions: Array) -> Array:
    return np.asarray(predictions, np.float64)  # None becomes NaN


def contestant_of(name: str, model: Any, n_ranks: int | None) -> Contestant:
    """A learner as a contestant."""
    return (
        NativeLearner(name, model, n_ranks)
        if isinstance(model, Learner)
        else RiverLearner(name, model)
    )


def limits_of(
    contestants: list[Contestant], n_ranks: int | None, max_features: int, delayed: bool
) -> Limits:
    """What all contestants can bear, so that an event is learned by all or none."""
    models = [each.model._model for each in contestants if isinstance(each, NativeLearner)]
    narrowest = min((model.most_features for model in models), default=max_features)
    return Limits(
        n_ranks=n_ranks,
        largest=min((model.bound for model in models), default=Limits.largest),
        longest=min((model.longest for model in models), default=Limits.longest),
        max_features=int(min(max_features, narrowest)),
        delayed=delayed,
        grouped=not all(each.ranks for each in contestants),
    )
