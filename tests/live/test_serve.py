"""`make live` as somebody at a terminal has it."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from simulators.live import Ports, serve
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


def test_a_port_that_is_taken_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        monkeypatch.setattr("simulators.live.Ports", lambda: Ports(kafka=port))
        assert serve(1, 1, False) == 1
    for number, handler in before.items():
        signal.signal(number, handler)
    assert f"{port}" in capsys.readouterr().out
