"""What a daemon logs of its progress: partitions that come and go, and how it learns, every so many seconds."""

import logging
from collections.abc import Callable

from stream_rank.ingest.kafka.port import Partition
from stream_rank.runtime.constant_watch import ConstantWatch
from stream_rank.runtime.learning_run import LearningRun

__all__ = ["ProgressLog"]

logger = logging.getLogger(__name__)


class ProgressLog:
    """Asked between chunks; it logs what is new, and what is due."""

    def __init__(self, now: float, seconds: float, records: int, lag: Callable[[], int]) -> None:
        """`records` were read before; `lag` is how far the run is behind."""
        self._seconds, self._due, self._lag = seconds, now + seconds, lag
        self._records = records
        self._constant_watch = ConstantWatch()
        self.assigned: frozenset[Partition] = frozenset()

    def assignment(self, now: frozenset[Partition]) -> bool:
        """Log the partitions that came and went since the last turn; whether any did."""
        before = self.assigned
        if now == before:
            return False
        self.assigned = now
        for event, changed in (("revoked", before - now), ("assigned", now - before)):
            if changed:
                names = ", ".join(str(each) for each in sorted(changed))
                logger.info(f"partitions {event}", extra={"partitions": names, "now": len(now)})
        return True

    def progress(self, now: float, learning: LearningRun) -> None:
        """Log counts, rate and losses, if it is time; and learners that lose to a constant, or no longer do."""
        if now < self._due:
            return
        counts = learning.progress.counts
        losses = {
            name: board.recent_loss if board.events else board.preferences.recent_error
            for name, board in learning.scoreboard.boards.items()
        }
        seconds = now - self._due + self._seconds
        logger.info(
            "learning" if self.assigned else "waiting for partitions",
            extra={
                "records": counts.records,
                "records_per_second": round((counts.records - self._records) / seconds),
                "rejects": counts.rejects,
                "lag": self._lag(),
                "recent_loss": {name: loss and round(loss, 4) for name, loss in losses.items()},
            },
        )
        for sentence in self._constant_watch.news(learning.scoreboard.standings):
            logger.warning(sentence)
        self._records, self._due = counts.records, now + self._seconds
