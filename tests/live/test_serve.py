"""`make live` as somebody at a terminal has it."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simulators.breaks import Break, Timetable
from simulators.broker import free_ports
from simulators.live import Ports, free
from tests.daemon.conftest import wait_for


def processes_about(folder: str) -> list[str]:
    """The command lines that a folder stands in."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if folder in line:
            found.append(line)
    return found


def test_ctrl_c_stops_all_of_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "simulators", "live", "--any-ports"],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: "Ctrl-C stops" in log.read_text() or process.poll() is not None, 120)
        if process.poll() is not None and "there is no" in log.read_text():
            pytest.skip(log.read_text())
        found = re.search(r"Logs are in (\S+)\.", log.read_text())
        assert found, log.read_text()
        assert len(processes_about(found[1])) == 3  # Kafka, the daemon, Prometheus
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
    assert log.read_text().endswith("stopped\n")
    assert processes_about(found[1]) == []
    assert not Path(found[1]).exists()


def test_other_ports_are_taken_in_the_place_of_those_that_are() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        usual = Ports(other.getsockname()[1], *free_ports(3))
        found = free(usual)
    assert found.kafka != usual.kafka
    assert found.daemon == usual.daemon


def test_breaks_come_and_go_as_the_timetable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def noting(name: str) -> Break:
        @contextmanager
        def enter(_: Any) -> Iterator[None]:
            done.append(f"+{name}")
            yield
            done.append(f"-{name}")

        return Break(name, enter)

    monkeypatch.setattr("simulators.breaks.BREAKS", {name: noting(name) for name in "ab"})
    now = 0.0
    timetable = Timetable(["a", "b"], every=60, lasting=20, clock=lambda: now)
    said = []
    for second in range(0, 200, 5):
        now = second
        word = timetable.turn(None)  # type: ignore[arg-type]
        said += [(second, word)] if word else []
    assert done == ["+a", "-a", "+b", "-b", "+a"]
    assert [second for second, _ in said] == [60, 80, 120, 140, 180]
