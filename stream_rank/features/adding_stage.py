"""The base class of stages that add features to those that come in."""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.lengths import normalize
from stream_rank.engine.preparation.merging import merge
from stream_rank.features.feature_stage import FeatureStage, met_in
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["Added", "AddingStage"]

Array = npt.NDArray[Any]


class Added(NamedTuple):
    """Entries beside those of events: where each event's begin, and the number and value of every added feature."""

    starts: Array
    numbers: Array
    """A stage numbers what it adds; -1 is a feature that no learned event had."""
    values: Array
    fresh: list[tuple[int, int]]
    """The events that were the first to learn an added feature, ascending, and its number."""
    factors: Array | None = None
    """What the features that are passed on are multiplied with, for every event."""


class AddingStage(FeatureStage):
    """A stage that passes all features on, and adds others.

    What goes out gets its slots as a learner behind would give them to the dicts of River's pipelines: event by event, and within an
    event in the order of names, whether they came in or were added.
    """

    def __init__(self, keeps: bool = True) -> None:
        """`keeps` says whether what comes in is passed on."""
        super().__init__()
        self._keeps = keeps
        self._out = Vocabulary()
        self._out_of_input: list[int] = []
        """The slot going out of each slot coming in."""
        self._out_of_added: list[int] = []
        """The slot going out of each added feature, by number."""

    @abstractmethod
    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        """What is added to events, and learned from those that are learned.

        The slots after the known ones are of `unknown` names, which never came; then nothing is learned.
        """

    @abstractmethod
    def _name_of(self, number: int) -> Hashable:
        """The name of an added feature."""

    def know(self, rows: Rows) -> None:
        """Meet the names that events bring whose labels come later; nothing else is learned."""
        super().know(rows)
        if len(self._vocabulary) > len(self._out_of_input):
            met = met_in(rows, self._vocabulary.places_in(rows.names))
            self._meet([], np.maximum.accumulate(met), np.arange(len(rows)))

    def _prepared(
        self, block: SparseBlock, labels: Array, learning: Any, met: Array, events: Array
    ) -> Rows:
        added, known = self._added(block, labels, learning), len(self._out)
        births = self._meet(added.fresh, met, events)
        reached = known + np.searchsorted(births, np.arange(len(met)), "right")
        where = np.array(self._out_of_input, np.int64)
        places = self._places(added.numbers)
        added = _born(added)
        return self._joined(self._out.names, block, where, added, places, reached)

    def _meet(self, fresh: Sequence[tuple[int, int]], met: Array, events: Array) -> list[int]:
        """Give slots to what goes out for the first time; the row after which each is known, ascending."""
        new: dict[int, list[tuple[Hashable, int]]] = {}  # by event: names, and inputs or ~numbers
        rows: dict[int, int] = {}
        for slot in range(len(self._out_of_input), len(self._vocabulary)):
            row = int(np.searchsorted(met, slot, "right"))
            rows[int(events[row])] = row
            if self._keeps:
                new.setdefault(int(events[row]), []).append((self._vocabulary.names[slot], slot))
            self._out_of_input.append(-1)
        for row, number in fresh:
            rows[int(events[row])] = row
            new.setdefault(int(events[row]), []).append((self._name_of(number), ~number))
            self._out_of_added += [-1] * (number + 1 - len(self._out_of_added))
        births = []
        for event in sorted(new):
            which: dict[Hashable, list[int]] = {}
            for name, what in new[event]:
                which.setdefault(name, []).append(what)
            for name in in_order(which):
                if name not in self._out.slot_of:
                    self._out.add([name])
                    births.append(rows[event])
                for what in which[name]:
                    self._place(what, self._out.slot_of[name])
        return births

    def _added_of(self, slots: Array) -> list[int]:
        """The numbers of the added features that are made of what comes in at slots; each keeps its number, and gets another name."""
        return []

    def _exchanged(self, names: dict[Hashable, Hashable], slots: Array) -> dict[Hashable, Hashable]:
        """A slot going out changes its name with what it is made of, unless something else goes out there too.

        Cost: O(features), if any is exchanged.
        """
        if not len(slots):
            return {}
        sources = [*slots.tolist(), *(~number for number in self._added_of(slots))]
        moved = {what: slot for what in sources if (slot := self._place_of(what)) >= 0}
        placed = np.array([*self._out_of_input, *self._out_of_added], np.int64)
        used = np.bincount(placed[placed >= 0], minlength=len(self._out))
        used -= np.bincount(np.array([*moved.values()], np.int64), minlength=len(used))
        free = {slot for slot in moved.values() if not used[slot]}
        names_of = {
            what: self._vocabulary.names[what] if what >= 0 else self._name_of(~what)
            for what in moved
        }
        places: dict[Hashable, int] = {}
        named: dict[int, Hashable] = {}
        for what, slot in moved.items():
            name = names_of[what]
            known = self._out.slot_of.get(name, -1)
            if known >= 0 and known not in free:
                places[name] = known
            elif name not in places and slot in free and slot not in named:
                named[slot], places[name] = name, slot
        given = {self._out.names[slot]: named.get(slot, _nothing_at(slot)) for slot in sorted(free)}
        self._out.exchange(given)
        for what in moved:
            self._out.add([names_of[what]])
            self._place(what, self._out.slot_of[names_of[what]])
        return given

    def _place_of(self, what: int) -> int:
        return self._out_of_input[what] if what >= 0 else self._out_of_added[~what]

    def _place(self, what: int, slot: int) -> None:
        if what >= 0:
            self._out_of_input[what] = slot
        else:
            self._out_of_added[~what] = slot

    def _unmet(self, block: SparseBlock, unknown: Sequence[Hashable]) -> Rows:
        count = len(block.starts) - 1
        nothing = np.zeros(count, np.bool_)
        added = self._added(block, np.full(count, np.nan), nothing, unknown)
        names = [*self._out.names, *(unknown if self._keeps else [])]
        places_of = range(len(self._out), len(names)) if self._keeps else [-1] * len(unknown)
        where = np.array([*self._out_of_input, *places_of], np.int64)
        places = self._places(added.numbers)
        for number in np.unique(added.numbers).tolist():
            if number >= 0 and places[number] < 0:
                places[number] = len(names)
                names.append(self._name_of(number))
        return self._joined(names, block, where, added, places, np.full(count, len(self._out)))

    def _places(self, numbers: Array) -> Array:
        """The slots going out of added features by number, and at the end one of those that are not known."""
        count = max(len(self._out_of_added), int(numbers.max(initial=-1)) + 1)
        places = np.full(count + 1, -1, np.int64)
        places[: len(self._out_of_added)] = self._out_of_added
        return places

    def _joined(
        self,
        names: Sequence[Hashable],
        block: SparseBlock,
        where: Array,
        added: Added,
        places: Array,
        met: Array,
    ) -> Rows:
        """What came in and what was added, as rows."""
        own = block.values
        if added.factors is not None:
            own = np.empty(len(block.values))
            normalize(block.starts, block.values, added.factors, own)
        slots, values_beside = _ascending(added, places)
        most = len(own) + len(added.values)
        starts = np.empty(len(block.starts), np.int64)
        found, values = np.empty(most, np.int64), np.empty(most)
        count = merge(
            *(block.starts, block.slots, own, where),
            *(added.starts, slots, values_beside, starts, found, values),
        )
        return Rows(names, starts[:-1], starts[1:], found[:count], values[:count], met)

    def _join_outputs(self, other: Self, places: Array, numbers: Sequence[int]) -> None:
        """Let go out what goes out of another: its features are at these slots, and its added ones have these numbers, or -1 if none here.

        What goes out first goes out after what did here, in its order there.
        """
        self._out_of_input += [-1] * (len(self._vocabulary) - len(self._out_of_input))
        self._out_of_added += [-1] * (max(numbers, default=-1) + 1 - len(self._out_of_added))
        inputs, added = other._out_of_input, other._out_of_added
        moved = [
            (out, what) for out, what in zip(inputs, places.tolist(), strict=False) if out >= 0
        ]
        moved += [
            (out, ~number)
            for out, number in zip(added, numbers, strict=True)
            if min(out, number) >= 0
        ]
        names = other._out.names
        for out, what in sorted(moved, key=lambda each: each[0]):
            self._out.add([names[out]])
            self._place(what, self._out.slot_of[names[out]])

    # Its state --------------------------------------------------------------------------------

    def _described(self) -> dict[str, Any]:
        placed = {slot for slot in (*self._out_of_input, *self._out_of_added) if slot >= 0}
        return {"outputs": len(self._out), "idle": len(self._out) - len(placed)}

    @abstractmethod
    def _own_arrays(self) -> dict[str, Array]:
        """Views of the arrays of its state, but for the places of what goes out."""

    def _arrays(self) -> dict[str, Array]:
        return {
            **self._own_arrays(),
            "places/inputs": np.array(self._out_of_input, np.int64),
            "places/added": np.array(self._out_of_added, np.int64),
        }

    def _restore(self, state: State) -> None:
        count = int(state.metadata["outputs"])
        names: list[Hashable] = [None] * count
        inputs = self._vocabulary.names
        self._out_of_input = state.arrays["places/inputs"].tolist()
        self._out_of_added = state.arrays["places/added"].tolist()
        if len(self._out_of_input) != len(inputs):
            raise ValueError("its places of features do not fit")
        for number, slot in enumerate(self._out_of_input):
            if self._keeps or slot != -1:
                names[_within(slot, count)] = inputs[number]
        for number, slot in enumerate(self._out_of_added):
            if slot >= 0:
                names[_within(slot, count)] = self._name_of(number)
        if names.count(None) != state.metadata.get("idle", 0):
            raise ValueError("its places of features do not fit")
        names = [_nothing_at(slot) if name is None else name for slot, name in enumerate(names)]
        if len(set(names)) < count:
            raise ValueError("its places of features do not fit")
        self._out.add(names)


def _born(added: Added) -> Added:
    """Without what was added to events before the one that was first to learn it, whatever else is in the batch."""
    if not added.fresh:
        return added
    births = np.zeros(int(added.numbers.max(initial=0)) + 2, np.int64)
    for event, number in added.fresh:
        births[number] = event
    events = np.repeat(np.arange(len(added.starts) - 1), np.diff(added.starts))
    return added._replace(numbers=np.where(events < births[added.numbers], -1, added.numbers))


def _ascending(added: Added, places: Array) -> tuple[Array, Array]:
    """The slots and values of what was added, ascending within an event."""
    slots = places[added.numbers]
    events = np.repeat(np.arange(len(added.starts) - 1), np.diff(added.starts))
    if ((slots[1:] > slots[:-1]) | (events[1:] > events[:-1])).all():
        return slots, added.values
    order = np.lexsort((slots, events))
    return slots[order], added.values[order]


def _nothing_at(slot: int) -> int:
    """The name of a slot from which nothing goes out any more; the names of features are text, or at least 0."""
    return -1 - slot


def _within(slot: int, count: int) -> int:
    if not 0 <= slot < count:
        raise ValueError("its places of features do not fit")
    return slot
