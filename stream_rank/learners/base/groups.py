"""A bounded map from groups to rows of a model's memory."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.learners.base.serialization import entries, plain_name

__all__ = ["Alone", "Groups"]


class Groups:
    """Rows for the groups seen last; a new group takes the row of the least recently seen.

    Rows begin at 1. A group's row is given as a negative number when it must be initialised, because it
    held another group, or none.

    >>> groups = Groups(2)
    >>> [groups.see(name) for name in ("a", "b", "a", "c", "a", "b")]
    [-1, -2, 1, -2, 1, -2]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._row_of: dict[Hashable, int] = {}  # the least recently seen first
        self._pairs = 0

    def __len__(self) -> int:
        return len(self._row_of)

    def peek(self, name: Hashable) -> int:
        """The row that a group has or would get, negative if it would have to be initialised."""
        row = self._row_of.get(name)
        if row is not None:
            return row
        if len(self._row_of) < self.most:
            return -len(self._row_of) - 1
        return -self._row_of[next(iter(self._row_of))]

    def see(self, name: Hashable) -> int:
        """Mark a group as seen; return its row, negative if it must be initialised."""
        row = self.peek(name)
        if row < 0 and len(self._row_of) == self.most:
            del self._row_of[next(iter(self._row_of))]
        self._row_of.pop(name, None)
        self._row_of[name] = abs(row)
        return row

    def see_all(self, column: Sequence[Any] | None, n_events: int) -> npt.NDArray[np.int64]:
        """The rows of a column of names, or of that many events without a group."""
        rows = np.empty(n_events, np.int64)
        if column is not None:
            rows[:] = [self.see(name) for name in column]
        elif n_events:
            rows[0] = self.see(None)
            rows[1:] = abs(rows[0])
        return rows

    def alone(self) -> int:
        """The row of a new group without a name, to which no later event belongs."""
        self._pairs += 1
        return self.see(Alone(self._pairs))

    def join(self, others: Sequence["Groups"]) -> list[npt.NDArray[np.int64]]:
        """Know the groups of others too; of itself and then each of them, the row here of every row there, -1 of a group that is not kept.

        Groups of a later one count as seen later: where all are too many, they stay.

        >>> groups, others = Groups(2), Groups(2)
        >>> [groups.see("a"), groups.see("b"), others.see("c"), others.see("b")]
        [-1, -2, -1, -2]
        >>> groups.join([others])
        [array([ 0, -1,  2]), array([0, 1, 2])]
        """
        everyone = [dict(self._row_of), *(each._row_of for each in others)]  # noqa: SLF001 - of its own class
        order: dict[Hashable, None] = {}
        for rows in everyone:
            for name in rows:
                order.pop(name, None)
                order[name] = None
        kept = list(order)[-self.most :]
        mine = everyone[0]
        taken = {mine[name] for name in kept if name in mine}
        free = (row for row in range(1, len(kept) + 1) if row not in taken)
        self._row_of = {name: mine[name] if name in mine else next(free) for name in kept}
        found = []
        for rows in everyone:
            where = np.zeros(len(rows) + 1, np.int64)
            for name, row in rows.items():
                where[row] = self._row_of.get(name, -1)
            found.append(where)
        return found

    def described(self) -> dict[str, Any]:
        """The groups with their rows, the least recently seen first, and how many had no name."""
        named = [[_plain_group(name), row] for name, row in self._row_of.items()]
        return {"groups": named, "pairs": self._pairs}

    def prepare(self, described: Mapping[str, Any]) -> None:
        """Restore groups into an empty map; a `ValueError` if they are inconsistent."""
        named = entries(described, "groups")
        self._pairs = int(described["pairs"])
        for name, row in named:
            self._row_of[Alone(name["pair"]) if isinstance(name, dict) else name] = int(row)
        if sorted(self._row_of.values()) != [*range(1, len(self) + 1)] or len(self) > self.most:
            raise ValueError("groups and their rows")
        if len(self) != len(named):
            raise ValueError("a group twice")

    def alone_all(self, count: int) -> npt.NDArray[np.int64]:
        """`alone` called `count` times: the rows, all of which must be initialised. O(count), or O(most) if that is less."""
        if 4 * count < self.most:
            return np.array([abs(self.alone()) for _ in range(count)], np.int64)
        held = list(self._row_of)
        free = range(len(held) + 1, self.most + 1)
        turns = np.array([*self._row_of.values(), *free], np.int64)
        rows: npt.NDArray[np.int64] = turns[(len(held) + np.arange(count)) % self.most]
        for name in held[: max(0, count - len(free))]:
            del self._row_of[name]
        for at in range(max(0, count - self.most), count):
            self._row_of[Alone(self._pairs + at + 1)] = int(rows[at])
        self._pairs += count
        return rows

    @staticmethod
    def check(name: Any, row: int | None = None) -> None:
        """Raise an `EventError` unless it can be a group's name."""
        try:
            hash(name)
            good = bool(name == name)
        except (TypeError, ValueError):
            good = False
        if not good:
            where = "" if row is None else f" of row {row}"
            raise EventError(
                f"group {name!r}{where} must be hashable and equal to itself, as text and whole numbers are"
            )


class Alone(int):
    """A stand-in for the name of a group without one: equal to itself, and to no name that a user could give."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alone) and int(self) == int(other)

    def __hash__(self) -> int:
        return hash(("alone", int(self)))


def _plain_group(name: Hashable) -> Any:
    """A group's name as JSON has it; one without a name is an object, which no name can be."""
    if isinstance(name, Alone):
        return {"pair": int(name)}
    return None if name is None else plain_name(name, "group")
