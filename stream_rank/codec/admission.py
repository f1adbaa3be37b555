"""Which new features are let in, so that a stream of ever new names keeps learning in bounded memory."""

import hashlib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.state import State

__all__ = ["Admission"]

_ROWS, _COLUMNS = 4, 1 << 16


class Admission:
    """Lets a name in once it came in `min_count` learned events, as long as there are fewer than `most`.

    Names that are not in yet are counted in a sketch of fixed size, which may count a name too often if others share all of
    its places, and never too seldom. The names of an event that are not let in are left out of it, and counted.

    Cost: a hash for each new name of an event; a megabyte, if names have to come more than once.

    Reference: G. Cormode and S. Muthukrishnan. An improved data stream summary: the count-min sketch. 2005.

    >>> admission = Admission(most=2, min_count=2)
    >>> [admission.admitted([name], known=0) for name in ("ann", "bob", "ann")], admission.dropped
    ([[], [], ['ann']], 2)
    """

    def __init__(self, most: int = 10**9, min_count: int = 1) -> None:
        self.most, self.min_count = most, min_count
        self.dropped = 0
        """Features that were left out of learned events."""
        self.record = 0
        """The record of the chunk whose names come."""
        self._journal: list[tuple[int, tuple[Any, Any] | None]] = []
        """What was counted of the chunk, by record: places in the sketch, or None for a feature that was left out."""
        self._counts: npt.NDArray[np.int64] = np.zeros(
            (_ROWS, _COLUMNS if min_count > 1 else 0), np.int64
        )

    def admitted(self, names: Iterable[Hashable], known: int) -> list[Hashable]:
        """The new names of a learned event that are let in, where so many are known."""
        found: list[Hashable] = []
        for name in names:
            if known + len(found) < self.most and self._came_often(name):
                found.append(name)
            else:
                self.dropped += 1
                self._journal.append((self.record, None))
        return found

    def begin(self) -> None:
        """Begin with another chunk, when all of the one before was learned."""
        self._journal, self.record = [], 0

    def _came_often(self, name: Hashable) -> bool:
        """Count a name, and say whether it came often enough."""
        if self.min_count == 1:
            return True
        text = f"{type(name).__name__}/{name}".encode(errors="surrogatepass")
        digest = hashlib.blake2b(text, digest_size=2 * _ROWS).digest()
        places = np.arange(_ROWS), np.frombuffer(digest, "<u2").astype(np.int64)
        self._counts[places] += 1
        self._journal.append((self.record, places))
        return int(self._counts[places].min()) >= self.min_count

    def dump(self, end: int) -> State:
        """What was counted of the records before `end` of the chunk, and of all chunks before: others may be decoded already."""
        dropped, counts = self.dropped, self._counts.copy()
        for record, places in self._journal:
            if record >= end and places is None:
                dropped -= 1
            elif record >= end:
                counts[places] -= 1
        return State({"dropped": dropped}, {"counts": counts})

    def load(self, state: State) -> None:
        """Continue from what another counted; a `ValueError` if it was of another size."""
        counts: Any = state.arrays["counts"]
        if counts.shape != self._counts.shape or counts.dtype != self._counts.dtype:
            raise ValueError("the counts of new features have another size")
        self.dropped, self._counts = int(state.metadata["dropped"]), counts.copy()
