"""The HTTP server: it answers who asks, whoever else is connected, and leaves files and threads to the daemon."""

import contextlib
import http.client
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from stream_rank.monitoring import http_server
from stream_rank.monitoring.http_server import Endpoints, Server
from stream_rank.monitoring.shared_answer import SharedAnswer

CONNECTIONS = 1_000


@pytest.fixture
def server() -> Iterator[Server]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * CONNECTIONS), hard))
    endpoints = Endpoints(
        lambda: (True, "live"), lambda: (False, "waiting"), lambda: b"a 1\n", lambda: "{}"
    )
    found = Server("127.0.0.1", 0, endpoints)
    yield found
    found.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def asked(
    server: Server, path: str = "/livez", method: str = "GET", **headers: str
) -> tuple[int, bytes, str | None]:
    with contextlib.closing(
        http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=20)
    ) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Content-Length")


def connected(server: Server) -> socket.socket:
    host, _, port = server.address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def of_server() -> int:
    """Threads that answer connections."""
    return sum("process_request_thread" in each.name for each in threading.enumerate())


def test_a_thousand_that_ask_nothing_are_without_effect(server: Server) -> None:
    files = len(os.listdir("/proc/self/fd"))
    with ExitStack() as stack:
        for number in range(CONNECTIONS):
            idle = stack.enter_context(connected(server))
            if number % 3 == 0:
                with contextlib.suppress(OSError):  # it may be ended already
                    idle.sendall(b"GET /livez HTTP/1.1\r\nX-Slow: ")
            if number % 100 == 50:
                assert asked(server)[:2] == (200, b"live\n")
        for path, status in (("/livez", 200), ("/readyz", 503), ("/metrics", 200), ("/none", 404)):
            assert asked(server, path)[0] == status
        assert of_server() <= 2 * http_server._MOST_CONNECTIONS
        ours = len(os.listdir("/proc/self/fd")) - files - CONNECTIONS
        assert ours <= 2 * http_server._MOST_CONNECTIONS + 2
    until = time.monotonic() + 30
    while of_server() and time.monotonic() < until:
        time.sleep(0.01)
    assert not of_server()


def test_few_files_are_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    for files, most in ((64, 8), (1_024, 64), (-1, 64), (16, 4), (1 << 20, 64)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert http_server._most_connections() == most


def test_without_a_file_for_a_connection_it_waits_and_answers_later(server: Server) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with connected(server) as waiting:
        assert asked(server)[0] == 200
        taken = len(os.listdir("/proc/self/fd"))
        later = socket.socket()
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken, limits[1]))
        try:
            later.connect(waiting.getpeername())
            later.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
            time.sleep(0.3)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        later.settimeout(20)
        assert later.recv(100).startswith(b"HTTP/1.0 200")
        later.close()


def test_head_is_get_without_a_body(server: Server) -> None:
    for path in ("/livez", "/readyz", "/metrics", "/status", "/none"):
        status, body, length = asked(server, path)
        assert asked(server, path, "HEAD") == (status, b"", length)
        assert int(str(length)) == len(body)


def test_names_that_were_made_to_lead_here_are_refused(server: Server) -> None:
    for host in ("localhost", "localhost:9464", "127.0.0.1:80", "[::1]:9464", "LOCALHOST."):
        assert asked(server, "/status", Host=host)[0] == 200, host
    for host in ("evil.example", "evil.example:9464", "10.0.0.1", "", "localhost.evil.example"):
        for path in ("/livez", "/status", "/metrics"):
            assert asked(server, path, Host=host)[0] == 403, host
    server.close()
    everywhere = Server("0.0.0.0", 0, Endpoints(lambda: (True, ""), *3 * [lambda: b""]))  # type: ignore[arg-type]
    try:
        everywhere.address = everywhere.address.replace("0.0.0.0", "127.0.0.1")
        assert asked(everywhere, Host="pod.namespace")[0] == 200
    finally:
        everywhere.close()


def test_so_many_are_answered_in_a_second(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who ask more often than that wait, and take no more from the loop."""
    monkeypatch.setattr(http_server, "_MOST_A_SECOND", 50)
    monkeypatch.setattr(http_server, "_AT_ONCE", 5)
    start = time.monotonic()
    for _ in range(30):
        assert asked(server)[0] == 200
    assert time.monotonic() - start > 25 / 50 * 0.9


def test_an_answer_is_for_all_who_ask_meanwhile() -> None:
    now, made = 0.0, 0

    def make() -> bytes:
        nonlocal made
        made += 1
        return b"%d" % made

    ask = SharedAnswer(make, 0.1, lambda: now)
    assert [ask(), ask()] == [b"1", b"1"]
    now = 0.11
    assert ask() == b"2"
