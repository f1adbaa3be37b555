"""The rows of a stream: the features of many decoded events, as a table."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.check import first_beyond
from stream_rank.engine.memory import aligned
from stream_rank.engine.reading.entries import gather, spread_rows, within
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.spare import Spare
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["Rows"]

Array = npt.NDArray[Any]

_SPARSE_BELOW = 4
"""Events that fill less than one in so many slots are learned as sparse events."""

_BLOCK_BYTES = 1 << 18
"""Rows are written this many bytes at a time, which a second-level cache holds."""

_BLOCK_ENTRIES = 1 << 16

_NOWHERE: Array = np.empty(0, np.int64)

_SHORT = 64
"""Events of up to so many entries are sorted by insertion, whose cost is at worst the square of that."""


class Rows:
    """Events as entries: `slots[first[i]:last[i]]` and `values[...]` are event i's.

    Slots are indices into `names`, of which the first `met[i]` were known after event i. So a learner gives names slots
    in the same order, however the rows are divided. The decoder has checked all numbers.
    """

    native: Any = None
    packed: SparseBlock | None = None
    """The same as a block, of rows that were made as one: it is not copied where slots are as they should be."""

    def __init__(
        self,
        names: Sequence[Hashable],
        first: Array,
        last: Array,
        slots: Array,
        values: Array,
        met: Array,
    ) -> None:
        self.names = names
        self.first, self.last = first, last
        self.slots, self.values = slots, values
        self.met = met

    def __len__(self) -> int:
        return len(self.first)

    def part(self, begin: int, end: int) -> "Rows":
        """Some of the events."""
        some = slice(begin, end)
        return Rows(
            self.names, self.first[some], self.last[some], self.slots, self.values, self.met[some]
        )

    def chosen(self, which: Array) -> "Rows":
        """The events at some places."""
        return Rows(
            self.names,
            self.first[which],
            self.last[which],
            self.slots,
            self.values,
            self.met[which],
        )

    def copied(self) -> "Rows":
        """The same, in memory of their own."""
        block = self._sparse(None, "float64", 0, len(self), self._n_entries(0, len(self)))
        starts, met = block.starts, self.met.copy()
        return Rows(self.names, starts[:-1], starts[1:], block.slots, block.values, met)

    def bounds(self, begin: int, end: int) -> tuple[Array, Array, Array]:
        """Where the entries of some events begin and end, and how many names were met after each."""
        some = slice(begin, end)
        return self.first[some], self.last[some], self.met[some]

    def dicts(self, first: int = 0, end: int | None = None) -> Iterator[dict[Any, float]]:
        """Events `first` to `end` one by one, features by name."""
        some = slice(first, end)
        for first, last in zip(self.first[some].tolist(), self.last[some].tolist(), strict=True):
            names = [self.names[slot] for slot in self.slots[first:last].tolist()]
            yield dict(zip(names, self.values[first:last].tolist(), strict=True))

    def introduce(self, vocabulary: Vocabulary) -> None:
        """Give slots to the features that have none, in the order in which they came."""
        vocabulary.add([self.names[place] for place in self._unmet(vocabulary)])

    def all_met(self, vocabulary: Vocabulary) -> bool:
        """Whether the names that these events, or those before them, brought all have slots."""
        return not self._unmet(vocabulary)

    def _unmet(self, vocabulary: Vocabulary) -> list[int]:
        """The places of names that these events, or those before them, brought and that have no slot."""
        unknown = vocabulary.unknown_in(self.names)
        known = int(self.met.max()) if unknown and len(self) else 0
        return [place for place in unknown if place < known]

    def newcomers(self, vocabulary: Vocabulary) -> list[tuple[int, Hashable]]:
        """The features that have no slot, in the order in which they came, each with the event that brought it."""
        return [(event, self.names[place]) for event, place in self._newcomers(vocabulary)]

    def newcomers_first(self, vocabulary: Vocabulary) -> list[tuple[int, Hashable]]:
        """The same for preferred items of pairs: of the names that come with one pair, those in these rows come first."""
        own = {
            event: set(self.slots[self.first[event] : self.last[event]].tolist())
            for event, _ in self._newcomers(vocabulary)
        }
        found = sorted(
            self._newcomers(vocabulary), key=lambda each: (each[0], each[1] not in own[each[0]])
        )
        return [(event, self.names[place]) for event, place in found]

    def _newcomers(self, vocabulary: Vocabulary) -> list[tuple[int, int]]:
        """The places of names that have no slot, each with the event that brought it."""
        unknown = self._unmet(vocabulary)
        if not unknown:
            return []
        events = np.searchsorted(np.maximum.accumulate(self.met), unknown, "right")
        return list(zip(events.tolist(), unknown, strict=True))

    def within(self, bound: float) -> bool:
        """Whether no feature is larger than that in size."""
        if self.packed is not None:
            return int(first_beyond(self.packed.values.reshape(1, -1), bound)) < 0
        return bool(within(self.first, self.last, self.values, bound))

    def blocks(
        self, vocabulary: Vocabulary, n_slots: int, dtype: str, first: int, end: int
    ) -> Iterator[DenseBlock | SparseBlock]:
        """Events `first` to `end`, as sparse events if they have values for few of the slots."""
        entries = self._n_entries(first, end)
        if entries * _SPARSE_BELOW < n_slots * (end - first):
            yield from self._packed(vocabulary.places_in(self.names), dtype, first, end)
            return
        where = vocabulary.slots_in(self.names)
        step = max(64, _BLOCK_BYTES // (n_slots * np.dtype(dtype).itemsize))
        room = aligned((min(step, end - first), n_slots), dtype)
        for start in range(first, end, step):
            some = slice(start, min(end, start + step))
            rows = room[: some.stop - start]
            spread_rows(self.first[some], self.last[some], self.slots, self.values, where, rows)
            yield DenseBlock(start, some.stop, rows)

    def all_features(
        self, vocabulary: Vocabulary, dtype: str, first: int, end: int
    ) -> Iterator[SparseBlock]:
        """Events `first` to `end`; an event's features without a slot follow the known ones, in the order of names."""
        known, places = len(vocabulary), list(vocabulary.unknown_in(self.names))
        if not places:
            yield from self._packed(vocabulary.places_in(self.names), dtype, first, end)
            return
        where = vocabulary.slots_in(self.names).copy()
        unknown = in_order(self.names[place] for place in places)
        after = {name: known + place for place, name in enumerate(unknown)}
        for place in places:
            where[place] = after[self.names[place]]
        for block in self._packed(where, dtype, first, end):
            # counted event by event: what else is in the chunk must make no difference
            those = np.flatnonzero(block.slots >= known)
            rows = np.searchsorted(block.starts, those, "right")
            earlier = np.searchsorted(rows, rows, "left")
            block.slots[those] = known + np.arange(len(those)) - earlier
            yield block

    def dense(self) -> "Rows":
        """The events as a matrix if every one of them has all features, else as they are."""
        count, width = len(self), len(self.names)
        if not count or not width or self.last[0] - self.first[0] != width:
            return self
        if not (self.last - self.first == width).all():
            return self
        from stream_rank.learners.tables.dense_rows import DenseRows  # which are rows too

        matrix = np.empty((count, width))
        spread_rows(self.first, self.last, self.slots, self.values, np.arange(width), matrix)
        return DenseRows(self.names, matrix, np.arange(count), self.met)

    def _n_entries(self, first: int, end: int) -> int:
        """How many entries events `first` to `end` have."""
        if self.packed is not None:
            return int(self.packed.starts[end] - self.packed.starts[first])
        return int((self.last[first:end] - self.first[first:end]).sum())

    def entries(self, where: Array | None, room: tuple[Spare, Spare] | None = None) -> SparseBlock:
        """All events as one block, at the slots that `where` gives their names; -1 leaves a feature out.

        Without `where`, every name has the slot of its place. With `room` for slots and values, the block is valid as long as it is.
        """
        if self.packed is not None and where is None:
            return self.packed
        most = self._n_entries(0, len(self))
        return self._sparse(where, "float64", 0, len(self), most, room)

    def _packed(
        self, where: Array | None, dtype: str, first: int, end: int
    ) -> Iterator[SparseBlock]:
        packed = self.packed if where is None and dtype == "float64" else None
        if packed is None:
            ends = np.cumsum(self.last[first:end] - self.first[first:end])
        else:
            ends = packed.starts[first + 1 : end + 1] - packed.starts[first]
        begin, done = first, 0
        while begin < end:
            stop = first + int(np.searchsorted(ends, done + _BLOCK_ENTRIES, "right"))
            stop = min(end, max(begin + 1, stop))
            most = int(ends[stop - 1 - first]) - done
            if packed is not None:
                yield packed.part(begin, stop)
            else:
                yield self._sparse(where, dtype, begin, stop, most)
            begin, done = stop, done + most

    def _sparse(
        self,
        where: Array | None,
        dtype: str,
        begin: int,
        end: int,
        most: int,
        room: tuple[Spare, Spare] | None = None,
    ) -> SparseBlock:
        """Events with at most so many entries as one block."""
        some, starts = slice(begin, end), np.empty(end - begin + 1, np.int64)
        if room is None:
            slots, values = np.empty(most, np.int64), np.empty(most, dtype)
        else:
            slots, values = (each.of(most) for each in room)
        count, good = gather(
            *(self.first[some], self.last[some], self.slots, self.values),
            *(_NOWHERE if where is None else where, _SHORT, starts, slots, values),
        )
        slots, values = slots[:count], values[:count]
        if not good:
            order = np.lexsort((slots, np.repeat(np.arange(end - begin), np.diff(starts))))
            slots, values = slots[order], values[order]
        return SparseBlock(begin, end, starts, slots, values)
