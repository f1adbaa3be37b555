"""The base class of stages: transformers that prepare features, one event at a time or many as columns."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.engine.preparation.lessons import rise
from stream_rank.errors import LabelError
from stream_rank.features.rows_of import rows_of, rows_of_dicts
from stream_rank.learners.base.alike import check_alike
from stream_rank.learners.base.numbers import as_number
from stream_rank.learners.base.serialization import entries, parameters_of, plain_name
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.dense_rows import DenseRows
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.spare import Spare
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["LARGEST", "FeatureStage", "met_in", "numbers_of"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

LARGEST = 1e130
"""The largest feature that a stage takes, so that its squares and their sums are numbers."""


class FeatureStage(base.MiniBatchTransformer):
    """A River transformer that prepares the features of an event, and a stage of `scale | normalize | prank`.

    `prepare` takes many events as columns, of which some are learned and all are transformed; `learn_one` and
    `transform_one` are the same for one. A learned event is learned first and transformed then, as River's pipelines do it;
    stages that learn from labels transform it first. What came out for an event never depends on the events after it.
    """

    of_labels: ClassVar[bool] = False
    """Whether it learns from labels."""
    listed: ClassVar[str | None] = None
    """The parameter that has a list, and is given without its name in a specification: `cross:user*item`."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._copies = Spare(np.int64), Spare(np.float64)

    # Columns ----------------------------------------------------------------------------------

    @property
    def largest(self) -> float:
        """The largest feature that it takes."""
        return LARGEST

    @property
    def features(self) -> list[Hashable]:
        """The names of the features that came in, in the order in which they were met."""
        return list(self._vocabulary.names)

    def prepare(
        self, rows: Rows, labels: Array, learning: Mask, events: Array | None = None
    ) -> Rows:
        """The events transformed, each after it was learned if `learning` says so; valid until the next call.

        `events` has the event of each row, where one is predicted and then learned in two rows.
        """
        self._introduce(rows)
        where = self._where(rows.names)
        met = _risen(rows, where)  # late labels come with events of before
        events = np.arange(len(rows)) if events is None else events
        whole = where is None and len(rows.names) == len(self._vocabulary)
        if whole and isinstance(rows, DenseRows):
            found = self._prepared_dense(rows, labels, learning, met)
            if found is not None:
                return found
        return self._prepared(rows.entries(where, self._copies), labels, learning, met, events)

    def know(self, rows: Rows) -> None:
        """Meet the names that events bring whose labels come later; nothing else is learned."""
        self._introduce(rows)

    def _introduce(self, rows: Rows) -> None:
        before = len(self._vocabulary)
        rows.introduce(self._vocabulary)
        if len(self._vocabulary) > before:
            self._make_room()

    def _where(self, names: Sequence[Hashable]) -> Array | None:
        """The slot of each name of a stream, or -1; None if the slot of every name is its place."""
        return self._vocabulary.places_in(names)

    def transformed(self, rows: Rows) -> Rows:
        """The events transformed, and none learned; of features that never came, what the stage makes of such."""
        where = self._where(rows.names)
        found = rows.entries(where)
        if len(found.values) == int((rows.last - rows.first).sum()):
            nothing, met = np.zeros(len(rows), np.bool_), met_in(rows, where)
            return self._prepared(
                found, np.full(len(rows), np.nan), nothing, met, np.arange(len(rows))
            )
        where = self._vocabulary.slots_in(rows.names)
        unknown = in_order(rows.names[place] for place in np.flatnonzero(where < 0).tolist())
        after = {name: len(self._vocabulary) + place for place, name in enumerate(unknown)}
        whole = where.copy()
        for place in np.flatnonzero(where < 0).tolist():
            whole[place] = after[rows.names[place]]
        return self._unmet(rows.entries(whole), unknown)

    @abstractmethod
    def _prepared(
        self, block: SparseBlock, labels: Array, learning: Mask, met: Array, events: Array
    ) -> Rows:
        """The same for entries by slot; `met` says how many names were known after each row."""

    def _prepared_dense(
        self, rows: DenseRows, labels: Array, learning: Mask, met: Array
    ) -> Rows | None:
        """The same for a matrix whose columns are the slots; None of stages that have no way of their own for it."""
        return None

    @abstractmethod
    def _make_room(self) -> None:
        """Make room for new names."""

    def exchange(self, names: Mapping[Hashable, Hashable]) -> dict[Hashable, Hashable]:
        """Forget features that come in, and give the place of each to the one that it is mapped to, which is as one that never came.

        Returns the same of the features that go out, for what comes behind.
        """
        known = {old: new for old, new in names.items() if old in self._vocabulary.slot_of}
        slots = self._vocabulary.exchange(names)
        if len(slots):
            self._forget(slots)
        return self._exchanged(known, slots)

    def _forget(self, slots: Array) -> None:
        """Begin anew in slots, whose names are others now; a stage that keeps nothing by slot has nothing to do."""

    @abstractmethod
    def _exchanged(self, names: dict[Hashable, Hashable], slots: Array) -> dict[Hashable, Hashable]:
        """The names that go out no more, after these of the slots were exchanged, and what has their place."""

    def merged(self, others: Sequence[Self]) -> Self:
        """One stage out of this and others of the same parameters, which prepared other shards of one stream. None of them changes."""
        check_alike([self, *others], "stage")
        whole = deepcopy(self)
        if others:
            whole._vocabulary.add(name for each in others for name in each.features)  # noqa: SLF001 - of its own class
            if len(whole._vocabulary) > len(self._vocabulary):  # noqa: SLF001
                whole._make_room()  # noqa: SLF001
            for each in others:
                whole._join(each, whole._vocabulary.slots(each.features))  # noqa: SLF001
        return whole

    @abstractmethod
    def _join(self, other: Self, places: Array) -> None:
        """Know all that another knows, whose features are at these slots; a `MergeError` if the two do not fit together."""

    # Dicts and tables -------------------------------------------------------------------------

    def learn_one(self, x: Mapping[Any, Any], y: Any = None) -> None:
        """Learn one event."""
        self.prepare(rows_of_dicts([x], self.largest), numbers_of([y], 1, self.of_labels), _ALL)

    def transform_one(self, x: Mapping[Any, Any]) -> dict[Hashable, Any]:
        """The features of an event, prepared; nothing is learned."""
        return next(self.transformed(rows_of_dicts([x], self.largest)).dicts())

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn the rows of a table, one after the other."""
        rows = rows_of(X, self.largest)
        labels = numbers_of(y, len(rows), self.of_labels)
        self.prepare(rows, labels, np.ones(len(rows), np.bool_))

    def transform_many(self, X: Any) -> Any:
        """The rows of a table, prepared: a data frame for a data frame; NaN where a feature is missing."""
        rows = rows_of(X, self.largest)
        found = list(self.transformed(rows).dicts())
        names = in_order(dict.fromkeys(name for x in found for name in x))
        columns = {
            str(name): np.array([x.get(name, np.nan) for x in found], np.float64) for name in names
        }
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return np.array([*columns.values()]).T.reshape(len(found), len(names))
        result = nw.from_dict(columns, backend=frame.implementation).to_native()
        if frame.implementation.is_pandas_like():
            result.index = X.index
        return result

    @abstractmethod
    def _unmet(self, block: SparseBlock, unknown: Sequence[Hashable]) -> Rows:
        """Events transformed; slots after the known ones are of these names, which never came."""

    # Its state --------------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that it was made with, as JSON has them."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in parameters_of(self).items()
        }

    @abstractmethod
    def rule(self) -> dict[str, Any]:
        """What it does with an event now, in numbers that another program can follow."""

    def dump(self) -> State:
        """Its whole state."""
        names = [plain_name(name, "feature") for name in self._vocabulary.names]
        metadata = {"parameters": self.parameters, "features": names, **self._described()}
        return State(metadata, self._arrays())

    def load(self, state: State) -> None:
        """Continue from another's state; a `ValueError` if it is of other parameters or does not fit."""
        if state.metadata["parameters"] != self.parameters:
            raise ValueError(
                f"its parameters are {state.metadata['parameters']}, not {self.parameters}"
            )
        self.__dict__.update(type(self)(**parameters_of(self)).__dict__)
        names = entries(state.metadata, "features")
        self._vocabulary.add(plain_name(name, "feature") for name in names)
        if len(self._vocabulary) != len(names):
            raise ValueError("a feature twice")
        self._make_room()
        self._restore(state)
        mine = self._arrays()
        if mine.keys() != state.arrays.keys():
            raise ValueError(f"its arrays are {sorted(state.arrays)}, not {sorted(mine)}")
        for name, array in state.arrays.items():
            if array.shape != mine[name].shape or array.dtype != mine[name].dtype:
                raise ValueError(f"its {name} have another size")
            if not np.isfinite(array).all():
                raise ValueError(f"its {name} are not finite")
            mine[name][...] = array

    @abstractmethod
    def _arrays(self) -> dict[str, Array]:
        """Views of the arrays of its state, without spare room."""

    def _described(self) -> dict[str, Any]:
        """What else JSON has to say of its state."""
        return {}

    def _restore(self, state: State) -> None:
        """Continue from a state, before the arrays are filled; a `ValueError` if its parts do not fit together."""

    # Pipelines --------------------------------------------------------------------------------

    def __or__(self, other: Any) -> Any:
        """Before another stage or a learner of this package a pipeline that takes batches; else one of River's."""
        from stream_rank.features.prepared import Prepared  # which knows stages

        if Prepared.takes(other):
            return Prepared(self, other)
        return super().__or__(other)

    def __copy__(self) -> Self:
        return deepcopy(self)  # two stages must not share arrays


