"""What it costs to be observed: the loop with all its metrics and a scrape a second, against the loop alone.

In processor time, which the scrapes have their part of.
"""

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.kafka import _loop, _values
from tests.benchmarks.measure import Line

__all__ = ["exporter"]

_CHUNK = 2_048
_ROUNDS = 3
"""Times that the events are learned in one measurement, so that several scrapes are within."""
_TURNS = 9
_SCRAPE_SECONDS = 1.0
"""Prometheus asks every 5 to 60 seconds."""


class _NoWatch:
    """Takes no times."""

    def stage(self, name: str) -> Any:
        return nullcontext()

    learner = stage


def exporter() -> Iterator[Line]:
    """The line."""
    values = _values() * _ROUNDS
    spent: dict[str, list[float]] = {"observed": [], "alone": []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1 + _TURNS):
            for what in sorted(spent, reverse=turn % 2 == 0):  # the machine's pace changes
                observed = what == "observed"
                seconds = _observed(values, Path(folder)) if observed else _alone(values)
                if turn:  # the first compiles
                    spent[what].append(seconds)
    ratios = map(truediv, spent["alone"], spent["observed"])
    rates = {
        what: f"{len(values) / median(seconds) / 1e3:.0f} k events/s"
        for what, seconds in spent.items()
    }
    yield Line(
        "the loop with all metrics, scraped every second, OAPBPM 100 members",
        rates["observed"],
        f"without metrics {rates['alone']}",
        median(ratios),  # of neighbours: whatever slows the machine slows few of them
        0.97,
    )


def _alone(values: list[bytes]) -> float:
    from stream_rank.ingest.chunk import as_records

    loop = _loop()
    loop.stopwatch = _NoWatch()
    start = time.process_time()
    for begin in range(0, len(values), _CHUNK):
        for _ in loop.take(as_records(values[begin : begin + _CHUNK])):
            pass
    return time.process_time() - start


def _observed(values: list[bytes], folder: Path) -> float:
    from stream_rank.checkpoint.checkpointer import Checkpointer
    from stream_rank.checkpoint.store import SnapshotStore
    from stream_rank.ingest.backoff import Backoff
    from stream_rank.ingest.chunk import as_records
    from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryConsumer
    from stream_rank.ingest.kafka.offsets import Offsets
    from stream_rank.ingest.kafka.port import Partition
    from stream_rank.ingest.kafka.topic_source import TopicSource
    from stream_rank.monitoring.exporter import Exporter
    from stream_rank.monitoring.observer import Observer

    loop, broker = _loop(), MemoryBroker()
    broker.create("events", 4)
    source = TopicSource(
        ["events"],
        lambda resolve: MemoryConsumer(broker, "g", ["events"], resolve),
        Backoff("", print),
    )
    store = SnapshotStore(str(folder), 1)
    checkpointer = Checkpointer([], {}, store, loop.progress)
    attempts = {"kafka": Backoff("", print), "snapshots": Backoff("", print)}
    observer = Observer(
        loop, checkpointer, None, {}, source, "memory", 30.0, 0, attempts, int, store.lease
    )
    offsets = Offsets({Partition("events", 0): 0})
    text, ended = Exporter(observer.readings).text, threading.Event()

    def scrape() -> None:
        while not ended.wait(_SCRAPE_SECONDS):
            text()

    scraper = threading.Thread(target=scrape)
    scraper.start()
    start = time.process_time()
    for begin in range(0, len(values), _CHUNK):
        some = values[begin : begin + _CHUNK]
        for _ in loop.take(as_records(some, lambda _: offsets)):
            pass
        observer.learned(len(some), int(time.time() * 1000))
        observer.turned()
    seconds = time.process_time() - start
    ended.set()
    scraper.join()
    return seconds
