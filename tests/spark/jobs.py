"""Jobs on Spark and the real broker: topics of known records, drivers, and what a replay makes of the same."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.store import reasons
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.ingest.kafka.conftest import create, fresh_name
from tests.spark.conftest import parts_of

__all__ = ["Job", "need_spark", "published", "topic_of"]


def need_spark() -> None:
    """Skip where there is no Spark: `make spark` installs it."""
    pytest.importorskip("pyspark", reason="there is no PySpark: make spark installs it")


def topic_of(address: str, shares: Sequence[Sequence[bytes]]) -> str:
    """A topic with these records, a list for each partition."""
    name = fresh_name("ratings")
    create(address, name, len(shares))
    producer = producer_of("confluent", Connection(tuple(address.split(","))))
    for number, lines in enumerate(shares):
        for line in lines:
            producer.send(ProducerRecord(name, line, partition=number))
    producer.flush(120)
    producer.close()
    return name


def published(out: Path) -> dict[str, dict[str, str]]:
    """The parts of all shards that are published, by file."""
    with reasons(str(out)):
        return {
            each.stem: parts_of(each.read_bytes())
            for each in (out / "shards").glob("*.safetensors")
        }


class Job:
    """A driver that is started, killed and started again."""

    def __init__(self, folder: Path, topic: str, brokers: str, **settings: Any) -> None:
        self.out = folder / "out"
        self.out.mkdir(parents=True, exist_ok=True)
        self.settings = {
            "topics": [topic],
            "bootstrap_servers": brokers,
            "out": str(self.out),
            "until": "end",
            "n_ranks": 5,
            **settings,
        }
        self._log = folder / f"driver-{time.monotonic_ns()}.txt"

    def start(self, writes: int = 0, **changed: Any) -> subprocess.Popen[bytes]:
        """Start a driver, which dies before so many writes if any are given."""
        given = json.dumps({**self.settings, **changed})
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.spark.driver", given, str(writes)],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, writes: int = 0, **changed: Any) -> int:
        """Run a driver to its end, with all that it started; its exit code."""
        process = self.start(writes, **changed)
        try:
            return process.wait(900)
        finally:
            self.kill(process)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a driver, its JVM and its workers."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    @property
    def log(self) -> str:
        """What drivers said."""
        return self._log.read_text(errors="replace")

    @property
    def said(self) -> Mapping[str, Any]:
        """What was published last."""
        path = self.out / "published.json"
        return json.loads(path.read_text()) if path.exists() else {}
