"""The base class of all learners: from dicts and tables to the engine's rows, and back."""

import json
import math
import struct
from collections.abc import Callable, Hashable, Iterator, Mapping
from copy import deepcopy
from functools import cache, lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, ClassVar, Literal, Self

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from stream_rank.engine import few
from stream_rank.engine.scoring.odds import PAIRS, new_odds
from stream_rank.errors import EventError, FeatureError
from stream_rank.learners.base.capabilities import (
    Insight,
    LearnerLimits,
    NamedWeights,
    Rule,
    arrays_of_rule,
)
from stream_rank.learners.base.mergeable import Mergeable
from stream_rank.learners.base.numbers import as_number, check_magnitude, unusable
from stream_rank.learners.base.pairs import PairLearner, checked_odds
from stream_rank.learners.base.serialization import arguments_of, entries, parameters_of, plain_name
from stream_rank.learners.base.state import State, arrays_of, as_text, fill, trimmed
from stream_rank.learners.models.model import Model
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.dense_table import DenseTable, too_long
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import Table, open_table
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["Features", "Learner", "check_dtype", "check_magnitude", "like_input"]

Array = npt.NDArray[Any]
Features = Mapping[Any, Any]
"""An event's features by name; names may be anything hashable."""

_PROBED = 512
"""Features whose numbers fill whole cache lines, of either type."""
_SPARSE_BELOW = 8
"""A dict with less than one in so many known features is learned as a sparse event."""


def _as_dict(x: Any) -> dict[Any, Any]:
    """An event as a plain dict: some mappings create missing keys, as `defaultdict` does."""
    if not isinstance(x, Mapping):
        raise FeatureError(f"an event is a dict of features by name, not {x!r}")
    return dict(x)


@cache
def _few_packers(code: str) -> list[Callable[..., None]]:
    """What writes an event of so many entries: their slots, and then the values."""
    return [struct.Struct(f"={n}q{n}{code}").pack_into for n in range(few.MOST + 1)]


def check_dtype(dtype: str) -> str:
    """The dtype, if it is one that the engine has."""
    if not isinstance(dtype, str) or dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', not {dtype!r}")
    return dtype


