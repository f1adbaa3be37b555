"""Fetched messages in portions of a size."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from stream_rank.ingest.kafka.port import PartitionRecords
from stream_rank.ingest.kafka.quarantine import Passed

__all__ = ["Run", "portions", "values_of"]

Run = PartitionRecords | Passed
"""Messages of one partition that are learned, or passed over."""


def values_of(run: Run) -> list[bytes | None]:
    """What is learned of a run."""
    return [] if isinstance(run, Passed) else run.values


def portions(runs: list[Run], most: int) -> Iterator[list[Run]]:
    """Fetched messages, in portions of about so many bytes."""
    size = 0
    some: list[Run] = []
    for part in runs:
        if isinstance(part, Passed):
            some.append(part)
            continue
        lengths: Any = map(len, part.values)  # type: ignore[arg-type]
        ends = np.cumsum(np.fromiter(lengths, np.int64, len(part.values)))
        begin = done = 0
        while begin < len(ends):
            end = int(np.searchsorted(ends, done + most - size, "right"))
            end = min(len(ends), max(end, begin + 1))
            some.append(part.part(begin, end))
            size += int(ends[end - 1]) - done
            begin, done = end, int(ends[end - 1])
            if size >= most or begin < len(ends):
                yield some
                size, some = 0, []
    if some:
        yield some
