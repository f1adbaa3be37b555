"""The HTTP server for `/livez`, `/readyz`, `/metrics` and `/status`, on threads beside the loop."""

import logging
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from stream_rank.errors import ConfigError

__all__ = ["Endpoints", "Server"]

logger = logging.getLogger(__name__)

_TEXT, _JSON = "text/plain; charset=utf-8", "application/json"
_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_TIMEOUT_SECONDS = 10.0
"""Timeout of a connection, in seconds."""


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

    def do_GET(self) -> None:
        """Answer a request."""
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
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Do not log requests."""


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection, such as a client that disconnected; log all others."""
        if not isinstance(sys.exception(), OSError):
            logger.exception("a request could not be answered")


class _HttpServerV6(_HttpServer):
    address_family = socket.AF_INET6


class Server:
    """Serves until it is closed."""

    def __init__(self, host: str, port: int, endpoints: Endpoints) -> None:
        handler = type("Handler", (_Handler,), {"endpoints": endpoints})
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

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
