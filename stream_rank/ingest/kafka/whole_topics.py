"""Whether all partitions of our topics are ours, as one model that learns from all of them needs."""

import time
from collections.abc import Callable, Mapping, Sequence

from stream_rank.errors import KafkaError
from stream_rank.ingest.kafka.port import Partition

__all__ = ["WholeTopics"]


class WholeTopics:
    """Counts the partitions that somebody else has had for longer than a group takes to give them to us.

    Brokers are asked how many there are once after partitions came or went, and not before the session timeout has passed: for so long
    the group waits for a member that was killed.

    >>> now, everything = 0.0, {"ratings": 3}
    >>> whole = WholeTopics(["ratings"], lambda _: everything, 10.0, print, lambda: now)
    >>> whole.look(frozenset({Partition("ratings", 0)}))
    >>> now = 11.0
    >>> whole.look(frozenset({Partition("ratings", 0)})); whole.missing
    2 of 3 partitions ...
    2
    """

    def __init__(
        self,
        topics: Sequence[str],
        counts: Callable[[Sequence[str]], Mapping[str, int]],
        seconds: float,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`counts` asks how many partitions topics have; `seconds` are how long the group may take."""
        self._topics, self._counts, self._seconds = topics, counts, seconds
        self._say, self._clock = say, clock
        self._before: frozenset[Partition] = frozenset()
        self._due: float | None = clock() + seconds
        self.missing = 0
        """The partitions that others have."""

    def look(self, assignment: frozenset[Partition]) -> None:
        """Note what is assigned now, and ask how many there are if it is time for it."""
        now = self._clock()
        if assignment != self._before:
            if self.missing:
                self._say("the partitions that are assigned to us have changed")
            self._before, self._due, self.missing = assignment, now + self._seconds, 0
        if self._due is None or now < self._due:
            return
        try:
            total = sum(self._counts(self._topics).values())
        except KafkaError:
            self._due = now + self._seconds
            return
        self._due, self.missing = None, max(0, total - len(assignment))
        if self.missing and assignment:
            self._say(
                f"{self.missing} of {total} partitions are given to others of the consumer group, and what comes there is not learned: is the group "
                "used by something else? One model learns from all partitions"
            )
