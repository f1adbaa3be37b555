"""A stage that skips events outside a span of time."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from stream_rank.codec.batch import SKIPPED, Batch
from stream_rank.codec.event import Kind
from stream_rank.ingest.timestamps import NO_TIME

__all__ = ["TimeFilter"]


class TimeFilter:
    """Skips events whose time is outside a span, and events without a time.

    A label without a time is passed on: the time of its features decides.
    """

    def __init__(self, first: int, last: int) -> None:
        """`first` and `last` are milliseconds since 1970, both inclusive."""
        self._first, self._last = first, last
        self.untimed = 0
        """Events that were skipped because they have no time."""

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Mark the events outside the span as skipped."""
        times, labels = batch.times, batch.kinds == Kind.LABEL
        untimed = times == NO_TIME
        self.untimed += int((untimed & ~labels).sum())
        inside = (times >= self._first) & (times <= self._last) & ~untimed
        inside |= untimed & labels
        yield replace(
            batch,
            kinds=np.where(inside, batch.kinds, np.int8(SKIPPED)),
            times=np.where(inside, times, NO_TIME),
        )