class Learner(PairLearner, Mergeable):
    """A vocabulary, a model, and the ways from an event to the model.

    An event reaches the model in one of two ways. `_seat` writes a dict to the model's memory: to its row, by a
    getter and a packer made for the names known so far, or as entries, if it has few of them; that is most of what a
    single event costs. `_table_blocks` makes rows of a table. Both give new features their slots first.
    """

    learns_groups: ClassVar[bool] = False
    """Whether events may come with a `group`."""
    learns_preferences: ClassVar[bool] = True
    """Whether it has `learn_pair`."""
    takes_names: ClassVar[tuple[str, ...]] = ()
    """The parameters that say which features have names for values, also where these are numbers."""
    gives_probabilities: ClassVar[bool] = False
    """Whether `predict_proba_one` gives probabilities, and not shares of votes or nothing."""
    _model: Model

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._odds = new_odds()
        self._fit_to_vocabulary()

    # One event ------------------------------------------------------------------------------

    def _fit_to_vocabulary(self) -> None:
        """Make a packer for the features known, and room for them in the model."""
        self._make_room(len(self._vocabulary))
        # an infinite width, which no event has, where a model takes blocks only
        self._width = math.inf if self._model.always_blocks else len(self._vocabulary)
        self._pick: Callable[[Any], tuple[Any, ...]] = self._first_pick
        self._nothing: dict[Hashable, float] | None = None
        code = "d" if self._model.dtype == "float64" else "f"
        self._pack = struct.Struct(f"={len(self._vocabulary)}{code}").pack_into
        self._pack_few = _few_packers(code)

    @property
    def _zeros(self) -> dict[Hashable, float]:
        """A zero for every feature known, which an event with some of them is laid upon."""
        if self._nothing is None:
            self._nothing = dict.fromkeys(self._vocabulary.names, 0.0)
        return self._nothing

    def _first_pick(self, x: Features) -> tuple[Any, ...]:
        """Make the getter for the known features on first use.

        It costs O(names), which would be wasted while the vocabulary still grows.
        """
        names = self._vocabulary.names
        if len(names) > 1:
            self._pick = itemgetter(*names)
        else:
            self._pick = lambda x: tuple(x[name] for name in names)
        return self._pick(x)

    def _make_room(self, n_features: int) -> None:
        """Make room for features in the model."""
        self._model.resize(n_features)
        self._find_row()

    def _find_row(self) -> None:
        """Find the model's row again, which moves with its memory."""
        self._row = memoryview(self._model.row.data).cast("B")
        entries = self._model.few
        self._few = None if entries is None else memoryview(entries.data).cast("B")
        self._most_few = -1 if entries is None else few.MOST

    def _seat(self, x: Features, learning: bool) -> DenseBlock | SparseBlock | int | None:
        """Write an event to the model's row, or, if that is much shorter, as entries, and return how many these are.

        It is returned as a block where a model takes no entries, or where there are too many.
        """
        if type(x) is not dict:
            x = _as_dict(x)
        try:
            count = len(x)
            if count == self._width:
                self._pack(self._row, 0, *self._pick(x))
                return None
            if count * _SPARSE_BELOW < self._width:
                if count <= self._most_few:
                    slots = map(self._vocabulary.slot_of.__getitem__, x)
                    self._pack_few[count](self._few, 0, *slots, *x.values())
                    return count
            else:
                whole = (self._nothing or self._zeros) | x
                if len(whole) == self._width:  # no name is new
                    self._pack(self._row, 0, *self._pick(whole))
                    return None
        except (KeyError, TypeError, struct.error, OverflowError):
            pass  # a name is new, or a value is no number
        values = self._checked(x)
        if learning:
            self._introduce(values)
        if len(values) * _SPARSE_BELOW < self._width:
            return self._block(values) if len(values) > self._most_few else self._write_few(values)
        self._write(values)
        return None

    def _write_few(self, values: Mapping[Hashable, float]) -> int:
        """Write the known features as entries; how many they are."""
        slot_of = self._vocabulary.slot_of
        known = [(slot_of[name], value) for name, value in values.items() if name in slot_of]
        self._pack_few[len(known)](self._few, 0, *[s for s, _ in known], *[v for _, v in known])
        return len(known)

    def _block(self, values: Mapping[Hashable, float]) -> DenseBlock | SparseBlock:
        """One event as a block of one row."""
        return next(iter(self._table_blocks(self._table_of(values), 0, 1)))

    def _alone(self, values: Mapping[Hashable, float]) -> DenseBlock | SparseBlock:
        """One event as a block of one row: the model's own row if it has many of the features."""
        if len(values) * _SPARSE_BELOW < self._width:
            return self._block(values)
        self._write(values)
        return DenseBlock(0, 1, self._model.row[None])

    def _table_of(self, values: Mapping[Hashable, float]) -> DenseTable:
        """One event as a table."""
        row = np.array([[*values.values()]], np.float64)
        return DenseTable(row, list(values), None, self._model.bound, self._model.longest)

    def _write(self, values: Mapping[Hashable, float]) -> None:
        """Write the known features to the model's row, those that are missing as zeros."""
        value_of = values.get
        self._pack(self._row, 0, *[value_of(name, 0.0) for name in self._vocabulary.names])

    def _checked(self, x: Features) -> dict[Hashable, float]:
        """The features as numbers, or an error that names the one that is none."""
        bound, values, square = self._model.bound, {}, 0.0
        for name, value in _as_dict(x).items():
            try:
                number = as_number(value)
            except (TypeError, ValueError, OverflowError):
                raise unusable(name, value, bound) from None
            if not abs(number) <= bound:
                raise unusable(name, value, bound)
            values[name] = number
            square += number * number
        if square > self._model.longest:
            raise too_long(0, square, self._model.longest)
        return values

    def _refuse(self, x: Features) -> FeatureError:
        """The error for an event that the engine found unusable."""
        try:
            self._checked(x)
        except FeatureError as error:
            return error
        return FeatureError("an event has a number that is too large")

    def _difference(self, preferred: Features, other: Features) -> dict[Hashable, float]:
        """The preferred item less the other, by feature."""
        first, second = self._checked(preferred), self._checked(other)
        names = [*first, *(name for name in second if name not in first)]
        return {name: first.get(name, 0.0) - second.get(name, 0.0) for name in names}

    def _teach_pair(self, preferred: Features, other: Features, magnitude: float) -> None:
        """Learn that one item is preferred to another.

        Where the rule misorders the two, its weights move by `magnitude` times their difference, or, if they are a tie, to
        where none is ahead, by at most their difference; thresholds stay.
        """
        magnitude = check_magnitude(magnitude, self._model.bound)
        difference = self._difference(preferred, other)
        largest = max(map(abs, difference.values()), default=0.0)
        self._check_reach(largest, magnitude)
        self._introduce(difference)
        self._write(difference)
        self._model.learn_pair(self._model.block, magnitude, math.inf)

    def utility_one(self, x: Features) -> float:
        """The score of an event."""
        raise NotImplementedError

    def _check_reach(self, largest: float, magnitude: float) -> None:
        """Raise an `EventError` unless weights may move by the difference times the magnitude."""
        largest *= max(1.0, magnitude)
        if not largest <= self._model.bound:
            raise EventError(
                f"the difference of the pair times its magnitude is {largest:g}; "
                f"at most {self._model.bound:g} is needed"
            )

    def _introduce(self, x: Features) -> None:
        """Give slots to the features of an event that have none."""
        if not self._vocabulary.slot_of.keys() >= x.keys():
            before = len(self._vocabulary)
            slot_of = self._vocabulary.slot_of
            self._vocabulary.add(in_order(name for name in x if name not in slot_of))
            self._grow(before)

    def _grow(self, before: int) -> None:
        """Make room for the features that were met after the first so many, if the model takes as many."""
        met, most = len(self._vocabulary), self._model.most_features
        if met > most:
            self._vocabulary.forget(before)
            raise FeatureError(
                f"{type(self).__name__} takes at most {most:g} features, and with these there would be {met}; "
                "leave some out, or use a learner whose memory does not grow with their square"
            )
        if met > before:
            self._fit_to_vocabulary()

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Forget features, and give the place of each to the one that it is mapped to, which is as one that never came.

        What was learned of the others stays. Memory stays as it is.

        >>> from stream_rank import PRank
        >>> model = PRank(n_ranks=3)
        >>> model.learn_one({"old": 1.0, "other": 2.0}, 1)
        >>> model.exchange({"old": "new"})
        >>> model.weights
        {'new': 0.0, 'other': -4.0}
        """
        slots = self._vocabulary.exchange(names)
        if len(slots):
            self._model.forget(slots)
            self._fit_to_vocabulary()

    # Many events ----------------------------------------------------------------------------

    def _table_blocks(
        self, table: Table, first: int, end: int
    ) -> Iterator[DenseBlock | SparseBlock]:
        model = self._model
        if model.always_blocks:
            return table.all_features(self._vocabulary, model.dtype, first, end)
        return table.blocks(self._vocabulary, model.n_slots, model.dtype, first, end)

    def _learn_runs(
        self, rows: Rows, y: Array, learning: npt.NDArray[np.bool_], group: Any
    ) -> Array:
        """Predict all rows of a stream, and learn some, one run after the other.

        A kernel's value includes the squares of features without a slot, which are summed in an order that depends on how
        many have one: later rows must not give slots to theirs before an earlier one is predicted.
        """
        learner: Any = self
        found = np.empty(len(rows))
        cuts = (np.flatnonzero(np.diff(learning)) + 1).tolist()
        for first, end in pairwise([0, *cuts, len(rows)]):
            some = slice(first, end)
            if not learning[first]:
                found[some] = learner.predict_many(rows.part(first, end))
            else:
                more = {} if group is None else {"group": group[some]}
                found[some] = learner.test_then_train(rows.part(first, end), y[some], **more)
        return found

    def _open(self, X: Any) -> Table:
        """A table of which every event can be learned and ranked."""
        return open_table(X, self._model.bound, self._model.longest)

    def _meet(self, table: Table) -> None:
        """Give slots to the features of a table that have none."""
        before = len(self._vocabulary)
        table.introduce(self._vocabulary)
        self._grow(before)

    # What it tells about itself -------------------------------------------------------------

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Whether predictions are ranks (labels whose order alone counts), or scores."""
        raise NotImplementedError

    @property
    def limits(self) -> LearnerLimits:
        """What an event must keep to, to be learned."""
        model = self._model
        return LearnerLimits(model.bound, model.longest, model.most_features)

    @property
    def features(self) -> list[Hashable]:
        """The names of the features known, by slot: in the order in which they were met."""
        return list(self._vocabulary.names)

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that it was made with, as JSON has them."""
        return parameters_of(self)

    @property
    def n_events(self) -> int:
        """The number of events learned."""
        return int(self._model.events)

    @property
    def n_updates(self) -> int | None:
        """The number of members' mistakes, each of which moved one; None where they are not counted."""
        return None

    def memory_at(self, n_features: int) -> int:
        """Bytes that a learner of these parameters takes at most with so many features.

        Its memories have room for half as many features more, and while a snapshot is written there are two copies without that
        room. Sizes are polynomials of the number of features, of the second degree at most, so three of them say all.

        >>> from stream_rank import PRank
        >>> round(PRank(n_ranks=5).memory_at(1_000_000) / 1e6)  # of three numbers a feature
        84
        """
        kind: Any = type(self)
        sizes = _sizes_of(kind, as_text(self.parameters))

        def size(count: float) -> float:
            at = count / self._probed
            low, middle, high = sizes
            bend = (high - 2 * middle + low) / 2
            return low + (at - 1) * (middle - low) + (at - 1) * (at - 2) * bend

        return int(size(1.5 * n_features) + 2 * size(n_features))

    @property
    def _probed(self) -> int:
        """How many features are looked at for `memory_at`: as many as make whatever is bounded reach its bound."""
        return _PROBED

    def _size_with(self, n_features: int) -> int:
        self._model.resize(n_features)
        return sum(memory.n_bytes for memory in self._model.memories().values())

    def rule(self) -> Rule:
        """What was learned, in numbers that another program can score with. With a kernel, this copies the support set."""
        rule = self._plain_rule()
        return rule._replace(weights=dict(rule.weights))

    def _plain_rule(self) -> Rule:
        """The rule without its support vectors."""
        raise NotImplementedError

    def beside_rule(self) -> dict[str, Any]:
        """What an exported rule has beside weights and thresholds, as JSON has it."""
        return {}

    def rule_arrays(self) -> dict[str, Array]:
        """The rule as arrays, for `numpy.savez`."""
        return arrays_of_rule(self._plain_rule())

    def insight(self, X: Any = None) -> Insight:
        """What monitoring shows: the rule, and with a table the scores and votes for its events. Nothing changes."""
        rule = self._plain_rule()
        return Insight(rule.weights, rule.thresholds, self.n_updates, rule.labels)

    def _named(self, weights: Array) -> Mapping[Hashable, float]:
        """Weights by feature."""
        return NamedWeights(self._vocabulary.names, weights)

    # Its state ------------------------------------------------------------------------------

    def dump(self) -> State:
        """The whole state, of which `learner_from` makes an equal learner. This one does not change."""
        metadata = self.described()
        arrays = self.kept()
        twin = type(self)(**arguments_of(metadata["parameters"]))
        twin.prepare(metadata)
        twin.adopt(trimmed(arrays, twin.kept()))
        return State(metadata, twin.kept())

    def kept(self) -> dict[str, Array]:
        """The arrays of its memories, spare capacity included. Some models first solve for their weights."""
        return arrays_of(self._model.memories())

    def described(self) -> dict[str, Any]:
        """Its class, parameters and names, from which `prepare` makes room for its arrays."""
        from stream_rank.learners.catalogue import name_of  # which imports all learners

        return {
            "learner": name_of(type(self)),
            "parameters": self.parameters,
            "features": [plain_name(name, "feature") for name in self._vocabulary.names],
            **({"odds": self._odds.tolist()} if self._odds[PAIRS] else {}),
        }

    def prepare(self, described: Mapping[str, Any]) -> None:
        """Make room in a new learner for what is described, and for nothing else; a `ValueError` if it cannot be."""
        names = entries(described, "features")
        if len(names) > self._model.most_features:
            raise ValueError(f"{len(names)} features")
        self._vocabulary.add(plain_name(name, "feature") for name in names)
        if len(self._vocabulary) != len(names):
            raise ValueError("a feature twice")
        if "odds" in described:
            self._odds = checked_odds(described["odds"])
        self._fit_to_vocabulary()

    def adopt(self, arrays: Mapping[str, Array]) -> None:
        """Take the arrays of a state for which room was made; a `ValueError` if they are not of such a learner."""
        fill(self._model.memories(), arrays)
        self._model.resume()

    # Copies ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        made = ("_width", "_pick", "_pack", "_row", "_nothing", "_few", "_most_few", "_pack_few")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __copy__(self) -> Self:
        return deepcopy(self)  # two learners must not share memory

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._fit_to_vocabulary()


@lru_cache(64)
def _sizes_of(kind: Any, parameters: str) -> list[int]:
    """Bytes of the memories of a new learner of these parameters, with once, twice and three times as many features as are looked at."""
    found = []
    for times in (1, 2, 3):
        twin = kind(**arguments_of(json.loads(parameters)))
        found.append(twin._size_with(twin._probed * times))  # noqa: SLF001 - of its own class
    return found


def like_input(values: Array, table: Table, name: Any = None) -> Any:
    """Predictions in the form of what was asked: a series for a data frame, else an array."""
    if table.native is None:
        return values
    frame = nw.from_native(table.native, eager_only=True)
    column = values.tolist() if values.dtype == object else values
    name = "prediction" if name is None else name
    series = nw.new_series(name, column, backend=frame.implementation)
    native = series.to_native()
    if frame.implementation.is_pandas_like():
        native.index = table.native.index
    return native
