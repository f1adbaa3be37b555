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
def test_partitions_are_replays_of_each(kafka: Broker, tmp_path: Path) -> None:
    """The driver is killed while it publishes the second trigger, and one worker of the next driver while it learns."""
    need_spark()
    shares = shares_of(24_000)
    topic = topic_of(kafka.address, shares)
    more = {"spark": {"spark.master": "local[1,4]"}, "max_offsets": 12_000}
    job = Job(tmp_path, topic, kafka.address, learners=LEARNERS, **more)
    assert job.run(writes=PARTITIONS + 4) == -signal.SIGKILL, job.log
    assert job.said == {"batch": 0, "shards": PARTITIONS, "records": 12_000}
    process = job.start()
    try:
        some = wait_for(lambda: workers_of(process) or None, seconds=120)
        os.kill(some[-1], signal.SIGKILL)
        assert process.wait(300) == 0, job.log
    finally:
        job.kill(process)
    assert published(job.out) == expected(tmp_path / "replays", topic, shares)
    assert job.said == {"batch": 1, "shards": PARTITIONS, "records": 24_000}
    models = [load(str(each), LEARNERS[0]) for each in sorted((job.out / "shards").iterdir())]
    merged = load(str(job.out / "model.safetensors"))
    assert state_digest(merged) == state_digest(average(models))
    lines = [
        line
        for batch in (0, 1)
        for each in (job.out / f"rejects/batch={batch}").glob("*.json")
        for line in each.read_text().splitlines()
    ]
    assert len(lines) == 100
