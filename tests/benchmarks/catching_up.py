"""What it costs a daemon that a learner catches up beside it: its rate with more to do than it can, against that of one without."""

import shutil
import time
from collections.abc import Iterator
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.measure import Line

__all__ = ["catching_up"]

_RIDES, _LATE = "oap-bpm", "oap-bpm:n_members=50"
_BEGUN = 1_000
"""Events of the run before the learner is added."""
_TURNS = 9


def catching_up(address: str, topic: str, events: int, folder: Path) -> Iterator[Line]:
    """A line for each client, of a topic with so many events."""
    for client in ("kafka-python", "confluent"):
        spent: dict[str, list[float]] = {"alone": [], "beside": []}
        learned = 0
        begun = folder / "begun"
        _learn(client, address, topic, begun, _BEGUN, [_RIDES])
        for turn in range(1 + _TURNS):
            for what in sorted(spent, reverse=turn % 2 == 0):  # the machine's pace changes
                shutil.copytree(begun, folder / "run")
                learners = [_RIDES, *([_LATE] if what == "beside" else [])]
                seconds, studied = _learn(client, address, topic, folder / "run", events, learners)
                shutil.rmtree(folder / "run")
                if turn:  # the first compiles
                    spent[what].append(seconds)
                    learned += studied
        shutil.rmtree(begun)
        rates = {
            what: f"{(events - _BEGUN) / median(seconds) / 1e3:.0f} k events/s"
            for what, seconds in spent.items()
        }
        late = learned / sum(spent["beside"])
        yield Line(
            f"a daemon with all to do, while a learner catches up beside it at {late / 1e3:.0f} k events/s, {client}",
            rates["beside"],
            f"without it {rates['alone']}",
            median(map(truediv, spent["alone"], spent["beside"])),  # of neighbours
            0.9,
        )


def _learn(
    client: str, address: str, topic: str, folder: Path, events: int, learners: list[str]
) -> tuple[float, int]:
    """Seconds of a daemon from its first event to its last, and the events that whoever catches up has learned."""
    from tests.benchmarks.kafka import daemon_of

    settings: dict[str, Any] = {"learners": learners, "max_events": events, "catch_up": "retained"}
    with daemon_of(client, address, topic, folder, **settings) as daemon:
        counts, start, late = daemon.learning.progress.counts, 0.0, 0
        before = counts.records
        for _ in daemon._steps():
            start = start or (time.perf_counter() if counts.records > before else 0.0)
            daemon._between_chunks()
            if daemon.learning.ended:
                break
        seconds = time.perf_counter() - start
        if len(learners) > 1:
            assert len(daemon.learning.contestants) == 1  # or it would have been done too soon
            late = daemon.status()["catching_up"]["records"]
        daemon.learning.checkpointer.commit()
        daemon.server.close()
    return seconds, late
