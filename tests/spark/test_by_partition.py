"""Partitions of the real broker, learned on Spark: the same bits as a replay of each, whatever is killed."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from stream_rank import average, load
from stream_rank.checkpoint.model_file import state_digest
from tests.ingest.kafka.conftest import Broker, kafka, wait_for
from tests.spark.conftest import ratings, replayed
from tests.spark.jobs import Job, need_spark, published, topic_of

__all__ = ["kafka"]

LEARNERS = ["scale | oap-bpm:n_members=9", "raw | recursive-mprank"]
PARTITIONS = 8
SOAK = bool(os.environ.get("SOAK"))
EVENTS, TRIGGER, SHUFFLED = (1_000_000, 50_000, 4) if SOAK else (24_000, 12_000, 1)
MASTERS = ["local[2,4]", "local-cluster[2,1,1024]"] if SOAK else ["local[1,4]"]
WRITES, DRIVERS, WORKERS = ((3, 13, 24), 3, 2) if SOAK else ((12,), 0, 1)
"""Kills: before so many states are written, of drivers, and of workers."""


def shares_of(count: int) -> list[list[bytes]]:
    lines = ratings(count)
    lines[100:200] = [b"garbage"] * 100
    lines[300:310] = [b'{"x": {"f0": 1.0}, "id": "u7"}'] * 10
    return [lines[number::PARTITIONS] for number in range(PARTITIONS)]


def expected(folder: Path, topic: str, shares: list[list[bytes]]) -> dict[str, dict[str, str]]:
    return {
        f"{topic}-{number}": replayed(folder / f"{number}", lines, learners=LEARNERS, n_ranks=5)
        for number, lines in enumerate(shares)
    }


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """The Python workers of a driver: it and they are one session, and the JVM is not Python."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "-s", str(process.pid)], capture_output=True, text=True
    )
    found = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return [int(pid) for pid, args in found if "pyspark.daemon" in args]


@pytest.mark.long(50)
@pytest.mark.parametrize("master", MASTERS)
def test_partitions_are_replays_of_each(kafka: Broker, tmp_path: Path, master: str) -> None:
    """Drivers are killed while they publish, and anywhere with all that is theirs, and then workers while the last one learns."""
    need_spark()
    shares = shares_of(EVENTS)
    topic = topic_of(kafka.address, shares)
    spark = {"spark.master": master, "spark.sql.shuffle.partitions": str(SHUFFLED)}
    job = Job(tmp_path, topic, kafka.address, learners=LEARNERS, spark=spark, max_offsets=TRIGGER)
    for writes in WRITES:
        assert job.run(writes=writes) == -signal.SIGKILL, job.log[-3000:]
    process = job.start()

    def until_more() -> None:
        """Wait until another trigger is published."""
        before = job.said["batch"]
        wait_for(lambda: process.poll() is not None or job.said["batch"] > before, seconds=600)
        assert process.poll() is None, job.log[-3000:]

    try:
        for _ in range(DRIVERS):
            until_more()
            job.kill(process)
            process = job.start()
        for number in range(WORKERS):
            if number:
                until_more()
            os.kill(wait_for(lambda: workers_of(process), seconds=300)[-1], signal.SIGKILL)
        assert process.wait(1_200) == 0, job.log[-3000:]
    finally:
        job.kill(process)
    assert published(job.out) == expected(tmp_path / "replays", topic, shares)
    assert job.said == {"batch": EVENTS // TRIGGER - 1, "shards": PARTITIONS, "records": EVENTS}
    models = [load(str(each), LEARNERS[0]) for each in sorted((job.out / "shards").iterdir())]
    merged = load(str(job.out / "model.safetensors"))
    assert state_digest(merged) == state_digest(average(models))
    found = [
        line for each in job.out.glob("rejects/*/*.json") for line in each.read_text().splitlines()
    ]
    assert len(found) == 100
