"""End to end on a real broker: how much of what a client gives is learned, and how soon.

It has all cores, for the broker needs one too; so it is a process of its own, which prints what it measured.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.measure import Line

__all__ = ["daemon_of", "end_to_end"]

_EVENTS = 300_000
_RATE, _SECONDS = 5_000, 12
"""Of the measurement of latency; its first seconds, in which all is compiled and loaded, do not count."""
_TURNS = 8
"""Of which the best counts: the broker and what it feeds want both cores, which neighbours of a machine may want too."""
_WARM_SECONDS = 3
_REQUESTS, _WARM_REQUESTS, _BETWEEN_SECONDS = 100, 5, 0.1
"""Requests, those before them that do not count, and the pause in which the stream is idle."""


def end_to_end() -> Iterator[Line]:
    """The lines, measured by a process that is not kept to one core."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.kafka"],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    for line in done.stdout.splitlines():
        yield Line(*json.loads(line))


def _values() -> list[bytes]:
    """Events of 20 named features, some 460 bytes each."""
    generator = np.random.default_rng(0)
    names = [f"feature_{i}" for i in range(20)]
    rows = generator.normal(size=(20_000, 20)).round(6).tolist()
    some = [
        json.dumps({"x": dict(zip(names, row, strict=True)), "y": min(max(round(row[0] + 3), 1), 5)}).encode()
        for row in rows
    ]  # fmt: skip
    return some * (_EVENTS // len(some))


def _loop() -> Any:
    from tests.benchmarks.stream import loop_of

    return loop_of(["oap-bpm"])


def _polled(client: str, address: str, topic: str) -> float:
    """Seconds of a loop that only polls, by the client alone."""
    if client == "kafka-python":
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(bootstrap_servers=address, enable_auto_commit=False)
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek(partition, 0)
        start, count = 0.0, 0
        while count < _EVENTS:
            found = consumer.poll(100, max_records=8_192)
            start = start or time.perf_counter()
            count += sum(map(len, found.values()))
        seconds = time.perf_counter() - start
        consumer.close()
        return seconds
    import confluent_kafka

    settings = {
        "bootstrap.servers": address,
        "group.id": "bare",
        "enable.auto.commit": False,
        "fetch.message.max.bytes": 4 << 20,
        "fetch.queue.backoff.ms": 1,
    }
    reader = confluent_kafka.Consumer(settings)
    reader.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    start, count = 0.0, 0
    while count < _EVENTS:
        messages = reader.consume(2_048, 0.1)
        start = start or time.perf_counter()
        count += len(messages)
    seconds = time.perf_counter() - start
    reader.close()
    return seconds


def _learned(client: str, address: str, topic: str, folder: Path) -> float:
    """Seconds of the daemon, from its first event to its last."""
    daemon = daemon_of(client, address, topic, folder, max_events=_EVENTS)
    with daemon:
        start = 0.0
        counts = daemon.learning.progress.counts
        for _ in daemon._steps():
            start = start or (time.perf_counter() if counts.learned else 0.0)
            daemon._between_chunks()
            if daemon.learning.ended:
                break
        seconds = time.perf_counter() - start
        daemon.server.close()
    shutil.rmtree(folder)
    return seconds


def daemon_of(client: str, address: str, topic: str, folder: Path, **more: Any) -> Any:
    """A daemon on a topic."""
    from stream_rank.config.daemon import DaemonConfig
    from stream_rank.runtime.daemon import Daemon

    settings = {
        "topics": [topic],
        "bootstrap_servers": [address],
        "out": folder,
        "n_ranks": 5,
        "port": 0,
        "client": client,
        "group_id": f"{client}-{time.monotonic_ns()}",
        **more,
    }
    return Daemon(DaemonConfig.model_validate(settings))


def _in_memory(values: list[bytes]) -> float:
    """Seconds of the same loop on the same bytes."""
    from stream_rank.ingest.chunk import as_records

    loop, start = _loop(), time.perf_counter()
    edges = [0, 64, *range(2_048, _EVENTS, 2_048), _EVENTS]  # as the daemon has them
    for begin, end in itertools.pairwise(edges):
        for _ in loop.take(as_records(values[begin:end])):
            pass
    return time.perf_counter() - start


def _latency(address: str, topic: str, folder: Path, values: list[bytes]) -> np.ndarray[Any, Any]:
    """Milliseconds from an event's production to its being learned, by the whole daemon, snapshots and all."""
    ages: list[float] = []
    with daemon_of("kafka-python", address, topic, folder, snapshot_seconds=1.0) as daemon:
        take = daemon.learning.loop.take

        def timed(chunk: Any) -> Iterator[None]:
            yield from take(chunk)
            now = time.time() * 1000
            ages.extend(now - chunk.origin_of(i)[2].timestamp for i in range(len(chunk)))

        daemon.learning.loop.take = timed
        path = folder.parent / "values.jsonl"
        path.write_bytes(b"\n".join(values[: _RATE * _SECONDS]) + b"\n")
        flags = [
            "--topic",
            topic,
            "--bootstrap-servers",
            address,
            "--rate",
            str(_RATE),
            "--client",
            "confluent",
            "--quiet",
        ]

        def produce() -> None:
            time.sleep(2)
            subprocess.run(
                [sys.executable, "-m", "stream_rank", "produce", str(path), *flags], check=True
            )
            time.sleep(2)
            daemon.learning.control.stop_requested = True

        thread = threading.Thread(target=produce)
        thread.start()
        daemon.run()
        thread.join()
    return np.array(ages[_RATE * _WARM_SECONDS :])


def _answers(client: str, address: str, name: str, folder: Path) -> np.ndarray[Any, Any]:
    """Milliseconds from a request's production to its prediction, on an idle stream, one request at a time."""
    import confluent_kafka

    from tests.ingest.kafka.conftest import create

    topic, predictions = f"requests-{name}", f"predictions-{name}"
    create(address, topic)
    create(address, predictions)
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "linger.ms": 0})
    reader = confluent_kafka.Consumer({"bootstrap.servers": address, "group.id": "answers"})
    reader.assign([confluent_kafka.TopicPartition(predictions, 0, 0)])
    ages = []
    with daemon_of(client, address, topic, folder, predictions=predictions) as daemon:
        thread = threading.Thread(target=daemon.run)
        thread.start()
        producer.produce(topic, b'{"x": {"a": 1}, "y": 2}')
        for number in range(_WARM_REQUESTS + _REQUESTS):
            time.sleep(_BETWEEN_SECONDS)
            asked = time.perf_counter()
            producer.produce(topic, b'{"x": {"a": 1}, "id": %d}' % number)
            producer.poll(0)
            message = None
            while message is None or message.error() is not None:
                message = reader.poll(60)
            ages.append(1000 * (time.perf_counter() - asked))
        daemon.learning.control.stop_requested = True
        thread.join()
    producer.flush()
    reader.close()
    return np.array(ages[_WARM_REQUESTS:])


