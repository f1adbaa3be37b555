"""What the learners of differences share: events may come in groups, and only differences within one count."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.learners.groups import Groups
from stream_rank.learners.learner import Features
from stream_rank.learners.models.model import GroupedModel
from stream_rank.learners.score_learner import ScoreLearner
from stream_rank.learners.table import Table

__all__ = ["GroupedLearner"]

Array = npt.NDArray[Any]


class GroupedLearner(ScoreLearner):
    """A learner of scores whose events may come in groups: of a query, a user, a race.

    Events without a group are a group as well.
    """

    _model: GroupedModel

    def __init__(self, most_groups: int) -> None:
        self._groups = Groups(most_groups)
        super().__init__()
        self._make_groups()

    def _make_groups(self) -> None:
        """Make room for all groups, and for the next that is new."""
        if self._model.make_groups(len(self._groups) + 2):
            self._find_row()

    def learn_one(self, x: Features, y: float, group: Hashable = None) -> None:
        """Learn one event; a `ValueError` leaves the learner as it was."""
        label = self._label(y)
        Groups.check(group)
        block = self._seat(x, learning=True)
        model, row = self._model, self._groups.peek(group)
        if block is not None:
            model.run(block, np.array([label]), np.empty(1), True, np.array([row]))
        elif not model.learn_row(model.block, label, row, model.bound):
            raise self._refuse(x)
        self._groups.see(group)
        self._make_groups()

    def learn_many(self, X: Any, y: Any, group: Any = None) -> None:
        """Learn the rows of a data frame, array or CSR matrix, one after the other; `group` is a column of names."""
        self._learn(self._open(X), y, group)

    def test_then_train(self, X: Any, y: Any, group: Any = None) -> Any:
        """Predict each row, then learn it; the predictions."""
        table = self._open(X)
        return self._answers(table, self._learn(table, y, group), getattr(y, "name", None))

    def _learn(self, table: Table, y: Any, group: Any) -> Array:
        """Predict the rows, each before it is learned."""
        labels = self._labels_of(y, table)
        column = None if group is None else _group_column(group, len(table))
        self._meet(table)
        groups = self._groups.see_all(column, len(table))
        self._make_groups()
        scores = np.empty(len(table))
        for block in self._table_blocks(table, 0, len(table)):
            rows = slice(block.first, block.end)
            self._model.run(block, labels[rows], scores[rows], True, groups[rows])
        return scores


def _group_column(group: Any, n_events: int) -> list[Hashable]:
    """The groups of events, one for each."""
    if isinstance(group, str | bytes) or not isinstance(group, Iterable):
        raise EventError(f"groups must be a column, a name for each event, not {group!r}")
    column = group.tolist() if isinstance(group, np.ndarray) else list(group)
    if len(column) != n_events:
        raise EventError(f"{n_events} events came with {len(column)} groups")
    for row, name in enumerate(column):
        Groups.check(name, row)
    return column
