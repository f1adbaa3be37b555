"""Learners that are to join a run catch up with it beside it, until they are where it is."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from stream_rank.errors import cause_of
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.runtime.pursuit import Pursuit
from stream_rank.runtime.study import Study

__all__ = ["CatchUp"]

_LEAST_SHARE = 0.1
"""Of the time in which learners that catch up may learn, however busy the run is."""
_WAIT_SECONDS, _BETWEEN_SECONDS = 0.1, 2.0
"""For which the run waits once they are near, and between two such waits: a twentieth of the time at most."""
_LONGEST_SECONDS = 300.0
"""Between two attempts: each begins with the first message that is there."""
_CLOSE_SECONDS = 2.0


class CatchUp:
    """Has learners learn what the topics still have, in the time that the run leaves, and says when they are where it is.

    With one partition that still has all of its messages, each of them and its stages are then, to the bit, what they would be had
    they ridden from the beginning: they learned the same events in the same order. Of several partitions every message is learned
    once and in the order of its partition, but a client fetches them in an order that is nobody's to say: before the last stretch,
    which is learned as the run learns it, events of different partitions come in another order than the run had them.

    Whatever fails leaves the run alone, is said and counted, and is tried again from the beginning, later and later. Nothing is kept:
    a run that was killed meanwhile begins with it again.
    """

    def __init__(
        self,
        names: Sequence[str],
        begin: Callable[[Backoff], Study],
        load: Callable[[], float],
        say: Callable[[str], object],
    ) -> None:
        """`begin` makes a study, which uses a back-off; `load` is the share of its time that the run works."""
        self.names = list(names)
        self._begin, self._load = begin, load
        self._attempts = Backoff("catching up", say, longest=_LONGEST_SECONDS)
        self._kafka = Backoff("catching up: Kafka", say)
        self._pursuit: Pursuit | None = None
        self._next_attempt = self._next_wait = 0.0
        self._reason: str | None = None

    @property
    def failures(self) -> int:
        """Failed attempts, of all kinds."""
        return self._attempts.failures + self._kafka.failures

    @property
    def active(self) -> bool:
        """Whether the last attempt failed, and the next is waited for."""
        return self._kafka.active or (self._pursuit is None and self._reason is not None)

    def take(self, chunk: Records) -> None:
        """The run learns this chunk now."""
        if self._pursuit is not None:
            self._pursuit.take(chunk)

    def turn(self, position: Offsets | None) -> Study | None:
        """The run is between two chunks, at this position; the study, if its learners are there too. It is used by nobody then."""
        now = time.monotonic()
        if position is None or now < self._next_attempt:
            return None
        share = max(_LEAST_SHARE, 1.0 - self._load())
        pursuit = self._pursuit
        if pursuit is None:
            self._pursuit = Pursuit(lambda: self._begin(self._kafka), position, share)
            return None
        failed = pursuit.turn(position, share)
        if failed is not None:
            self.fail(failed)
            return None
        study = pursuit.study
        if study is None or not pursuit.is_near:
            return None
        may_wait = now >= self._next_wait
        if not pursuit.wait(_WAIT_SECONDS if may_wait else 0.0):
            self._next_wait = now + _BETWEEN_SECONDS if may_wait else self._next_wait
            return None
        if not study.is_at(position):
            return None
        pursuit.stop(_CLOSE_SECONDS)
        return study

    def fail(self, error: BaseException) -> None:
        """Begin again, later."""
        self._reason = cause_of(error) if isinstance(error, OSError) else str(error) or repr(error)
        self._next_attempt = time.monotonic() + self._attempts.failed(self._reason)
        self.close(0.0)

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Give up what is under way."""
        if self._pursuit is not None:
            self._pursuit.stop(seconds)
            self._pursuit = None

    def shown(self, position: Offsets | None) -> dict[str, Any]:
        """What `/status` says."""
        study = None if self._pursuit is None else self._pursuit.study
        learned = None if study is None else study.position
        behind = None
        if learned is not None and position is not None:
            behind = sum(max(0, at - learned.get(each, 0)) for each, at in position.items())
        return {
            "learners": self.names,
            "records": 0 if study is None else study.records,
            "behind": behind,
            "failures": self.failures,
            "failed": self._reason,
        }
