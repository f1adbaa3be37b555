"""Widrow-Hoff: least mean squares."""

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.capabilities import Rule
from stream_rank.learners.base.labels import Labels
from stream_rank.learners.base.learner import Features, check_dtype, like_input
from stream_rank.learners.base.score_learner import ScoreLearner
from stream_rank.learners.models.least_squares import LeastSquares
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import Table
from stream_rank.parameters import check_number

__all__ = ["WidrowHoff"]

Array = npt.NDArray[Any]


class WidrowHoff(ScoreLearner):
    """On-line least-squares regression, a common baseline for ranks: `w` moves by `learning_rate * (y - w.x) * x`.

    Steps with a rate above `2 / |x|**2` diverge. So the rate of each step is capped at `1 / |x|**2`, with which
    the score of the event becomes its label: no scale of the features makes it diverge.

    Cost: O(d) an event.

    Parameters
    ----------
    n_ranks
        With the number of ranks, labels are 1 to `n_ranks`, and the prediction is the nearest of them
        (halves go up). None leaves both real.
    learning_rate
        The length of a step.
    intercept
        Whether to learn a constant too; the papers have none.
    dtype
        "float64" or "float32".

    References
    ----------
    B. Widrow and M. E. Hoff. Adaptive switching circuits. 1960.

    Examples
    --------
    >>> from stream_rank import WidrowHoff
    >>> model = WidrowHoff(learning_rate=0.5)
    >>> for _ in range(20):
    ...     for x, y in (({"a": 1.0}, 2.0), ({"a": -1.0}, -2.0)):
    ...         model.learn_one(x, y)
    >>> round(model.predict_one({"a": 3.0}), 3)
    6.0
    """

    _model: LeastSquares

    def __init__(
        self,
        n_ranks: int | None = None,
        learning_rate: float = 0.01,
        intercept: bool = False,
        dtype: str = "float64",
    ) -> None:
        check_number("learning_rate", learning_rate, 1e-12, 1e12)
        if not isinstance(intercept, bool):
            raise ValueError(f"intercept must be True or False, not {intercept!r}")
        self.n_ranks = n_ranks
        self.learning_rate = learning_rate
        self.intercept = intercept
        self.dtype = check_dtype(dtype)
        self._labels = Labels(n_ranks)
        self._model = LeastSquares(learning_rate, intercept, dtype)
        super().__init__()

    # One event ------------------------------------------------------------------------------

    def learn_one(self, x: Features, y: Any) -> None:
        """Learn one event; a `ValueError` leaves the learner as it was."""
        label = self._label(y)
        seat = self._seat(x, learning=True)
        model = self._model
        if seat is None:
            if not model.learn_row(model.block, label, model.bound):
                raise self._refuse(x)
        elif isinstance(seat, int):
            score = model.take_few(model.block, seat, label, model.bound, True)
            if score != score:
                raise self._refuse(x)
        else:
            model.run(seat, np.array([label]), np.empty(1), True)

    def predict_one(self, x: Features) -> float:
        """The score of an event, or its rank where `n_ranks` is given."""
        score = self.utility_one(x)
        return score if self.n_ranks is None else int(self._ranks(np.array([score]))[0])

    def _label(self, y: Any, row: int | None = None) -> float:
        if self._labels.fixed:
            self._labels.check(y, row)
        return super()._label(y, row)

    def _ranks(self, scores: Array) -> Array:
        """The nearest ranks; halves go up."""
        top = len(self._labels.known)
        ranks: Array = np.clip(np.floor(scores + 0.5), 1, top).astype(np.int64)
        return ranks

    # Many events ----------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame, array or CSR matrix, one after the other."""
        self._learn(self._open(X), y)

    def test_then_train(self, X: Any, y: Any) -> Any:
        """Predict each row, then learn it; the predictions."""
        table = self._open(X)
        return self._answers(table, self._learn(table, y), getattr(y, "name", None))

    def learn_some(
        self, rows: Rows, y: Array, learning: npt.NDArray[np.bool_], group: Any = None
    ) -> Array:
        """Predict all rows of a stream, and learn some, each after its prediction."""
        labels = self._labels_of(np.where(learning, y, 1.0), rows)
        self._meet(rows.chosen(np.flatnonzero(learning)))
        scores = self._score(rows, labels, learning)
        return scores if self.n_ranks is None else self._ranks(scores)

    def _learn(self, table: Table, y: Any) -> Array:
        """Predict the rows, each before it is learned."""
        labels = self._labels_of(y, table)
        self._meet(table)
        return self._score(table, labels, True)

    def _answers(self, table: Table, scores: Array, name: Any) -> Any:
        return like_input(scores if self.n_ranks is None else self._ranks(scores), table, name)

    # The rule -------------------------------------------------------------------------------

    @property
    def weights(self) -> dict[Hashable, float]:
        """The weight of every feature."""
        return dict(self._named(self._model.weights()))

    @property
    def thresholds(self) -> list[float]:
        """Where the score passes from one rank to the next; none without ranks."""
        return [rank + 0.5 for rank in self._labels.known[:-1]]

    @property
    def bias(self) -> float:
        """The constant that was learned; 0 where `intercept` is False."""
        return self._model.intercept

    # What it tells about itself -------------------------------------------------------------

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Ranks where `n_ranks` is given, else scores."""
        return "scores" if self.n_ranks is None else "ranks"

    def _plain_rule(self) -> Rule:
        rule = super()._plain_rule()
        return rule._replace(thresholds=self.thresholds, labels=list(self._labels.known))
