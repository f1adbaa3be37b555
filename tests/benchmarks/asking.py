"""What a daemon still learns where many ask it, or are connected and ask nothing: a run as it is, on a real broker, at a steady rate."""

import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.measure import Line

__all__ = ["asked"]

_RATE, _SECONDS, _TURNS = 100_000, 2.0, 5
_ASKING, _IDLE = 200, 1_000


def asked(address: str, values: list[bytes]) -> Iterator[Line]:
    """The lines, on a broker: the rate of windows in which somebody asks, against that of their neighbours."""
    from tests.benchmarks.kafka import daemon_of
    from tests.ingest.kafka.conftest import create

    create(address, "asked")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        daemon = stack.enter_context(daemon_of("confluent", address, "asked", folder / "out"))
        thread = threading.Thread(target=daemon.run)
        thread.start()
        stack.enter_context(_produced(address, folder, values))
        counts = daemon.learning.progress.counts
        while counts.learned < _RATE:  # all is compiled and loaded
            time.sleep(0.01)
        works = {
            f"{_ASKING} connections ask for `/metrics` and `/status`": _asking,
            f"{_IDLE:,} connections are there and ask nothing": _connected,
        }
        for what, around in works.items():
            alone, beside, answers = [], [], 0
            for _ in range(_TURNS):
                alone.append(_rate(counts))
                with around(daemon.server.address) as seen:
                    beside.append(_rate(counts))
                answers += seen()
            ratio = median(b / a for a, b in zip(alone, beside, strict=True))
            yield Line(
                f"{_RATE / 1e3:.0f} k events/s learned while {what}",
                f"{median(beside) / 1e3:.0f} k events/s",
                f"{median(alone) / 1e3:.0f} k events/s when nobody does"
                + (f"; {answers / _TURNS / _SECONDS:.0f} answers/s" if answers else ""),
                ratio,
                0.9,
            )
        daemon.learning.control.stop_requested = True
        thread.join()


@contextmanager
def _produced(address: str, folder: Path, values: list[bytes]) -> Iterator[None]:
    file = folder / "values.jsonl"
    file.write_bytes((b"\n".join(values) + b"\n") * 30)
    flags = ["--topic", "asked", "--bootstrap-servers", address, "--rate", str(_RATE), "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "stream_rank", "produce", file, "--client", "confluent", *flags]
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _rate(counts: Any) -> float:
    start, before = time.perf_counter(), counts.learned
    time.sleep(_SECONDS)
    return float((counts.learned - before) / (time.perf_counter() - start))


@contextmanager
def _asking(url: str) -> Iterator[Any]:
    """So many ask again and again, in a process of their own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.asking", url], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()  # they have begun
    told: list[int] = []
    try:
        yield lambda: told[0]
    finally:
        told.append(int(process.communicate("stop\n")[0]))


@contextmanager
def _connected(url: str) -> Iterator[Any]:
    """So many are connected."""
    place = urlsplit(url)
    with ExitStack() as stack:
        for _ in range(_IDLE):
            peer = socket.socket()
            peer.setblocking(False)
            peer.connect_ex((place.hostname, place.port))
            stack.enter_context(closing(peer))
        yield int


def _ask(url: str, ended: threading.Event, answers: list[int]) -> None:
    place = urlsplit(url)
    for path in iter(lambda: ("/metrics", "/status")[len(answers) % 2], None):
        if ended.is_set():
            return
        try:
            with closing(socket.create_connection((place.hostname, place.port), 5)) as peer:
                peer.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
                if peer.recv(12).endswith(b"200"):
                    answers.append(1)
                while peer.recv(65_536):
                    pass
        except OSError:  # there are more of us than it answers
            time.sleep(0.01)


if __name__ == "__main__":
    over, count = threading.Event(), list[int]()
    threads = [
        threading.Thread(target=_ask, args=(sys.argv[1], over, count), daemon=True)
        for _ in range(_ASKING)
    ]
    for each in threads:
        each.start()
    print("begun", flush=True)
    sys.stdin.readline()
    print(len(count), flush=True)
    over.set()