_ALL, _MANY = np.ones(1, np.bool_), 1 << 62


def _risen(rows: Rows, where: Array | None) -> Array:
    """How many of a stage's own names were known after each event, or after any before it."""
    risen = np.empty(len(rows), np.int64)
    met = rows.met if where is None else met_in(rows, where)
    rise(met, len(rows.names) if where is None else _MANY, risen)
    return risen


def met_in(rows: Rows, where: Array | None) -> Array:
    """How many of a stage's own names were known after each event; without `where`, all slots are places."""
    if where is None:
        return np.minimum(rows.met, len(rows.names))
    if not len(where):
        return np.zeros(len(rows), np.int64)
    reached = np.concatenate([[0], np.maximum.accumulate(where + 1)])
    return reached[np.minimum(rows.met, len(where))]


def numbers_of(y: Any, count: int, needed: bool) -> Array:
    """Labels as numbers; of stages that do not need them, none."""
    if not needed:
        return np.full(count, np.nan)
    kind = getattr(getattr(y, "dtype", None), "kind", None)
    if kind in ("i", "u", "f") and np.ndim(y) == 1 and len(y) == count:
        numbers = np.asarray(y, np.float64)
        if (np.abs(numbers) <= LARGEST).all():
            return numbers
    given = [] if y is None else list(y)
    if len(given) != count:
        raise LabelError(f"{count} events came with {len(given)} labels")
    labels = np.empty(count)
    for row, label in enumerate(given):
        try:
            labels[row] = as_number(label)
        except (TypeError, ValueError, OverflowError):
            raise LabelError(f"label {label!r} is not a number") from None
        if not abs(labels[row]) <= LARGEST:
            raise LabelError(f"label {label!r} is not a number of at most {LARGEST:g} in size")
    return labels
