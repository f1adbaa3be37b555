"""A store of snapshots that takes what it is given and never answers."""

import os
import re
import threading
import urllib.request
from pathlib import Path

import pytest

from stream_rank.checkpoint import checkpointer
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import TooManyRejectsError
from stream_rank.runtime.daemon import Daemon
from stream_rank.runtime.shutdown_deadline import ShutdownDeadline
from tests.daemon.conftest import Topic, wait_for


def test_it_is_told_and_counted_and_does_not_keep_a_run_from_ending(
    topic: Topic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, ended, said = threading.Event(), list[int](), list[str]()

    def end(code: int) -> None:  # instead of the process
        ended.append(code)
        answers.set()

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(checkpointer, "_SLOW_SECONDS", 0.2)
    config = DaemonConfig.model_validate(
        {"topics": [topic.name], "bootstrap_servers": topic.address, "out": tmp_path, "n_ranks": 5, "learners": ["prank"],
         "port": 0, "max_consecutive_rejects": 1}
    )  # fmt: skip
    with Daemon(config, deadline=ShutdownDeadline(0.5, 143, said.append)) as daemon:
        put = daemon.learning.store.put

        def hanging(content: bytes, records: int) -> str:
            assert answers.wait(120)
            return put(content, records)

        monkeypatch.setattr(daemon.learning.store, "put", hanging)

        def failures() -> int:
            with urllib.request.urlopen(f"{daemon.server.address}/metrics", timeout=60) as answer:
                (count,) = re.findall(rb'failures_total{what="snapshots"} (\d+)', answer.read())
            return int(count)

        def watch() -> None:
            wait_for(lambda: failures() == 1)
            topic.send([b"no event", b"nor this"])

        watching = threading.Thread(target=watch)
        watching.start()
        with pytest.raises(TooManyRejectsError):
            daemon.run()
        watching.join()
    assert ended == [143]
    assert "stopping took longer" in said[0]


def test_a_store_that_fails_does_not_hide_why_a_run_ends(
    topic: Topic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = DaemonConfig.model_validate(
        {"topics": [topic.name], "bootstrap_servers": topic.address, "out": tmp_path, "n_ranks": 5, "learners": ["prank"],
         "port": 0, "max_consecutive_rejects": 1}
    )  # fmt: skip
    topic.send([b"no event", b"nor this"])
    with Daemon(config) as daemon:

        def failing(content: bytes, records: int) -> str:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(daemon.learning.store, "put", failing)
        with pytest.raises(TooManyRejectsError, match="2 records in a row were rejected"):
            daemon.run()
    assert "No space left on device" in caplog.text
