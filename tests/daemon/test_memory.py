"""Any number of events, in the same memory. `make soak` learns ten million; CI does the same with half a million."""

import os
from pathlib import Path

import pytest

from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.ingest.files.json_rows import as_json
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.cli.test_memory import resident
from tests.daemon.conftest import Broker, Daemon, Topic

EVENTS = 10_000_000 if os.environ.get("SOAK") else 500_000
_STEPS = 20
_BEHIND = 4
_BLOCK = 5_000


@pytest.mark.long(28)
def test_memory_does_not_grow(kafka: Broker, tmp_path: Path) -> None:
    topic = Topic(kafka, 2)
    X, y = OAPStream(seed=1, features="quadratic").arrays(_BLOCK)
    names = [f"x{i}" for i in range(6)]
    block = [as_json(names, row, rank) for row, rank in zip(X.tolist(), y.tolist(), strict=True)]
    producer = producer_of("confluent", Connection((kafka.address,)))
    measured = []
    with Daemon(
        tmp_path, [topic.name], topic.address, learners=["oap-bpm"], snapshot_seconds=1
    ) as daemon:
        for step in range(1, _STEPS + 1):
            # A daemon that is behind holds as much as its client fetches ahead, which is bounded: the first steps bring
            # it there, so that whatever is held later has been held before.
            behind = step < _BEHIND
            blocks = EVENTS // _STEPS // _BLOCK
            for number in range(blocks):
                for value in block:
                    producer.send(ProducerRecord(topic.name, value, partition=number % 2))
            producer.flush(60)
            if not behind:
                daemon.learned(step * EVENTS // _STEPS, 600)
                measured.append(resident(daemon.process.pid))
        assert daemon.end() == 0
    producer.close()
    # What grows with events is there in all of the last measurements; what is held for a moment is not.
    early, late = max(measured[:4]), min(measured[-4:])
    assert late < early + 16e6, [f"{size / 1e6:.0f} MB" for size in measured]
