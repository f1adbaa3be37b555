"""The load generator's small twin: a daemon on a real broker learns a stream with faults, and is checked."""

from pathlib import Path

import pytest

from simulators import faulty_load
from simulators.faulty_stream import Faults
from tests.daemon.conftest import Daemon, Topic

pytestmark = pytest.mark.long(20)


def test_what_was_sent_is_what_was_learned(topic: Topic, tmp_path: Path) -> None:
    said: list[str] = []
    with Daemon(
        tmp_path, [topic.name], topic.address, learners=["oap-bpm:n_members=9"], delay=1000
    ) as daemon:
        daemon.until(lambda status: len(status.get("assigned", [])) == 1)
        faults = Faults(0.02, 0.1, 0.02, 50, 1.0)
        given = topic.address, topic.name, 2_000, 5_000.0, 3.0, 1, faults, f"{daemon.url}/status"
        assert faulty_load.run(*given, patience=60.0, say=said.append) == 0, said
        assert "to the bit" in said[-1]
        # and again, behind what it knows already
        assert faulty_load.run(*given, patience=60.0, say=said.append) == 0, said
        assert "to the bit" not in said[-1]
