"""The index of feature names."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.admission import Admission
from stream_rank.codec.batch import Batch
from stream_rank.engine.reading.entries import mark
from stream_rank.learners.base.serialization import entries
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["FeatureIndex"]

Array = npt.NDArray[Any]


def _grown(array: Array, size: int, fill: int) -> Array:
    """The array, or a copy of twice `size` if it is smaller than `size`."""
    if size <= len(array):
        return array
    larger = np.full(2 * size, fill, array.dtype)
    larger[: len(array)] = array
    return larger


class FeatureIndex:
    """Names in the order in which they were added; a slot may be given to another name, between two records.

    Cost: amortised O(1) per name.

    >>> index = FeatureIndex()
    >>> index.meet({"b": 1.0, "a": 2.0})
    >>> index.names
    ['a', 'b']
    """

    key = "features"

    def __init__(self, names: Iterable[Hashable] = (), admission: Admission | None = None) -> None:
        self._vocabulary = Vocabulary()
        self.admission = admission or Admission()
        self._listed: Array = np.full(8, -1, np.int64)
        self._n_listed = 0
        self.learned_records = 0
        """How many records of the chunk were learned."""
        self.learned = 0
        """How many names the learned events have; events that are only decoded may have added more."""
        self._add(names)

    def __len__(self) -> int:
        return len(self._vocabulary)

    @property
    def names(self) -> list[Hashable]:
        """The names, by slot."""
        return self._vocabulary.names

    @property
    def slot_of(self) -> dict[Hashable, int]:
        """Slots by name."""
        return self._vocabulary.slot_of

    def new(self, names: Iterable[Hashable]) -> list[Hashable]:
        """The names that have no slot yet."""
        slot_of = self._vocabulary.slot_of
        return [name for name in names if name not in slot_of]

    def meet(self, names: Iterable[Hashable]) -> None:
        """Give slots to the names of one learned event, as far as they are let in."""
        new = self.new(names)
        if new:
            self._add(self.admission.admitted(in_order(new), len(self)))

    def know(self, names: Iterable[Hashable]) -> None:
        """Give slots to names that a learner knows which joins, between two chunks; there must be room."""
        self._add(names)
        self.learned = len(self)

    def passed(self, batch: Batch) -> None:
        """Note that a batch was learned, and all records up to its last."""
        expiry = self.admission.expiry
        used = expiry.used
        if used is not None:
            bounds = [(batch.rows.first, batch.rows.last), (batch.others.first, batch.others.last)]
            bounds += [(order.first, order.last) for order in batch.orders.values()]
            for first, last in bounds:
                mark(first, last, batch.rows.slots, expiry.round, used)
        expiry.advance(self.learned_records, batch.end_record)
        self.learned, self.learned_records = batch.names_met, batch.end_record

    def exchange(self) -> tuple[dict[Hashable, Hashable], Array]:
        """End a round of the expiry: the names that lose their slots, with the names that get them, and the slots."""
        given = self.admission.exchange(self.slot_of)
        exchanged = {self.names[slot]: name for slot, name in given.items()}
        self._vocabulary.exchange(exchanged)
        self._listed[np.isin(self._listed, list(given))] = -1
        for slot, name in given.items():
            self._list(name, slot)
        return exchanged, np.array(list(given), np.int64)

    def dump(self) -> State:
        """The names of the learned events, and what was counted of those that are not let in."""
        admission = self.admission.dump(self.learned_records)
        return State({"names": self.names[: self.learned], **admission.metadata}, admission.arrays)

    def load(self, state: State) -> None:
        """Restore the names, before anything is decoded."""
        names = entries(state.metadata, "names")
        if len(set(names)) < len(names) or not all(type(name) in (str, int) for name in names):
            raise ValueError("a feature twice, or one without a name")
        self._add(names)
        self.admission.load(state, len(self))
        self.learned = len(self)

    def loads_again(self, state: State) -> bool:
        """Restore another state of the very same names, if it is one, and no slot was ever given away: decoders know their names by slot.

        Cost: O(names).
        """
        names, expiry = state.metadata.get("names"), self.admission.expiry
        if names != self.names or "rounds" in state.metadata or expiry.left is not None:
            return False
        self.admission.begin()
        self.admission.load(state, len(self))
        self.learned, self.learned_records = len(self), 0
        return True

    @property
    def listed(self) -> Array:
        """The slots of the features that are named by their place in a list, or -1."""
        return self._listed[: self._n_listed]

    def _add(self, names: Iterable[Hashable]) -> None:
        for name in names:
            slot = len(self._vocabulary)
            self._vocabulary.add([name])
            self._list(name, slot)

    def _list(self, name: Hashable, slot: int) -> None:
        if isinstance(name, int) and 0 <= name <= 2 * slot + 64:
            self._listed = _grown(self._listed, name + 1, -1)
            self._listed[name] = slot
            self._n_listed = max(self._n_listed, name + 1)
