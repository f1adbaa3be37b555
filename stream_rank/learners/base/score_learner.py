"""The base class of the learners of scores."""

from abc import abstractmethod
from collections.abc import Hashable
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.errors import LabelError
from stream_rank.learners.base.capabilities import Rule
from stream_rank.learners.base.labels import label_column
from stream_rank.learners.base.learner import Features, Learner, like_input
from stream_rank.learners.base.numbers import as_number
from stream_rank.learners.models.model import Learning
from stream_rank.learners.tables.table import Table

__all__ = ["ScoreLearner"]

Array = npt.NDArray[Any]


class ScoreLearner(Learner, base.MiniBatchRegressor):
    """A learner whose labels and predictions are real numbers."""

    # One event ------------------------------------------------------------------------------

    def predict_one(self, x: Features) -> float:
        """The score of an event."""
        return self.utility_one(x)

    def utility_one(self, x: Features) -> float:
        """The score of an event."""
        seat = self._seat(x, learning=False)
        model = self._model
        if seat is None:
            value = model.predict_row(model.block, model.bound)
        elif isinstance(seat, int):
            value = model.take_few(model.block, seat, 0.0, model.bound, False)
        else:
            score = np.empty(1)
            model.run(seat, score, score, False)
            return float(score[0])
        if value != value:
            raise self._refuse(x)
        return float(value)

    def _label(self, y: Any, row: int | None = None) -> float:
        bound = self._model.bound
        try:
            label = as_number(y)
        except (TypeError, ValueError, OverflowError):
            label = inf
        if not abs(label) <= bound:
            where = "" if row is None else f" of row {row}"
            shown = y.item() if isinstance(y, np.generic) else y
            raise LabelError(f"label {shown!r}{where} is not a number of at most {bound:g} in size")
        return label

    # Many events ----------------------------------------------------------------------------

    def predict_many(self, X: Any) -> Any:
        """The scores of rows, none of them learned."""
        table = self._open(X)
        nothing = np.zeros(len(table))
        return self._answers(table, self._score(table, nothing, False), None)

    def _labels_of(self, y: Any, table: Table) -> Array:
        """A column of labels as numbers."""
        column = label_column(y, len(table))
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
            labels = column.astype(np.float64)
            if (np.abs(labels) <= self._model.bound).all():
                return labels
        return np.array([self._label(label, row) for row, label in enumerate(column)], np.float64)

    def _score(self, table: Table, labels: Array, learning: Learning) -> Array:
        """Predict the rows, each before it is learned if `learning`, or its entry of it, says so."""
        scores = np.empty(len(table))
        for block in self._table_blocks(table, 0, len(table)):
            rows = slice(block.first, block.end)
            learned = learning if isinstance(learning, bool) else learning[rows]
            self._model.run(block, labels[rows], scores[rows], learned)
        return scores

    def _answers(self, table: Table, scores: Array, name: Any) -> Any:
        return like_input(scores, table, name)

    # What it tells about itself -------------------------------------------------------------

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Scores."""
        return "scores"

    @property
    @abstractmethod
    def weights(self) -> dict[Hashable, float]:
        """The weight of every feature."""

    @property
    @abstractmethod
    def bias(self) -> float:
        """The constant in the score."""

    def _plain_rule(self) -> Rule:
        model: Any = self._model
        return Rule(self._named(model.weights()), [], float(self.bias), True, [], [])
