"""The load generator's small twin: a daemon on a real broker learns a stream with faults, and is checked.

`make soak` does it with 100,000 events, and with three partitions too.
"""

import os
from pathlib import Path

import pytest

from simulators import faulty_load
from simulators.faulty_stream import Faults
from tests.daemon.conftest import Broker, Daemon, Topic

pytestmark = pytest.mark.long(20)

SOAK = bool(os.environ.get("SOAK"))
EVENTS, PARTITIONS = (100_000, [1, 3]) if SOAK else (2_000, [1])


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_what_was_sent_is_what_was_learned(kafka: Broker, partitions: int, tmp_path: Path) -> None:
    topic = Topic(kafka, partitions)
    said: list[str] = []
    with Daemon(
        tmp_path, [topic.name], topic.address, learners=["oap-bpm:n_members=9"], delay=1000
    ) as daemon:
        daemon.until(lambda status: len(status.get("assigned", [])) == partitions)
        faults = Faults(0.02, 0.1, 0.02, 50, 1.0)
        given = topic.address, topic.name, EVENTS, 5_000.0, 3.0, 1, faults, f"{daemon.url}/status"
        assert faulty_load.drive(*given, patience=60.0, say=said.append) == 0, said
        assert ("to the bit" in said[-1]) == (partitions == 1)
        # and again, behind what it knows already
        assert faulty_load.drive(*given, patience=60.0, say=said.append) == 0, said
        assert "to the bit" not in said[-1]
