"""Print how a running daemon is: whether it learns, how well, how far behind, and since when that is safe."""

import argparse
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.errors import InputError
from stream_rank.printable import printable

__all__ = ["add", "lines_of", "run"]

_URL = "http://127.0.0.1:9464"
_SECONDS = 10.0
_MOST_BYTES = 64 << 20


def add(parser: argparse.ArgumentParser) -> None:
    """The flags of `status`."""
    parser.add_argument(
        "url", nargs="?", default=_URL, metavar="URL", help=f"the daemon's address ({_URL})"
    )
    parser.add_argument("--json", action="store_true", help="print /status as it is")


def run(given: argparse.Namespace) -> int:
    """Print the status; an `InputError` if there is none."""
    base = given.url if "://" in given.url else f"http://{given.url}"
    base = base.rstrip("/").removesuffix("/status")
    code, said = _asked(f"{base}/status")
    try:
        status = json.loads(said) if code == ExitCode.DONE else None
    except (ValueError, RecursionError):
        status = None
    standing_by = isinstance(status, dict) and "standing_by" in status
    if not isinstance(status, dict) or not (standing_by or "learners" in status):
        words = said.decode(errors="replace").strip()[:200]
        raise InputError(f"{base} gives no status of a daemon: {words or code}")
    if given.json:
        print(json.dumps(status, indent=2))
        return ExitCode.DONE
    _, live = _asked(f"{base}/livez")
    ready, why = _asked(f"{base}/readyz")
    if standing_by:
        state = "ready" if ready == ExitCode.DONE else "NOT READY"
        print(printable(f"{state}: {_line(why)}; {_line(live)}"))
        print(printable(f"snapshot: {status.get('snapshot') or 'none was read yet'}"))
        return ExitCode.DONE
    from rich.console import Console

    from stream_rank.cli.standings import of_summary, table_of, verdict

    try:
        lines = list(lines_of(status, ready == ExitCode.DONE, *map(_line, (why, live))))
        standings = of_summary(status)
        for line in lines:
            print(printable(line))
        Console(highlight=False).print(table_of(standings))
        for line in verdict(standings):
            print(printable(line))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{base} is of another version of stream-rank: {error!r}") from None
    return ExitCode.DONE


def _line(said: bytes) -> str:
    return said.decode(errors="replace").strip()


def _asked(url: str) -> tuple[int, bytes]:
    """What the daemon says: 0 or the status of the answer, and the answer; an `InputError` if there is no daemon."""
    opener = build_opener(ProxyHandler({}))  # it is near, and no proxy's business
    try:
        with opener.open(Request(url), timeout=_SECONDS) as answer:
            return ExitCode.DONE, answer.read(_MOST_BYTES)
    except HTTPError as error:
        return error.code, error.read(_MOST_BYTES)
    except (URLError, OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise InputError(
            f"{url} does not answer: {getattr(reason, 'strerror', None) or reason}; is the daemon running, and that its `host` and "
            f"`port`?"
        ) from None


def lines_of(status: Mapping[str, Any], ready: bool, why: str, live: str) -> Iterator[str]:
    """What stands above the table of learners."""
    yield f"{'ready' if ready else 'NOT READY'}: {why}; {live}"
    counts = ", ".join(
        f"{status[name]:,} {name}"
        for name in ("learned", "requests", "labels", "skipped", "rejects", "waiting", "dropped")
        if status.get(name)
    )
    yield f"{status['events']:,} records: {counts or 'none learned yet'}"
    if status.get("rejects"):
        for each in status["reject_reasons"]:
            yield f"{each['records']:>12,}  rejected: {each['example']}"
    behind = status["lag"]
    lag = f"{sum(behind.values()):,} messages behind" if behind else "how far behind is not known"
    yield f"{lag}; partitions {', '.join(status['assigned']) or 'none'}; {status['rebalances']:,} rebalances"
    left = status.get("dropped_features")
    yield f"{status['features']:,} features" + (
        f", {left:,} times one was left out" if left else ""
    )
    late = status.get("catching_up")
    if late:
        left = "" if late["behind"] is None else f", {late['behind']:,} messages behind"
        failed = (
            f"; it failed {late['failures']:,} times: {late['failed']}" if late["failures"] else ""
        )
        yield f"catching up: {', '.join(late['learners'])}, {late['records']:,} records learned{left}{failed}"
    yield f"snapshot: {status['snapshot'] or 'none of this process yet'}"
