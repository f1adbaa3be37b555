"""The end offsets of partitions, as brokers say, asked again and again without waiting for the answers."""

import time
from collections.abc import Callable, Mapping, Set

from stream_rank.ingest.kafka.port import Partition

__all__ = ["Answer", "EndOffsets"]

_PERIOD = 5.0
"""Seconds between an answer and the next request: as between two scrapes."""

Answer = Callable[[], Mapping[Partition, int] | None]
"""None as long as it has not come; empty, if the request failed."""


class EndOffsets:
    """What is known of the ends of partitions.

    A client learns of an end by a fetch. As long as its queue is full it fetches nothing, so that of a daemon which cannot keep
    up it would be known too late how far it is behind.

    >>> ends = EndOffsets(lambda partitions: lambda: {each: 7 for each in partitions}, clock=iter([0.0, 5.0]).__next__)
    >>> ends.look({Partition("t", 0)}), ends.look({Partition("t", 0)}), ends.known
    (None, None, {Partition(topic='t', number=0): 7})
    """

    def __init__(
        self, ask: Callable[[Set[Partition]], Answer], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask, self._clock = ask, clock
        self._next = 0.0
        self._asked: Answer | None = None
        self.known: dict[Partition, int] = {}
        """The ends, as last heard."""

    def look(self, partitions: Set[Partition]) -> None:
        """Take an answer that came, and ask anew if it is time to."""
        if self._asked is not None:
            found = self._asked()
            if found is None:
                return
            self.known |= found
            self._asked, self._next = None, self._clock() + _PERIOD
        elif partitions and self._clock() >= self._next:
            self._asked = self._ask(partitions)

    def forget(self) -> None:
        """Partitions changed: what was said of them before, or is about to be said, is of no use."""
        self._asked, self.known = None, {}

    def at_least(self, fetched: Mapping[Partition, int]) -> dict[Partition, int]:
        """The ends that fetches found, or later ones that are known."""
        known = self.known
        return {each: max(end, known.get(each, 0)) for each, end in fetched.items()}
