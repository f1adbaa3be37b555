"""Brokers that go and come again, or never come: nothing is left behind by it, nothing lost.

`make soak` has them away for most of half an hour; CI twice for some seconds.
"""

import os
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from simulators.broker import Kafka
from tests.cli.test_memory import resident
from tests.daemon.conftest import Daemon, Topic, wait_for
from tests.daemon.test_faults import COUNTING, assert_once, counted

_TURNS, _AWAY = (20, 75.0) if os.environ.get("SOAK") else (2, 8.0)
"""How often, and for how many seconds: in a soak, longer than any request waits for its answer."""
_CLIENTS = ("kafka-python", "confluent")
_EVENTS = 10
"""Of each turn."""


def _in_use(daemon: Daemon) -> tuple[int, int, int]:
    """Bytes of memory, open files, threads."""
    process = Path(f"/proc/{daemon.process.pid}")
    return (
        resident(daemon.process.pid),
        len(os.listdir(process / "fd")),
        len(os.listdir(process / "task")),
    )


@pytest.mark.long(80)
def test_brokers_are_away_again_and_again(tmp_path: Path) -> None:
    measured: dict[str, list[tuple[int, int, int]]] = {}
    with ExitStack() as stack:
        killed = stack.enter_context(Kafka(tmp_path / "killed"))
        frozen = stack.enter_context(Kafka(tmp_path / "frozen"))
        topics = [Topic(killed), Topic(frozen)]
        learning, waiting = [], []
        for client in _CLIENTS:
            for topic in topics:
                folder = tmp_path / f"{topic.name}-{client}"
                daemon = Daemon(
                    folder, [topic.name], topic.address, client=client, group_id=client, **COUNTING
                )
                learning.append(stack.enter_context(daemon))
                assert daemon.url  # one after the other: starting is work
            nowhere = Daemon(
                tmp_path / client, ["ratings"], "127.0.0.1:1", client=client, **COUNTING
            )
            waiting.append(stack.enter_context(nowhere))
            wait_for(partial(nowhere.said, "Kafka: "))  # it is as large as it will be
        for turn in range(1 + _TURNS):
            if turn:
                killed.kill()
                frozen.freeze(True)
                time.sleep(_AWAY)
                killed.start()
                frozen.freeze(False)
            for topic in topics:
                topic.send(counted(turn * _EVENTS, _EVENTS, topic))
            for daemon in learning:
                daemon.learned((turn + 1) * _EVENTS)
            for daemon in (*learning, *waiting):
                measured.setdefault(str(daemon.out), []).append(_in_use(daemon))
        for daemon in (*learning, *waiting):
            assert daemon.get("/livez")[0] == 200
            assert daemon.end() == 0, daemon.log
    for daemon in learning:
        assert_once(daemon.out, (1 + _TURNS) * _EVENTS)
    for found in measured.values():
        memory, files, threads = zip(*found, strict=True)
        assert max(memory) < memory[0] + 16e6, found
        assert max(files) < 40, found  # 20 at most, where each try leaves none behind
        assert max(threads) < 20, found
