"""The base class of the learners of differences: events may have groups, and only differences within a group count."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.learners.base.groups import Groups
from stream_rank.learners.base.learner import Features
from stream_rank.learners.base.score_learner import ScoreLearner
from stream_rank.learners.models.model import GroupedModel
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import Pairs
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import Table

__all__ = ["GroupedLearner"]

Array = npt.NDArray[Any]


class GroupedLearner(ScoreLearner):
    """A learner of scores whose events may come in groups: of a query, a user, a race.

    Events without a group are a group as well.
    """

    learns_groups: ClassVar[bool] = True

    _model: GroupedModel

    def __init__(self, most_groups: int) -> None:
        self._groups = Groups(most_groups)
        super().__init__()
        self._make_groups()

    def _make_groups(self) -> None:
        """Make room for all groups and one new group."""
        if self._model.make_groups(len(self._groups) + 2):
            self._find_row()

    def _size_with(self, n_features: int) -> int:
        """With room for all the groups that it may know."""
        self._model.make_groups(self._groups.most + 2)
        return super()._size_with(n_features)

    def predict_one(self, x: Features, group: Hashable = None) -> float:
        """The score of an event, which is the same in every group."""
        return self.utility_one(x)

    def learn_one(self, x: Features, y: float, group: Hashable = None) -> None:
        """Learn one event; a `ValueError` leaves the learner as it was."""
        label = self._label(y)
        Groups.check(group)
        block = self._seat(x, learning=True)
        assert not isinstance(block, int)  # these models take no entries
        model, row = self._model, self._groups.peek(group)
        if block is not None:
            model.run(block, np.array([label]), np.empty(1), True, np.array([row]))
        elif not model.learn_row(model.block, label, row, model.bound):
            raise self._refuse(x)
        self._groups.see(group)
        self._make_groups()

    def learn_many(self, X: Any, y: Any, group: Any = None) -> None:
        """Learn the rows of a data frame, array or CSR matrix, one after the other; `group` is a column of names."""
        for block, labels, groups in self._labelled_blocks(self._open(X), y, group):
            self._model.absorb(block, labels, groups)

    def test_then_train(self, X: Any, y: Any, group: Any = None) -> Any:
        """Predict each row, then learn it; the predictions."""
        table = self._open(X)
        scores = np.empty(len(table))
        for block, labels, groups in self._labelled_blocks(table, y, group):
            self._model.run(block, labels, scores[block.first : block.end], True, groups)
        return self._answers(table, scores, getattr(y, "name", None))

    def learn_some(
        self, rows: Rows, y: Array, learning: npt.NDArray[np.bool_], group: Any = None
    ) -> Array:
        """Predict all rows of a stream, and learn some as of their groups, each after its prediction."""
        if self._model.always_blocks and not rows.all_met(self._vocabulary):
            return self._learn_runs(rows, y, learning, group)
        which = np.flatnonzero(learning)
        labels = self._labels_of(np.where(learning, y, 0.0), rows)
        column = None if group is None else _group_column(group[which], len(which))
        self._meet(rows.chosen(which))
        groups = np.zeros(len(rows), np.int64)
        groups[which] = self._groups.see_all(column, len(which))
        self._make_groups()
        scores = np.empty(len(rows))
        for block in self._table_blocks(rows, 0, len(rows)):
            some = slice(block.first, block.end)
            self._model.run(block, labels[some], scores[some], learning[some], groups[some])
        return scores

    def _labelled_blocks(
        self, table: Table, y: Any, group: Any
    ) -> Iterator[tuple[DenseBlock | SparseBlock, Array, Array]]:
        """Blocks of rows with their labels and groups; all are checked before the first is yielded."""
        labels = self._labels_of(y, table)
        column = None if group is None else _group_column(group, len(table))
        self._meet(table)
        groups = self._groups.see_all(column, len(table))
        self._make_groups()
        for block in self._table_blocks(table, 0, len(table)):
            rows = slice(block.first, block.end)
            yield block, labels[rows], groups[rows]

    def _parts(self, others: Sequence[Self]) -> list[Part]:
        """The models, after room was made for the groups of all."""
        rows = self._groups.join([each._groups for each in others])  # noqa: SLF001 - of its own class
        self._make_groups()
        parts = super()._parts(others)
        return [part._replace(rows=each) for part, each in zip(parts, rows, strict=True)]

    def described(self) -> dict[str, Any]:
        """Its class, parameters, names and groups."""
        return {**super().described(), **self._groups.described()}

    def prepare(self, described: Mapping[str, Any]) -> None:
        """Make room in a new learner for these groups and features, and for nothing else."""
        self._groups.prepare(described)
        self._make_groups()
        super().prepare(described)

    def _check_reach(self, largest: float, magnitude: float) -> None:
        """Check nothing: a step ends at the magnitude, however large, so no difference of valid features is too large."""

    def _check_pairs(self, pairs: Pairs) -> None:
        """Check nothing: no difference of valid features is too large."""


def _group_column(group: Any, n_events: int) -> list[Hashable]:
    """The groups of events, one for each."""
    table = getattr(group, "ndim", 1) != 1 or hasattr(group, "columns")
    if (
        table
        or isinstance(group, str | bytes | bytearray | Mapping | Set)
        or not isinstance(group, Iterable)
    ):
        kind = f"a {type(group).__name__}" if table else repr(group)
        raise EventError(f"groups must be one column, a name for each event in order, not {kind}")
    # times stay as they are, because `tolist` makes plain numbers of them
    timed = getattr(getattr(group, "dtype", None), "kind", None) in ("m", "M")
    column = group.tolist() if isinstance(group, np.ndarray) and not timed else list(group)
    if len(column) != n_events:
        raise EventError(f"{n_events} events came with {len(column)} groups")
    for row, name in enumerate(column):
        Groups.check(name, row)
    return column
