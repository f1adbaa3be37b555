"""Where the time of a run goes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from stream_rank.pipeline.histogram import Histogram

__all__ = ["SECONDS", "STAGES", "Stopwatch"]

STAGES = ("polling", "decoding", "learning", "scoring", "snapshotting")
"""What a run spends its time on: waiting for events to come is polling, as fetching them is."""

SECONDS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0)
"""Bounds of times: a chunk is between one event, read in microseconds, and a snapshot of gigabytes."""


class Stopwatch:
    """Times of the stages, of every chunk; and of every learner's part of learning."""

    def __init__(self, learners: list[str]) -> None:
        self.stages = {stage: Histogram(SECONDS) for stage in STAGES}
        self.learners = {name: Histogram(SECONDS) for name in learners}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Take the time of a stage."""
        with _taken(self.stages[name]):
            yield

    @contextmanager
    def learner(self, name: str) -> Iterator[None]:
        """Take the time of a learner."""
        with _taken(self.learners[name]):
            yield


@contextmanager
def _taken(times: Histogram) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    times.add(time.perf_counter() - begun)
