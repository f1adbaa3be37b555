"""What became of the records."""

from collections.abc import Collection
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import REJECTED_FOR, Reject

__all__ = ["Counts", "RejectCounts"]


@dataclass
class Counts:
    """Every record is counted once, in one of these.

    An event whose label comes later is two records: a request, which becomes one that is learned, and a label.
    """

    learned: int = 0
    """Ratings, preferences, and events whose label came later."""
    requests: int = 0
    """Events without a label, predicted."""
    labels: int = 0
    """Records that were only the label of an event before; the event is what was learned."""
    skipped: int = 0
    """Events outside of the span of time that is asked for."""
    rejects: int = 0

    @property
    def records(self) -> int:
        """All of them."""
        return self.learned + self.requests + self.labels + self.skipped + self.rejects

    @property
    def taken(self) -> int:
        """Events that were predicted, or learned, or both."""
        return self.learned + self.requests

    def as_dict(self) -> dict[str, int]:
        """By name."""
        return asdict(self)


class RejectCounts:
    """Rejects by what was wrong with them, and how many came in a row, since the process began."""

    def __init__(self) -> None:
        self.by_kind = dict.fromkeys(REJECTED_FOR, 0)
        self.streak = self.longest_streak = 0
        """Rejects without an event between them: the last ones, and the most that there ever were."""

    def count(self, rejects: Collection[Reject], events: npt.NDArray[np.int64]) -> None:
        """Count the rejects among the records that are events, both in the order of their records."""
        for reject in rejects:
            self.by_kind[reject.kind] += 1
        last = 0
        wrong = [reject.record for reject in rejects]
        for before in np.searchsorted(events, wrong).tolist():
            self.streak = self.streak + 1 if before == last else 1
            self.longest_streak = max(self.longest_streak, self.streak)
            last = before
        if last < len(events):
            self.streak = 0
