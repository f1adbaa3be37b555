"""A stage that ends a run after a number of events."""

from collections.abc import Iterator

import numpy as np

from stream_rank.codec.batch import SKIPPED, Batch
from stream_rank.codec.event import Kind
from stream_rank.pipeline.progress import Progress

__all__ = ["EventLimit"]


class EventLimit:
    """Passes on the first `most` events of a run. A label is part of the event that it came for, and is not counted."""

    def __init__(self, most: int, progress: Progress) -> None:
        self._most, self._progress = most, progress

    @property
    def reached(self) -> bool:
        """Whether as many events were taken as were wanted."""
        return self._progress.counts.taken >= self._most

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Cut the batch after the last event that is wanted."""
        left = self._most - self._progress.counts.taken
        counted = np.cumsum((batch.kinds != SKIPPED) & (batch.kinds != Kind.LABEL))
        if left <= 0:
            yield batch.head(0)
        elif not len(counted) or counted[-1] < left:
            yield batch
        else:
            yield batch.head(int(np.searchsorted(counted, left, "left")) + 1)
