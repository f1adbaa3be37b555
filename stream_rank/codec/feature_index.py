"""The index of feature names, and the tables by which the scanner finds them."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading.scan import PADDING, Names, hash_of
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["FeatureIndex"]

Array = npt.NDArray[Any]

_PLAIN = str.maketrans("", "", "".join(map(chr, range(32))) + '"\\')
"""Removes the characters that JSON escapes: a name that it does not change is plain."""


def _grown(array: Array, size: int, fill: int) -> Array:
    """The array, or a copy of twice `size` if it is smaller than `size`."""
    if size <= len(array):
        return array
    larger = np.full(2 * size, fill, array.dtype)
    larger[: len(array)] = array
    return larger


class FeatureIndex:
    """Names in the order in which they were added, and the scanner's tables of them.

    Cost: amortised O(1) per name.

    >>> index = FeatureIndex()
    >>> index.meet({"b": 1.0, "a": 2.0})
    >>> index.names
    ['a', 'b']
    """

    key = "features"

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._vocabulary = Vocabulary()
        self._text: Array = np.zeros(64, np.uint8)
        self._bounds: Array = np.zeros(8, np.int64)
        self._stamps: Array = np.full(8, -1, np.int64)
        self._listed: Array = np.full(8, -1, np.int64)
        self._n_listed = 0
        self._table: Array = np.full(16, -1, np.int64)
        self._hashes: list[int] = []
        self._stamps_used = 0
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
        """Give slots to the names of one event."""
        new = self.new(names)
        if new:
            self._add(in_order(new))

    def dump(self) -> State:
        """The names of the learned events."""
        return State({"names": self.names[: self.learned]}, {})

    def load(self, state: State) -> None:
        """Restore the names, before anything is decoded."""
        self._add(state.metadata["names"])
        self.learned = len(self)

    def _add(self, names: Iterable[Hashable]) -> None:
        for name in names:
            slot = len(self._vocabulary)
            self._vocabulary.add([name])
            raw, value = b"", -1
            if isinstance(name, str) and name.translate(_PLAIN) == name:
                raw = name.encode(errors="surrogatepass")
                value, raw = hash_of(raw), raw + b'"'
            elif isinstance(name, int) and 0 <= name <= 2 * slot + 64:
                self._listed = _grown(self._listed, name + 1, -1)
                self._listed[name] = slot
                self._n_listed = max(self._n_listed, name + 1)
            begin = int(self._bounds[slot])
            self._bounds = _grown(self._bounds, slot + 2, 0)
            self._stamps = _grown(self._stamps, slot + 1, -1)
            self._text = _grown(self._text, begin + len(raw) + PADDING, 0)
            self._text[begin : begin + len(raw)] = np.frombuffer(raw, np.uint8)
            self._bounds[slot + 1] = begin + len(raw)
            self._hashes.append(value)
            if 2 * len(self._hashes) >= len(self._table):
                self._table = np.full(2 * len(self._table), -1, np.int64)
                for earlier in range(slot):
                    self._enter(earlier)
            self._enter(slot)

    def _enter(self, slot: int) -> None:
        value, mask = self._hashes[slot], len(self._table) - 1
        if value >= 0:
            place = value & mask
            while self._table[place] >= 0:
                place = (place + 1) & mask
            self._table[place] = slot

    def tables(self, n_lines: int) -> tuple[Names, int]:
        """The scanner's tables, and the first stamp of `n_lines`, two a line: an event may have two items."""
        stamp = self._stamps_used
        self._stamps_used += 2 * n_lines
        count = len(self._vocabulary)
        tables = Names(
            self._text,
            self._bounds[: count + 1],
            self._table,
            self._listed[: self._n_listed],
            self._stamps,
        )
        return tables, stamp
