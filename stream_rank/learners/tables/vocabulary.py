"""The vocabulary: a map from the names of features to slots."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Vocabulary", "in_order"]


def _place_in_order(name: Hashable) -> tuple[str, str, Any]:
    kind = type(name)
    comparable = name if isinstance(name, int | float | str | bytes) else repr(name)
    return kind.__module__, kind.__qualname__, comparable


def in_order(names: Iterable[Hashable]) -> list[Hashable]:
    """The names in an order that depends on nothing but the names.

    >>> in_order(["b", 3, "a", 20])
    [3, 20, 'a', 'b']
    """
    return sorted(names, key=_place_in_order)


class Vocabulary:
    """Names of features, in the order of their slots; a slot may be given from one name to another.

    Names that first come together in one event take their slots in the order of `in_order`, so a
    learner does not depend on the order in which an event lists its features.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.add(in_order(["b", "a"]))
    >>> vocabulary.slots(["a", "b", "c"])
    array([ 0,  1, -1])
    """

    def __init__(self) -> None:
        self.names: list[Hashable] = []
        self.slot_of: dict[Hashable, int] = {}
        self._follow([])

    def __getstate__(self) -> dict[str, Any]:
        return {"names": self.names, "slot_of": self.slot_of}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._follow([])

    def __copy__(self) -> "Vocabulary":
        other = Vocabulary()
        other.names, other.slot_of = list(self.names), dict(self.slot_of)
        return other

    def __len__(self) -> int:
        return len(self.names)

    def add(self, names: Iterable[Hashable]) -> None:
        """Give slots to the names that have none, in the order given."""
        for name in names:
            if name not in self.slot_of:
                self.slot_of[name] = len(self.names)
                self.names.append(name)

    def forget(self, count: int) -> None:
        """Remove all names but the first `count`; nothing was learned yet of those removed."""
        for name in self.names[count:]:
            del self.slot_of[name]
        del self.names[count:]
        self._follow([])

    def exchange(self, names: Mapping[Hashable, Hashable]) -> npt.NDArray[np.int64]:
        """Give the slots of names to other names, each to the one that it is mapped to; the slots.

        Names that are not known are passed over. The caches of all streams are forgotten, whose names may have changed too.
        """
        slot_of = self.slot_of
        known = {old: new for old, new in names.items() if old in slot_of}
        given = list(known.values())
        if len(set(given)) < len(given) or any(
            new in slot_of and new not in known for new in given
        ):
            raise ValueError("a name that gets a slot has one")
        slots = [slot_of.pop(old) for old in known]
        for slot, new in zip(slots, given, strict=True):
            self.names[slot] = new
            self.slot_of[new] = slot
        self._follow([])
        return np.array(slots, np.int64)

    def slots(self, names: Iterable[Hashable]) -> npt.NDArray[np.int64]:
        """The slot of each name, or -1."""
        slot_of = self.slot_of
        return np.array([slot_of.get(name, -1) for name in names], np.int64)

    def _follow(self, stream: Sequence[Hashable]) -> None:
        """Reset the cache of `slots_in`, for another stream."""
        self._stream = stream
        self._where: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._unknown: list[int] = []
        self._seen = 0
        self._straight = True

    def slots_in(self, stream: Sequence[Hashable]) -> npt.NDArray[np.int64]:
        """The slot of each name of a stream, or -1; the caller must not modify the array.

        Names are only ever appended to a stream, so slots are cached from call to call. Cost: O(names that are
        new to the stream, or that had no slot and others got one).
        """
        if stream is not self._stream:
            self._follow(stream)
        if self._unknown and len(self) > self._seen:
            found = self.slots(stream[place] for place in self._unknown)
            self._where[self._unknown] = found
            self._unknown = [
                place for place, slot in zip(self._unknown, found.tolist(), strict=True) if slot < 0
            ]
            self._straight = not self._unknown and _ascend(self._where, 0)
        self._seen = len(self)
        begin = len(self._where)
        if len(stream) > begin:
            fresh = self.slots(stream[begin:])
            self._straight = self._straight and _ascend(fresh, begin)
            self._where = np.concatenate([self._where, fresh])
            self._unknown += (np.flatnonzero(fresh < 0) + begin).tolist()
        return self._where

    def places_in(self, stream: Sequence[Hashable]) -> npt.NDArray[np.int64] | None:
        """The same, or None if the slot of every name is its place in the stream: then nothing need be looked up."""
        where = self.slots_in(stream)
        return None if self._straight else where

    def unknown_in(self, stream: Sequence[Hashable]) -> list[int]:
        """The places of a stream's names that have no slot, in ascending order; the answer is not to be changed."""
        self.slots_in(stream)
        return self._unknown


def _ascend(slots: npt.NDArray[np.int64], first: int) -> bool:
    """Whether the slots are the first and those after it."""
    return bool((slots == np.arange(first, first + len(slots))).all())
