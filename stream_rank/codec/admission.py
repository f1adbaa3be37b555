"""Which new features are let in, so that a stream of ever new names keeps learning in bounded memory."""

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.expiry import Expiry
from stream_rank.learners.base.state import State

__all__ = ["Admission"]

Array = npt.NDArray[Any]

_ROWS, _COLUMNS = 4, 1 << 16
_HALVED_AFTER = _COLUMNS // 4
_FEWEST = 2
"""Where the index is full, a feature has to come in so many events: one that comes once must not take the slot of another."""


class Admission:
    """Lets a name in once it came in `min_count` learned events, as long as there are fewer than `most`, and of one event `most_new`.

    Names that are not in yet are counted in a sketch of fixed size, which may count a name too often if others share all of
    its places, and never too seldom. The names of an event that are not let in are left out of it, and counted.

    Once there are `most`, names that came at least twice wait for the slots of those that came in none of the last
    `expire_after` records (`Expiry`). From then on all counts are halved whenever a quarter as many names were counted as the
    sketch has columns, so that what came long ago, and what came once, does not fill it: one in some hundred names that come
    once is taken for one that came twice, at most.

    Cost: a hash for each new name of an event; two megabytes, if names have to come more than once.

    References: G. Cormode and S. Muthukrishnan. An improved data stream summary: the count-min sketch. 2005. G. Einziger,
    R. Friedman and B. Manes. TinyLFU: a highly efficient cache admission policy. ACM Transactions on Storage 2017 (the halving).

    >>> admission = Admission(most=2, min_count=2)
    >>> [admission.admitted([name], known=0) for name in ("ann", "bob", "ann")], admission.dropped
    ([[], [], ['ann']], 2)
    """

    def __init__(
        self,
        most: int = 10**9,
        min_count: int = 1,
        expire_after: int | None = None,
        most_new: int = 10**9,
    ) -> None:
        self.most, self.min_count, self.most_new = most, min_count, most_new
        self.expiry = Expiry(most, expire_after)
        self.dropped = 0
        """Features that were left out of learned events."""
        self.record = 0
        """The record of the chunk whose names come."""
        self._new = (-1, 0)
        """The last record that brought names which were let in, and how many."""
        self._journal: list[tuple[int, Any]] = []
        """What was counted of the chunk, by record: places in the sketch, all of it and its number where it was halved, or
        None for a feature that was left out."""
        self._counts: Array = np.zeros((_ROWS, _COLUMNS if min_count > 1 else 0), np.int64)
        self._counted = 0
        """Names counted since the sketch was halved."""

    def admitted(self, names: Iterable[Hashable], known: int) -> list[Hashable]:
        """The new names of a learned event that are let in, where so many are known."""
        found: list[Hashable] = []
        before = self._new[1] if self._new[0] == self.record else 0  # by other items of the event
        for name in names:
            if known + len(found) < self.most:
                often = self.min_count == 1 or self._count(name) >= self.min_count
                if often and before + len(found) < self.most_new:
                    found.append(name)
                    continue
            else:
                self._expect(name, known + len(found))
            self.dropped += 1
            self._journal.append((self.record, None))
        self._new = self.record, before + len(found)
        return found

    def _expect(self, name: Hashable, known: int) -> None:
        """Have a name wait that came often enough, if any slot may become free."""
        self.expiry.fill(self.record, known)
        if self.expiry.room and self._count(name) >= max(_FEWEST, self.min_count):
            self.expiry.wait(name, self.record)

    @property
    def counted(self) -> bool:
        """Whether the chunk has a name that was not let in at once; it may be by a later event of the same chunk."""
        return bool(self._journal)

    def begin(self) -> None:
        """Begin with another chunk, when all of the one before was learned."""
        self._journal, self.record, self._new = [], 0, (-1, 0)
        self.expiry.begin()

    def exchange(self, slot_of: Mapping[Hashable, int]) -> dict[int, Hashable]:
        """End a round of the expiry: which slots get other names, and which names."""
        return self.expiry.exchange(
            slot_of, lambda name: int(self._counts[_places(_digest(name))].min())
        )

    def _count(self, name: Hashable) -> int:
        """Count a name; how often it came."""
        if not self._counts.size:
            self._counts = np.zeros((_ROWS, _COLUMNS), np.int64)
        if self._counted >= _HALVED_AFTER and self.expiry.used is not None:
            self._journal.append((self.record, (self._counts, self._counted)))
            self._counts, self._counted = self._counts >> 1, 0
        digest = _digest(name)
        places = _places(digest)
        self._counts[places] += 1
        self._counted += 1
        self._journal.append((self.record, digest))
        return int(self._counts[places].min())

    def undo(self, end: int) -> None:
        """Take back what was counted of the records from `end` of the chunk on."""
        self.dropped, self._counts, self._counted = self._before(end)
        self._journal = [each for each in self._journal if each[0] < end]
        self._new = (-1, 0)

    def _before(self, end: int) -> tuple[int, Array, int]:
        """What was counted of the records before `end` of the chunk, and of all chunks before: others may be decoded already."""
        dropped, counts, counted = self.dropped, self._counts.copy(), self._counted
        for record, what in reversed(self._journal):
            if record < end:
                break
            if what is None:
                dropped -= 1
            elif isinstance(what, bytes):
                counts[_places(what)] -= 1
                counted -= 1
            else:
                counts, counted = what[0].copy(), what[1]
        return dropped, counts, counted

    def dump(self, end: int) -> State:
        """What was counted of the records before `end` of the chunk, and of all chunks before."""
        dropped, counts, counted = self._before(end)
        expiry = self.expiry.dump(end)
        metadata = {"dropped": dropped, "counted": counted, **expiry.metadata}
        return State(metadata, {"counts": counts, **expiry.arrays})

    def load(self, state: State, known: int) -> None:
        """Continue from what another counted, where so many are known; a `ValueError` if it was of another size."""
        counts: Any = state.arrays["counts"]
        sizes = {self._counts.shape, (_ROWS, _COLUMNS) if self.expiry.period else None}
        if counts.shape not in sizes or counts.dtype != self._counts.dtype:
            raise ValueError("the counts of new features have another size")
        self.dropped, self._counts = int(state.metadata["dropped"]), counts.copy()
        self._counted = int(state.metadata.get("counted", 0))
        self.expiry.load(state, known)


def _digest(name: Hashable) -> bytes:
    """What a name is counted by; a journal of digests is short, though a chunk may bring some hundred thousand names."""
    text = f"{type(name).__name__}/{name}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=2 * _ROWS).digest()


def _places(digest: bytes) -> tuple[Any, Any]:
    """Where a digest is counted."""
    return np.arange(_ROWS), np.frombuffer(digest, "<u2").astype(np.int64)
