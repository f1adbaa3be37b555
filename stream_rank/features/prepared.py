"""Pipelines of this package: stages and a learner, one event at a time or many."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from river import compose

from stream_rank.errors import MergeError
from stream_rank.features.feature_stage import LARGEST, FeatureStage, numbers_of
from stream_rank.features.lessons import Lessons, lessons_of, pair_lessons, pairs_of
from stream_rank.features.rows_of import rows_of, rows_of_dicts
from stream_rank.learners.base.labels import Labels, label_column
from stream_rank.learners.base.learner import Learner, like_input
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.together import together

__all__ = ["Prepared", "through"]

Array = npt.NDArray[Any]

_VALUES, _FEWEST = 1 << 16, 64
"""Numbers, and the fewest rows, that go through the stages at a time: what a second-level cache holds."""


def through(stages: Sequence[FeatureStage], lessons: Lessons, labels: Array) -> Rows:
    """Lessons after all stages, of which each learns the rows that are learned."""
    rows = lessons.rows
    for stage in stages:
        rows = stage.prepare(rows, labels, lessons.learning, lessons.events)
    return rows


class Prepared(compose.Pipeline):
    """A pipeline of stages and a learner of this package: what `Scale() | Normalize() | PRank(5)` makes.

    It is one of River's pipelines, which also takes tables: `learn_many`, `test_then_train` and `predict_many` are
    `learn_one` and `predict_one` in a loop, to the bit, since no stage knows an event before it was predicted. River's own
    pipelines show a whole table to their scalers before they predict its first row. Preferences go through the stages as
    well: `learn_pair`.

    Examples
    --------
    >>> from stream_rank import Normalize, PRank, Scale
    >>> model = Scale() | Normalize() | PRank(n_ranks=3)
    >>> for x, stars in [({"price": 100.0, "brand": "ann"}, 3), ({"price": 20.0, "brand": "bob"}, 1)] * 5:
    ...     model.learn_one(x, stars)
    >>> model.predict_one({"price": 90.0, "brand": "ann"})
    3
    """

    @staticmethod
    def takes(step: Any) -> bool:
        """Whether it can be a step, alone or behind a name."""
        step = step[1] if isinstance(step, tuple) else step
        return isinstance(step, FeatureStage | Learner)

    @property
    def stages(self) -> list[FeatureStage]:
        """The steps that prepare features, in their order."""
        return [step for step in self.steps.values() if isinstance(step, FeatureStage)]

    @property
    def learner(self) -> Any:
        """The last step."""
        return list(self.steps.values())[-1]

    @property
    def features(self) -> list[Hashable]:
        """The names of the features that came in, in the order in which they were met."""
        stages = self.stages
        return stages[0].features if stages else self.learner.features

    def merged(self, others: Sequence[Self]) -> Self:
        """One pipeline out of this and others of the same steps, which learned apart, as `stream_rank.average` says. None of them changes."""
        for number, each in enumerate(others, 2):
            mine, theirs = ([type(s).__name__ for s in p.stages] for p in (self, each))
            if mine != theirs:
                raise MergeError(
                    f"learner {number} is behind {' | '.join(theirs)} and learner 1 behind {' | '.join(mine)}: only equals have an average"
                )
        columns = zip(*(each.steps.values() for each in (self, *others)), strict=True)
        steps = [first.merged(rest) for first, *rest in columns]
        return type(self)(*zip(self.steps, steps, strict=True))

    def __or__(self, other: Any) -> Any:
        """The pipeline with another step; one of River's if the step is not of this package."""
        if self.takes(other):
            return super().__or__(other)
        return compose.Pipeline(*self.steps.items()) | other

    # Many events ------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any = None, **more: Any) -> None:
        """Learn the rows of a table, one after the other; `group` is a column where the learner takes one."""
        self._run(X, y, False, **more)

    def test_then_train(self, X: Any, y: Any, **more: Any) -> Any:
        """Predict each row, then learn it; the predictions."""
        return self._run(X, y, True, **more)

    def predict_many(self, X: Any) -> Any:
        """The predictions of rows, none of them learned."""
        rows = rows_of(X, self._largest)
        return self.learner.predict_many(self._asked(rows))

    def predict_proba_many(self, X: Any) -> Any:
        """Each label's share of the votes for rows, none of them learned."""
        return self.learner.predict_proba_many(self._asked(rows_of(X, self._largest)))

    def utility_one(self, x: Mapping[Any, Any]) -> float:
        """The score of an event."""
        return self.learner.utility_one(self._prepared(x))  # type: ignore[no-any-return]

    def _asked(self, rows: Rows) -> Rows:
        native = rows.native
        for stage in self.stages:
            rows = stage.transformed(rows)
        rows.native = native  # predictions come in the form of what was asked
        return rows

    def _prepared(self, x: Mapping[Any, Any]) -> dict[Hashable, Any]:
        return self.transform_one(dict(x))  # type: ignore[no-any-return]

    @property
    def _largest(self) -> float:
        return min((stage.largest for stage in self.stages), default=LARGEST)

    def _run(self, X: Any, y: Any, asking: bool, group: Any = None) -> Any:
        """Learn rows; the prediction of each before, if asked."""
        rows, learner = rows_of(X, self._largest), self.learner
        if isinstance(learner, FeatureStage):
            labels = numbers_of(y, len(rows), any(stage.of_labels for stage in self.stages))
            everything = np.ones(len(rows), np.bool_)
            return through(self.stages, lessons_of(rows, ~everything, everything), labels)
        if learner.predicts == "ranks" and learner.n_ranks is None:
            return self._one_by_one(rows, y, asking)
        labels = numbers_of(y, len(rows), True)
        if learner.predicts == "ranks":
            Labels(learner.n_ranks).new_in(labels)  # type: ignore[arg-type]
        groups = None if group is None else _objects(group)
        step = max(_FEWEST, _VALUES // max(1, len(rows.names)))
        found = [
            self._lesson(rows.part(begin, begin + step), labels[begin : begin + step], asking, part)
            for begin in range(0, max(1, len(rows)), step)
            for part in [None if groups is None else groups[begin : begin + step]]
        ]
        return like_input(np.concatenate(found), rows, getattr(y, "name", None)) if asking else None

    def _lesson(self, rows: Rows, labels: Array, asking: bool, groups: Array | None) -> Array:
        """Learn some rows; what was predicted of each, if asked."""
        lessons = lessons_of(rows, np.full(len(rows), asking), np.ones(len(rows), np.bool_))
        labels = labels[lessons.events]
        more = {} if groups is None else {"group": groups[lessons.events]}
        prepared = through(self.stages, lessons, labels)
        found: Array = self.learner.learn_some(prepared, labels, lessons.learning, **more)
        return found[~lessons.learning]

    def _one_by_one(self, rows: Rows, y: Any, asking: bool) -> Any:
        """The same where labels are discovered as they come."""
        found = []
        for x, label in zip(rows.dicts(), label_column(y, len(rows)), strict=True):
            if asking:
                found.append(self.predict_one(x))
            self.learn_one(x, label)
        if not asking:
            return None
        column = np.empty(len(found), object)
        column[:] = found
        return like_input(column, rows, getattr(y, "name", None))

    # Preferences ------------------------------------------------------------------------------

    def learn_pair(
        self, preferred: Mapping[Any, Any], other: Mapping[Any, Any], magnitude: float = 1.0
    ) -> None:
        """Learn that one item is preferred to another by a magnitude, 0 if they are a tie."""
        one = rows_of_dicts([preferred, other], self._largest)
        one.met[:] = len(one.names)
        first, second = one.part(0, 1), one.part(1, 2)
        self.learn_pairs(first, second, [magnitude])

    def learn_pairs(self, preferred: Any, other: Any, magnitude: Any = None) -> None:
        """Learn that row i of one table is preferred to row i of another; `learn_pair` in a loop, to the bit."""
        self.test_then_train_pairs(preferred, other, magnitude)

    def test_then_train_pairs(
        self, preferred: Any, other: Any, magnitude: Any = None, proba: Array | None = None
    ) -> Array:
        """Learn pairs; for each, by how much the preferred was ahead before.

        Both items are prepared by what the stages knew before the pair, and then the stages learn both.
        """
        first, second = together(rows_of(preferred, self._largest), rows_of(other, self._largest))
        lessons = pair_lessons(first, second)
        labels = np.full(len(lessons.rows), np.nan)
        prepared = through(self.stages, lessons, labels)
        found: Array = self.learner.test_then_train_pairs(*pairs_of(prepared), magnitude, proba)
        return found

    def prefer_one(self, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> int:
        """Which of two items is ahead: 1 if the first is, -1 if the second is, 0 if neither."""
        return self.learner.prefer_one(self._prepared(first), self._prepared(second))  # type: ignore[no-any-return]

    def prefer_proba_one(
        self, first: Mapping[Any, Any], second: Mapping[Any, Any]
    ) -> dict[int, float]:
        """The probabilities that the first of two items is preferred (1), the second (-1), and, once ties were seen, a tie (0)."""
        return self.learner.prefer_proba_one(self._prepared(first), self._prepared(second))  # type: ignore[no-any-return]


def _objects(column: Any) -> Array:
    """A column of anything as an array that can be indexed."""
    given = list(column)
    found = np.empty(len(given), object)
    found[:] = given
    return found
