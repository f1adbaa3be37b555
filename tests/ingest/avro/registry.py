"""A schema registry of a few lines, which answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["TinyRegistry", "tiny_registry"]


class TinyRegistry:
    """`answers` has status and content by path; what is not there is not known. `asked` has path and login of all requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, tuple[int, Any]] = {}
        self.asked: list[tuple[str, str | None]] = []

    def put(self, number: int, schema: Any, **more: Any) -> None:
        self.answers[f"/schemas/ids/{number}"] = 200, {"schema": json.dumps(schema), **more}


@contextmanager
def tiny_registry(port: int = 0) -> Iterator[TinyRegistry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append((self.path, self.headers["Authorization"]))
            code, content = registry.answers.get(
                self.path, (404, {"error_code": 40403, "message": "Schema not found"})
            )
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(code)
            if code == 302:
                self.send_header("Location", content["to"])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        registry = TinyRegistry(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()
