"""Logging: JSON and text formatters, redaction of secrets, and throttling of the Kafka clients' warnings.

The package logs to loggers below `stream_rank` and configures none, since a host application has its own handlers.
The command line calls `configure`.
"""

import json
import logging
import re
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from stream_rank.printable import printable

__all__ = ["ClientWarnings", "JsonFormatter", "Redaction", "TextFormatter", "configure"]

_HIDDEN = "***"
_IN_URL = re.compile(r"(\w://)[^/@\s]+@")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""The attributes of every record; all others were given as `extra`."""
_OWN, _CLIENTS = "stream_rank", ("kafka", "confluent")


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """The fields given as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonFormatter(logging.Formatter):
    """One line of JSON per record: time, level, event, logger, the `extra` fields, and the traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        elif record.exc_text:
            line["exception"] = record.exc_text
        return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """One line of text per record, followed by the traceback if any; JSON writes control characters out by itself."""

    def format(self, record: logging.LogRecord) -> str:
        """The line.

        >>> record = logging.makeLogRecord({"msg": "started", "levelname": "INFO", "created": 0.0, "topics": "ratings"})
        >>> TextFormatter().format(record)
        '1970-01-01T00:00:00.000Z info    started  topics=ratings'
        """
        more = printable(" ".join(f"{name}={value}" for name, value in _fields(record).items()))
        line = f"{_moment(record)} {record.levelname.lower():7} {printable(record.getMessage())}"
        line += f"  {more}" if more else ""
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        trace = "\n".join(map(printable, (record.exc_text or "").splitlines()))
        return f"{line}\n{trace}" if trace else line


class Redaction(logging.Filter):
    """Masks secrets anywhere in a record, and credentials in URLs."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = {
            form for secret in secrets for form in (secret, json.dumps(secret)[1:-1]) if form
        }

    def hidden(self, text: str) -> str:
        """The text with secrets masked.

        >>> Redaction(["geheim"]).hidden("password geheim, https://me:too@host/x")
        'password ***, https://***@host/x'
        """
        for secret in sorted(self._secrets, key=len, reverse=True):  # one may be part of another
            text = text.replace(secret, _HIDDEN)
        return _IN_URL.sub(rf"\1{_HIDDEN}@", text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask secrets in the record for all handlers; every record passes."""
        record.msg, record.args = self.hidden(record.getMessage()), ()
        for name, value in _fields(record).items():
            setattr(record, name, self._hidden_in(value))
        if record.exc_info:
            record.exc_text = self.hidden(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True

    def _hidden_in(self, value: Any) -> Any:
        if isinstance(value, int | float | bool) or value is None:
            return value
        if isinstance(value, dict):
            return {self.hidden(str(key)): self._hidden_in(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._hidden_in(inner) for inner in value]
        return self.hidden(str(value))


_VARYING = re.compile(r"0x[0-9a-f]+|\d+")
_COMPARED, _MOST_KINDS = 80, 1_000
"""Characters of a warning that are compared, and the most kinds that are remembered."""


class ClientWarnings(logging.Filter):
    """Counts the warnings of Kafka's clients, and throttles those of the same kind."""

    _PERIOD = 60.0
    """Seconds before a warning of the same kind passes again."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        """All warnings, passed or not."""
        self._last: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record passes; its field `times` is the number of suppressed ones before it."""
        self.count += 1
        now, words = time.monotonic(), _VARYING.sub("", str(record.msg))
        kind = (record.name, words[:_COMPARED])
        if len(self._last) >= _MOST_KINDS:
            self._last.clear()
        passed, more = self._last.get(kind, (-self._PERIOD, 0))
        if now - passed < self._PERIOD:
            self._last[kind] = passed, more + 1
            return False
        self._last[kind] = now, 0
        if more:
            record.times = more
        if (
            record.exc_info and record.exc_info[1] is not None
        ):  # tracebacks of a client tell nobody anything
            record.msg, record.args = f"{record.getMessage()}: {record.exc_info[1]!r}", ()
            record.exc_info = None
        return True


def configure(
    form: Literal["json", "text"] | None = None,
    secrets: Sequence[str] = (),
    out: TextIO | None = None,
) -> tuple[Redaction, ClientWarnings]:
    """Log to standard error, as JSON unless it is a terminal or `form` says otherwise; returns the filters."""
    stream = out or sys.stderr
    as_json = form == "json" or (form is None and not stream.isatty())
    redaction, warnings = Redaction(secrets), ClientWarnings()
    for names, filters, level in (
        ((_OWN,), (redaction,), logging.INFO),
        (_CLIENTS, (warnings, redaction), logging.WARNING),
    ):
        handler = logging.StreamHandler(stream)
        handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
        handler.setLevel(level)
        for each in filters:
            handler.addFilter(each)
        for name in names:
            logger = logging.getLogger(name)
            logger.handlers[:] = [handler]
            logger.propagate = False
    logging.getLogger(_OWN).setLevel(logging.INFO)
    return redaction, warnings
