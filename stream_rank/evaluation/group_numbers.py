"""Numbers for the groups of events, so that losses are counted by group in arrays."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.serialization import count_in, entries

__all__ = ["MOST_GROUPS", "GroupNumbers"]

MOST_GROUPS = 1 << 16
"""This many groups are distinguished at a time; one that was forgotten gets a new number when it comes again."""


class GroupNumbers:
    """Numbers groups in the order in which they come first. Events without a group are group 0.

    >>> GroupNumbers().numbers(["ann", None, "bob", "ann"], 4).tolist()
    [1, 0, 2, 1]
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.met = 1
        """The next number; all numbers given so far are below it."""

    def numbers(self, groups: Iterable[Any] | None, count: int) -> npt.NDArray[np.int64]:
        """The numbers of so many events' groups."""
        if groups is None:
            return np.zeros(count, np.int64)
        return np.fromiter(map(self._number, groups), np.int64, count)

    def _number(self, group: Any) -> int:
        if group is None:
            return 0
        number = self._numbers.get(group)
        if number is None:
            if len(self._numbers) >= MOST_GROUPS - 1:
                del self._numbers[next(iter(self._numbers))]
            number = self._numbers[group] = self.met
            self.met += 1
        return number

    @property
    def state(self) -> dict[str, Any]:
        """Its state, as JSON has it."""
        return {"met": self.met, "numbers": list(self._numbers.items())}

    @state.setter
    def state(self, known: Mapping[str, Any]) -> None:
        numbered = dict(map(tuple, entries(known, "numbers")))
        met, given = count_in(known, "met"), set(numbered.values())
        # compiled code finds rows by these numbers
        if not all(type(each) is int and 0 < each < met for each in given) or met < 1:
            raise ValueError("numbers of groups")
        if len(given) < len(known["numbers"]) or len(given) >= MOST_GROUPS:
            raise ValueError("a group twice, or too many")
        self.met, self._numbers = met, numbered
