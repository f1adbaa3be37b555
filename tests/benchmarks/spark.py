"""Spark: partitions against the engine alone on the same records, and many keys."""

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from simulators.broker import Kafka
from stream_rank.config.spark import ShardConfig
from stream_rank.ingest.kafka.port import Partition
from stream_rank.spark.portion import Portion
from stream_rank.spark.shard import Shard
from tests.benchmarks.measure import Line, side_by_side
from tests.ingest.kafka.conftest import create
from tests.spark.conftest import ratings
from tests.spark.jobs import Job

__all__ = ["keys", "partitions"]

_EVENTS, _PARTITIONS, _TRIGGER = 2_000_000, 8, 500_000
_LEARNER = "raw | prank"
_CORES = {
    "spark.master": "local[2]",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # compiled as it is in earnest
}
_STREAM = 250_000
"""So many records are made; streams repeat them."""


def _all_cores() -> None:
    """Spark has two, as its tasks are two: one of them and the JVM on one core would take turns."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def _sent(address: str, name: str, lines: list[bytes], events: int, partitions: int) -> str:
    from confluent_kafka import Producer

    create(address, name, partitions)
    producer = Producer(
        {"bootstrap.servers": address, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
    )
    for number in range(events):
        while True:
            try:
                producer.produce(name, lines[number % len(lines)], partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(300)
    return name


class _Told(NamedTuple):
    """What became of a job."""

    triggers: list[dict[str, Any]]
    """The progress of those that had records."""
    peaks: dict[str, float]
    """The most memory of the JVM, and of Python's workers, in MB."""
    seconds: float
    """Processor time of all of it, from the end of the first trigger on."""

    @property
    def rate(self) -> float:
        """Records a second of the fastest trigger; the first one starts workers."""
        rates = [
            each["numInputRows"] / each["durationMs"]["triggerExecution"] * 1e3
            for each in self.triggers
        ]
        best: float = max(rates[1:] or rates)
        return best

    @property
    def a_core(self) -> float:
        """Records a second of processor time, whatever else the machine does."""
        records: int = sum(each["numInputRows"] for each in self.triggers[1:])
        return records / self.seconds if self.seconds else 0.0


def _job(address: str, topic: str, folder: Path, **more: Any) -> _Told:
    job = Job(folder, topic, address, learners=[_LEARNER], **more)
    process, peaks = job.start(), {"java": 0.0, "python": 0.0}
    spent: list[tuple[float, float]] = []

    def watch() -> None:
        while process.poll() is None:
            sizes, seconds = _looked(process.pid)
            spent.append((time.time(), seconds))
            for kind, size in sizes.items():
                peaks[kind] = max(peaks[kind], size)
            time.sleep(0.5)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        assert process.wait(3_000) == 0, job.log[-3000:]
    finally:
        job.kill(process)
    thread.join()
    told = json.loads((job.out / "progress.json").read_text())
    triggers = [each for each in told if each["numInputRows"]]
    first, last = (
        datetime.fromisoformat(each["timestamp"]).timestamp()
        + each["durationMs"]["triggerExecution"] / 1e3
        for each in (triggers[0], triggers[-1])
    )
    between = [seconds for moment, seconds in spent if first <= moment <= last + 0.5]
    return _Told(triggers, peaks, max(between) - min(between) if between else 0.0)


def _looked(session: int) -> tuple[dict[str, float], float]:
    """The memory of a session's processes in MB, of which forks share a part, and their processor time."""
    found, seconds = {"java": 0.0, "python": 0.0}, 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            after = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(after[3]) == session:
                kind = (
                    "java" if b"org.apache.spark" in (folder / "cmdline").read_bytes() else "python"
                )
                pages = int((folder / "statm").read_text().split()[1])
                found[kind] += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
                seconds += sum(map(int, after[11:13])) / os.sysconf("SC_CLK_TCK")
    return found, seconds


def partitions() -> Iterator[Line]:
    """All cores of the machine on both sides: one PRank on 8 partitions, against the engine alone, which is one thread."""
    _all_cores()
    lines = ratings(_STREAM)
    shard = Shard(ShardConfig.model_validate({"learners": [_LEARNER], "n_ranks": 5}))
    portion = Portion.of(Partition("ratings", 0), range(_STREAM), lines)

    def alone() -> None:
        shard.load(None)
        shard.take(portion)

    with tempfile.TemporaryDirectory() as folder, Kafka(Path(folder) / "kafka") as kafka:
        topic = _sent(kafka.address, "ratings", lines, _EVENTS, _PARTITIONS)
        told = _job(*(kafka.address, topic, Path(folder)), spark=_CORES, max_offsets=_TRIGGER)
    (least,) = side_by_side(alone, rounds=3)
    ours, engine, peaks = told.rate, _STREAM / least, told.peaks
    width = len(portion.values) / _STREAM
    yield Line(
        f"Spark local[2], one PRank on each of {_PARTITIONS} partitions, triggers of {_TRIGGER:,} records of {width:.0f} bytes",
        f"{ours / 1e3:.0f} k events/s, {told.a_core / 1e3:.0f} k a second of processor time; JVM {peaks['java']:.0f} MB, Python {peaks['python']:.0f} MB; "
        f"states of {len(shard.dump()) / 1e3:.0f} kB",
        f"the engine alone on the same records, {engine / 1e3:.0f} k events/s",
        ours / engine,
        0.35,
    )


def keys() -> Iterator[Line]:
    """A PRank for each of many keys: what a key costs, and what it keeps."""
    _all_cores()
    for count, events, trigger in ((1_000, 500_000, 125_000), (100_000, 200_000, 100_000)):
        lines = ratings(events // 2, groups=count)
        with tempfile.TemporaryDirectory() as folder, Kafka(Path(folder) / "kafka") as kafka:
            topic = _sent(kafka.address, "ratings", lines, events, 2)
            told = _job(
                *(kafka.address, topic, Path(folder)),
                spark=_CORES,
                max_offsets=trigger,
                by="group",
            )
            shard = Shard(
                ShardConfig.model_validate({"learners": [_LEARNER], "n_ranks": 5, "by": "group"})
            )
            shard.take(Portion.of(Partition("ratings", 0), range(100), lines[:100]))
            size = len(shard.dump())
        rows = max(each["stateOperators"][0]["numRowsTotal"] for each in told.triggers)
        kept = max(each["stateOperators"][0]["memoryUsedBytes"] for each in told.triggers)
        ours, peaks = told.rate, told.peaks
        start = time.perf_counter()
        for name in range(200):
            shard.load(None)
            shard.take(Portion.of(Partition("ratings", 0), range(10), lines[name : name + 10]))
            shard.dump()
        one = 200 / (time.perf_counter() - start)
        yield Line(
            f"Spark local[2], one PRank for each of {count:,} keys, triggers of {trigger:,}",
            f"{ours / 1e3:.1f} k events/s, {told.a_core / 1e3:.1f} k a second of processor time; {rows:,} keys of {size / 1e3:.1f} kB; RocksDB {kept / 1e6:.0f} MB, JVM {peaks['java']:.0f} MB, "
            f"Python {peaks['python']:.0f} MB",
            f"loading, learning 10 events and keeping a key, {one:.0f} keys/s on one core",
            ours / one,
            None,
        )
