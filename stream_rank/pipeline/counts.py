"""Counts of records by outcome, and of rejects by kind."""

from dataclasses import asdict, dataclass

import numpy as np

from stream_rank.codec.batch import REJECTED_FOR, SKIPPED, UNMATCHED, Batch
from stream_rank.pipeline.reject_reasons import RejectReasons

__all__ = ["Counts", "RejectCounts"]


@dataclass
class Counts:
    """The number of records by outcome; every record is counted in exactly one field.

    An event whose label comes later is two records: a request, which moves to `learned` when its label comes, and a label.
    """

    learned: int = 0
    """Ratings, preferences, and requests whose label came later."""
    requests: int = 0
    """Events that were predicted, and whose label has not come."""
    labels: int = 0
    """Records that held only the label of an earlier event; that event is counted in `learned`."""
    skipped: int = 0
    """Events that a stage left out, such as those outside a span of time."""
    rejects: int = 0

    @property
    def records(self) -> int:
        """The number of all records."""
        return self.learned + self.requests + self.labels + self.skipped + self.rejects

    @property
    def taken(self) -> int:
        """The number of events that were predicted, learned, or both."""
        return self.learned + self.requests

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return asdict(self)


class RejectCounts:
    """The number of rejects by kind, and of consecutive rejects, since the process began; and by reason, of the whole run."""

    def __init__(self) -> None:
        self.reasons = RejectReasons()
        self.by_kind = dict.fromkeys(REJECTED_FOR, 0)
        self.streak = self.longest_streak = 0
        """The length of the current and of the longest run of rejects without an event between them."""

    def count(self, batch: Batch) -> None:
        """Count the rejects of a batch. Events end a streak, but for labels without features, which are rejects too, and for what was skipped."""
        # what was left out, as an empty message, is no event
        events = batch.records[(batch.kinds != UNMATCHED) & (batch.kinds != SKIPPED)]
        if not batch.rejects:
            self.streak = 0 if len(events) else self.streak
            return
        last = 0
        records = [reject.record for reject in batch.rejects]
        for before in np.searchsorted(events, records).tolist():
            self.streak = self.streak + 1 if before == last else 1
            self.longest_streak = max(self.longest_streak, self.streak)
            last = before
        if last < len(events):
            self.streak = 0
        for reject in batch.rejects:
            self.by_kind[reject.kind] += 1
            self.reasons.count(reject.reason, reject.raw)
