"""Histograms of the time that a run spends in each stage and with each learner."""

import time

from stream_rank.pipeline.histogram import Histogram

__all__ = ["SECONDS", "STAGES", "Stopwatch"]

STAGES = ("polling", "decoding", "learning", "scoring", "snapshotting")
"""What time is measured of; polling is both waiting for events and fetching them."""

SECONDS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0)
"""Bounds of the buckets, in seconds: from a chunk of one event (microseconds) to a snapshot of gigabytes."""


class Stopwatch:
    """Durations of the stages, and of every learner's part of learning."""

    def __init__(self, learners: list[str]) -> None:
        self.stages = {stage: Histogram(SECONDS) for stage in STAGES}
        self.learners = {name: Histogram(SECONDS) for name in learners}

    def join(self, learners: list[str]) -> None:
        """Measure further learners from now on; other threads may be reading."""
        self.learners = self.learners | {name: Histogram(SECONDS) for name in learners}

    def stage(self, name: str) -> "_Taken":
        """Measure a block as a stage."""
        return _Taken(self.stages[name])

    def learner(self, name: str) -> "_Taken":
        """Measure a block as a learner's."""
        return _Taken(self.learners[name])


class _Taken:
    """Adds the time of a block, unless it raises."""

    def __init__(self, times: Histogram) -> None:
        self._times = times

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self._times.add(time.perf_counter() - self._begun)
