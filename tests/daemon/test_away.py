"""Brokers that go and come again, or never come: nothing is left behind by it, nothing lost.

`make soak` has them away for most of half an hour; CI twice for some seconds.
"""

import os
import signal
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simulators.broker import Kafka
from tests.cli.test_memory import resident
from tests.daemon.conftest import Daemon, Topic, wait_for
from tests.daemon.test_dead_letters import everything
from tests.daemon.test_faults import COUNTING, assert_once, counted

_TURNS, _AWAY = (20, 75.0) if os.environ.get("SOAK") else (2, 8.0)
"""How often, and for how many seconds: in a soak, longer than any request waits for its answer."""
_CLIENTS = ("kafka-python", "confluent")
_EVENTS = 10
"""Of each turn."""
_LETTERS, _LETTERS_AWAY = 30_000, 150.0 if os.environ.get("SOAK") else 4.0
"""More letters than a client has sent when the first is seen; longer than a client waits for a delivery, if it is left its defaults."""


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


@pytest.mark.long(45)
def test_letters_wait_while_the_broker_is_away(tmp_path: Path) -> None:
    """All of them are there afterwards, in order, and once."""
    with Kafka(tmp_path / "kafka") as kafka, ExitStack() as stack:
        daemons: list[tuple[Daemon, Topic, Topic]] = []
        for client in _CLIENTS:
            topic, letters = Topic(kafka), Topic(kafka)
            daemon = Daemon(
                tmp_path / client,
                [topic.name],
                topic.address,
                client=client,
                dead_letters=letters.name,
                max_reject_ratio=1,
                **COUNTING,
            )
            daemons.append((stack.enter_context(daemon), topic, letters))
            daemon.until(lambda status: status["assigned"])
        bad = [b"no event %d" % number for number in range(2 * _LETTERS)]
        for turn in range(2):
            _signal(daemons, signal.SIGSTOP)
            for _, topic, _ in daemons:
                topic.send(bad[turn * _LETTERS : (turn + 1) * _LETTERS])
            _signal(daemons, signal.SIGCONT)
            wait_for(partial(_some, daemons[turn][2], turn * _LETTERS))
            kafka.kill()
            time.sleep(_LETTERS_AWAY)
            _signal(daemons, signal.SIGSTOP)
            kafka.start()
            wait_for(partial(_some, daemons[turn][2], turn * _LETTERS))  # it is there
            sent = [letters.ends()[0] for *_, letters in daemons]
            assert min(sent) < (turn + 1) * _LETTERS  # or none has waited
            _signal(daemons, signal.SIGCONT)
            for daemon, *_ in daemons:
                daemon.until(partial(_all_rejected, (turn + 1) * _LETTERS))
        for daemon, _, letters in daemons:
            assert daemon.end() == 0, daemon.log
            assert [each.value for each in everything(kafka.address, letters.name, len(bad))] == bad


def _signal(daemons: list[tuple[Daemon, Topic, Topic]], number: int) -> None:
    for daemon, *_ in daemons:
        daemon.process.send_signal(number)


def _some(letters: Topic, before: int) -> bool:
    return letters.ends()[0] > before


def _all_rejected(count: int, status: dict[str, Any]) -> bool:
    return bool(status["rejects"] == count)
