"""The HTTP server for `/livez`, `/readyz`, `/metrics` and `/status`, on threads beside the loop.

Whoever can connect can take a thread and a file for each connection, and a daemon without files loses Kafka and its snapshots. So
there are some tens of connections at most, never more than a part of the files that the process may have. For one more, the oldest
is closed: who asks gets an answer, however many others are connected and ask nothing. And all of them together are answered so many
times a second at most: a request takes some half a millisecond from the loop, whatever it asks for.
"""

import ipaddress
import logging
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any, NamedTuple

from stream_rank.errors import ConfigError

__all__ = ["Endpoints", "Server"]

logger = logging.getLogger(__name__)

_TEXT, _JSON = "text/plain; charset=utf-8", "application/json"
_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_TIMEOUT_SECONDS = 10.0
"""Timeout of a connection, in seconds."""
_MOST_CONNECTIONS, _SHARE_OF_FILES = 64, 8
"""At most so many connections, and one for so many files that the process may have; probes and Prometheus need a handful."""
_MOST_A_SECOND, _AT_ONCE = 150, 40
"""Requests answered in a second, and at once after a pause; those beyond wait in the system's queue, for a second at most."""
_NO_FILE_SECONDS = 0.1
"""How long to wait where there is no file for a connection: it stays in the queue, and asking again at once would take a processor."""


class Endpoints(NamedTuple):
    """The functions behind the endpoints; they are called from the server's threads."""

    live: Callable[[], tuple[bool, str]]
    ready: Callable[[], tuple[bool, str]]
    metrics: Callable[[], bytes]
    status: Callable[[], str | None]
    """The status as JSON; None if the loop does not answer in time."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_SECONDS
    server_version = "stream-rank"
    sys_version = ""
    endpoints: Endpoints
    local: bool
    """Whether the server is for this machine alone."""

    def do_HEAD(self) -> None:
        """Answer a request without the body."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer a request."""
        if self.local and not _is_loopback(_host_in(self.headers.get("Host", "localhost"))):
            # a page of another site, whose name was made to lead here, must not read what is for this machine
            self._answer(403, _TEXT, b"the server answers to the names of this machine alone\n")
            return
        path, ask = self.path.partition("?")[0], self.endpoints
        if path in ("/livez", "/readyz"):
            good, words = ask.live() if path == "/livez" else ask.ready()
            self._answer(200 if good else 503, _TEXT, f"{words}\n".encode())
        elif path == "/metrics":
            self._answer(200, _METRICS, ask.metrics())
        elif path == "/status":
            status = ask.status()
            if status is None:
                self._answer(503, _TEXT, b"the loop does not answer; see /livez\n")
            else:
                self._answer(200, _JSON, status.encode() + b"\n")
        else:
            self._answer(404, _TEXT, b"there are /livez, /readyz, /metrics and /status\n")

    def _answer(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Do not log requests."""


def _host_in(header: str) -> str:
    """The host of a `Host` header, without the port.

    >>> _host_in("[::1]:9464"), _host_in("localhost:9464"), _host_in("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if ":" in header else header


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine, for itself.

    >>> [_is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "evil.example")]
    [True, True, True, False, False]
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _most_connections() -> int:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    share = _MOST_CONNECTIONS if files < 0 else files // _SHARE_OF_FILES  # -1 is no limit
    return max(4, min(_MOST_CONNECTIONS, share))


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        self._most = _most_connections()
        self._open: dict[int, socket.socket] = {}  # the oldest first
        self._lock = threading.Lock()
        self._due = 0.0
        super().__init__(address, handler)

    def get_request(self) -> Any:
        """Take a connection, when it is its turn."""
        now = time.monotonic()
        self._due = max(self._due + 1 / _MOST_A_SECOND, now - _AT_ONCE / _MOST_A_SECOND)
        if self._due > now:
            time.sleep(self._due - now)
        try:
            return super().get_request()
        except OSError:
            time.sleep(_NO_FILE_SECONDS)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection on a thread of its own, and end the oldest if there are too many."""
        with self._lock:
            too_many = len(self._open) >= 2 * self._most
            if not too_many:
                self._open[id(request)] = request
                for old in islice(self._open.values(), max(0, len(self._open) - self._most)):
                    with suppress(OSError):
                        old.shutdown(socket.SHUT_RDWR)  # its thread finds the end, and closes it
        if too_many:  # those that were ended are not gone yet
            super().shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._open.pop(id(request), None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection, such as a client that disconnected; log all others."""
        if not isinstance(sys.exception(), OSError):
            logger.exception("a request could not be answered")


class _HttpServerV6(_HttpServer):
    address_family = socket.AF_INET6


class Server:
    """Serves until it is closed."""

    def __init__(self, host: str, port: int, endpoints: Endpoints) -> None:
        handler = type("Handler", (_Handler,), {"local": _is_loopback(host)})
        self._handler: Any = handler
        self.serve(endpoints)
        try:
            kind = _HttpServerV6 if ":" in host else _HttpServer
            self._server = kind((host, port), handler)
        except OSError as error:
            raise ConfigError(
                f"`host` {host} `port` {port}: {error.strerror or error}; port 0 takes a free one"
            ) from None
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True, name="http")
        self._thread.start()

    def serve(self, endpoints: Endpoints) -> None:
        """Answer by other functions from now on."""
        self._handler.endpoints = endpoints

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
