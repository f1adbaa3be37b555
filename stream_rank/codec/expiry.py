"""Which features of a full index give their slots to others, and when."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.state import State

__all__ = ["Expiry"]

Array = npt.NDArray[Any]

_ROUNDS = 16
"""So many rounds make `after` records: a feature waits up to one of them longer than it would have to, and a chunk is cut
where one ends."""
_MORE_WAIT = 10_000
"""So many newcomers more wait than there are slots for them, so that the most frequent ones are among them."""


class Expiry:
    """Gives the slots of features that came in none of the last `after` records to newcomers, the longest unused first.

    Nothing is counted as long as an index has room. From the record on that found it full, time goes in rounds of a sixteenth of
    `after` records. At the end of a round the features that came in none of the last 16 give their slots to the newcomers of
    that round, the most frequent ones first. So everything depends on the records alone, between two of them, and a chunk is
    cut at the end of a round and nowhere else.

    Cost: a nanosecond for each feature of an event, once the index is full; O(features) a round.
    """

    def __init__(self, most: int, after: int | None) -> None:
        """An index of at most `most` features; None never expires any."""
        self._most = most
        self.period = 0 if after is None else -(-after // _ROUNDS)
        """The records of a round; 0 if nothing ever expires."""
        self.expired = 0
        """Features that gave their slots away."""
        self.began: int | None = None
        """The record of the chunk that found the index full, if that is in this chunk."""
        self.room = 0
        """At most so many features can go at the end of this round."""
        self.waiting: dict[Hashable, int] = {}
        """The newcomers of this round, in the order in which they came, each with its record in the chunk, or -1."""
        self._running = False
        self._round = self._passed = 0
        self._used: Array = np.empty(0, np.int64)
        """The last round in which each slot was used."""

    @property
    def left(self) -> int | None:
        """How many records are left of this round; None if there are no rounds yet."""
        return max(0, self.period - self._passed) if self._running else None

    @property
    def used(self) -> Array | None:
        """Where the rounds in which slots were used are written, while there are rounds."""
        return self._used if self._running else None

    @property
    def round(self) -> int:
        """The number of this round."""
        return self._round

    def begin(self) -> None:
        """Begin with another chunk, when all of the one before was learned."""
        self.began = None
        self.waiting = dict.fromkeys(self.waiting, -1)

    def fill(self, record: int, known: int) -> None:
        """Begin with rounds after this record, which found the index full of so many, unless they have begun."""
        if self.period and not self._running:
            self._running, self.began = True, record
            self._used = np.zeros(max(self._most, known), np.int64)

    def wait(self, name: Hashable, record: int) -> None:
        """Have a newcomer wait for the end of the round."""
        if len(self.waiting) < self.room + _MORE_WAIT:
            self.waiting.setdefault(name, record)

    def advance(self, first: int, end: int) -> None:
        """Count the records of the chunk from `first` to `end` as learned."""
        if self._running:
            began = -1 if self.began is None else self.began
            self._passed += max(0, end - max(first, began + 1))

    def exchange(
        self, slot_of: Mapping[Hashable, int], count_of: Callable[[Hashable], int]
    ) -> dict[int, Hashable]:
        """End the round: which of the slots get which names. The most frequent newcomers get what was longest unused."""
        known = len(slot_of)
        unused = np.flatnonzero(self._used[:known] <= self._round - _ROUNDS)
        oldest = unused[np.argsort(self._used[unused], kind="stable")].tolist()
        # sorting is stable: of those that came as often, the first
        waiting = (name for name in self.waiting if name not in slot_of)
        newcomers = sorted(waiting, key=lambda name: -count_of(name))
        given = dict(zip(oldest, newcomers, strict=False))
        self._round, self._passed, self.waiting = self._round + 1, 0, {}
        self._used[list(given)] = self._round
        self.expired += len(given)
        self.room = int(np.count_nonzero(self._used[:known] <= self._round - _ROUNDS))
        return given

    def dump(self, end: int) -> State:
        """What is known after the record before `end` of the chunk."""
        if not self._running or (self.began is not None and self.began >= end):
            return State({"expired": self.expired}, {})
        waiting = [name for name, record in self.waiting.items() if record < end]
        clock: dict[str, Any] = {"round": self._round, "passed": self._passed, "room": self.room}
        clock["waiting"] = waiting
        return State({"expired": self.expired, "rounds": clock}, {"used": self._used.copy()})

    def load(self, state: State, known: int) -> None:
        """Continue from another's rounds, of so many known features; a `ValueError` if they are of fewer.

        There may be room for more or for fewer now: other learners take other numbers of features.
        """
        self.expired = int(state.metadata.get("expired", 0))
        clock = state.metadata.get("rounds")
        if clock is None or not self.period:
            return
        used: Any = state.arrays["used"]
        if used.ndim != 1 or len(used) < known or used.dtype != np.int64:
            raise ValueError("the last use of features has another size")
        self._round, self._passed = int(clock["round"]), int(clock["passed"])
        self._running, self._used = True, np.full(max(self._most, known), self._round)
        self._used[:known] = used[:known]
        self.waiting = dict.fromkeys(clock["waiting"], -1)
        self.room = int(clock["room"])
