"""Lines for people or for machines, about what happens: not about every event, but every so often about all of them."""

import json
import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

__all__ = ["ClientLog", "Level", "Log"]

Level = Literal["info", "warning", "error"]
_HIDDEN = "***"
_IN_URL = re.compile(r"(\w://)[^/@\s]+@")


class Log:
    """A line for everything that is said, with its time; as JSON, or as text.

    >>> log = Log("text", sys.stdout, now=lambda: datetime(2026, 1, 31, tzinfo=UTC), secrets=["geheim"])
    >>> log.say("info", "begun", topics="ratings", password="geheim")
    2026-01-31T00:00:00.000Z info    begun  topics=ratings password=***
    """

    def __init__(
        self,
        form: Literal["json", "text"] | None = None,
        out: TextIO | None = None,
        secrets: Sequence[str] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`secrets` are never written, wherever they stand."""
        self._out = out or sys.stderr
        self._json = form == "json" or (form is None and not self._out.isatty())
        self._secrets = {
            form for secret in secrets for form in (secret, json.dumps(secret)[1:-1]) if form
        }
        self._now = now
        self._lock = threading.Lock()
        self.client_warnings = 0
        """Of Kafka's client, said or not."""

    def say(self, level: Level, event: str, **fields: Any) -> None:
        """Write a line."""
        moment = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._json:
            line = json.dumps(
                {"time": moment, "level": level, "event": event, **fields}, default=str
            )
        else:
            more = " ".join(f"{name}={value}" for name, value in fields.items())
            line = f"{moment} {level:7} {event}" + (f"  {more}" if more else "")
        line = self.hidden(line)
        with self._lock:
            print(line, file=self._out, flush=True)

    def hidden(self, text: str) -> str:
        """A text without the secrets, and without what stands before an @ in URLs."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return _IN_URL.sub(rf"\1{_HIDDEN}@", text)

    def info(self, event: str) -> None:
        """Say that something happened."""
        self.say("info", event)

    def warning(self, event: str) -> None:
        """Say that something should be looked at."""
        self.say("warning", event)


_VARYING = re.compile(r"0x[0-9a-f]+|\d+")
_WORDS, _KINDS = 80, 1_000
"""Letters by which two warnings are told apart, and how many are."""


class ClientLog(logging.Handler):
    """What Kafka's clients log: warnings of one kind are counted, and written once in a while."""

    _PERIOD = 60.0
    """Seconds before the same is said again."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._last: dict[tuple[str, str], tuple[float, int]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Take what a client logs."""
        self._log.client_warnings += 1
        now, words = time.monotonic(), _VARYING.sub("", str(record.msg))
        kind = (record.name, words[:_WORDS])
        if len(self._last) >= _KINDS:
            self._last.clear()
        said, times = self._last.get(kind, (-self._PERIOD, 0))
        if now - said < self._PERIOD:
            self._last[kind] = said, times + 1
            return
        self._last[kind] = now, 0
        more = {"times": times} if times else {}
        self._log.say("warning", record.getMessage(), client=record.name, **more)