def _answering(address: str, folder: Path) -> Iterator[Line]:
    for client in ("kafka-python", "confluent"):
        ages = _answers(client, address, client, folder / client)
        p50, p99 = np.percentile(ages, [50, 99])
        yield Line(
            f"from a request to its prediction on an idle stream, {client}: 100 ms over p99",
            f"p99 {p99:.0f} ms, median {p50:.0f} ms, most {ages.max():.0f} ms",
            f"{len(ages):,} requests, one at a time",
            100 / p99,
            1.0,
        )


def _measure() -> Iterator[Line]:
    from simulators.broker import Kafka
    from stream_rank.ingest.kafka.clients import producer_of
    from stream_rank.ingest.kafka.connection import Connection
    from stream_rank.ingest.kafka.port import ProducerRecord
    from stream_rank.runtime.garbage_collection import GarbageCollection
    from tests.benchmarks.asking import asked
    from tests.benchmarks.catching_up import catching_up
    from tests.ingest.kafka.conftest import create

    values = _values()
    GarbageCollection()  # as the daemon does
    with tempfile.TemporaryDirectory() as name, Kafka(Path(name) / "kafka", lasting=True) as kafka:
        address = kafka.address
        create(address, "events")
        create(address, "latency")
        producer = producer_of("confluent", Connection((address,)))
        for value in values:
            producer.send(ProducerRecord("events", value, partition=0))
        producer.flush(120)
        producer.close()
        works = {
            "poll": lambda: _polled("kafka-python", address, "events"),
            "learn": lambda: _learned("kafka-python", address, "events", Path(name) / "a"),
            "fast poll": lambda: _polled("confluent", address, "events"),
            "fast learn": lambda: _learned("confluent", address, "events", Path(name) / "a"),
            "memory": lambda: _in_memory(values),
        }
        best = dict.fromkeys(works, float("inf"))
        for turn, (what, work) in itertools.product(range(1 + _TURNS), works.items()):
            seconds = work()
            if turn:  # the first compiles, and fills caches
                best[what] = min(best[what], seconds)
        rate = {what: f"{_EVENTS / seconds / 1e3:.0f} k events/s" for what, seconds in best.items()}
        yield Line(
            "Kafka to a learned rule, 20 named features, OAPBPM 100 members, kafka-python",
            rate["learn"],
            f"polling alone {rate['poll']}",
            best["poll"] / best["learn"],
            0.5,
        )
        yield Line(
            "the same with confluent-kafka",
            rate["fast learn"],
            f"the same loop on the same bytes in memory {rate['memory']} (polling alone {rate['fast poll']})",
            best["memory"] / best["fast learn"],
            0.7,
        )
        yield Line(
            "the same",
            rate["fast learn"],
            f"kafka-python {rate['learn']}",
            best["learn"] / best["fast learn"],
            2.0,
        )
        ages = _latency(address, "latency", Path(name) / "out", values)
        p50, p99 = np.percentile(ages, [50, 99])
        yield Line(
            f"from produced to learned at {_RATE:,} events/s, a snapshot every second: 250 ms over p99",
            f"p99 {p99:.0f} ms, median {p50:.0f} ms, most {ages.max():.0f} ms",
            f"{len(ages):,} events",
            250 / p99,
            1.0,
        )
        yield from _answering(address, Path(name) / "answers")
        yield from asked(address, values)
        yield from catching_up(address, "events", _EVENTS, Path(name) / "catching up")


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    for measured in _measure():
        print(json.dumps(measured), flush=True)
