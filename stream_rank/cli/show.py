"""The terminal output of a replay: progress, and the result."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from stream_rank.cli.standings import beside_table, of_summary, table_of, verdict
from stream_rank.cli.wording import with_flags
from stream_rank.evaluation.hindsight import in_hindsight
from stream_rank.evaluation.searching import in_search
from stream_rank.printable import printable
from stream_rank.runtime.replay import Replay

__all__ = ["Show"]

_LIVE_PERIOD = 0.25
_WIDTH = 120
"""Of tables in a file or a pipe, which has no width of its own."""
_OUTCOMES = {
    "requests": "without a label",
    "labels": "labels of events before",
    "skipped": "outside of --from and --to, or deletions",
    "waiting": "still waiting for a label",
    "dropped": "dropped before their label came (--delay)",
}
_MANY_REJECTS = 0.01
"""The share of rejects from which on the result says why."""
_LINE_PERIOD = 10.0
"""Seconds between two progress lines if standard error is not a terminal."""


class Show:
    """Progress on standard error: a bar and a table on a terminal, otherwise lines. Results on standard output."""

    def __init__(self, quiet: bool, as_json: bool, flags: Mapping[str, str]) -> None:
        """`flags` by setting, for messages that name settings."""
        self._quiet, self._json, self._flags = quiet, as_json, flags
        self._error = Console(stderr=True, highlight=False)
        terminal = sys.stdout.isatty()
        self._out = Console(highlight=False, width=None if terminal else _WIDTH)
        self._last = 0.0
        self._live: Live | None = None

    def warn(self, text: str) -> None:
        """Print a warning."""
        self._error.print(
            printable(with_flags(text, self._flags)), style="yellow", markup=False, soft_wrap=True
        )

    def note(self, text: str) -> None:
        """Print what is good to know, unless nothing is to be printed."""
        if not self._quiet:
            print(printable(with_flags(text, self._flags)), file=sys.stderr)

    @contextmanager
    def live(self) -> Iterator[None]:
        """Show the progress of a run."""
        if self._quiet or not self._error.is_terminal:
            self._last = time.monotonic()
            yield
            return
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=self._error,
        )
        self._task = self._bar.add_task("starting; the first run compiles the engine", total=1.0)
        with Live(console=self._error, refresh_per_second=4, transient=True) as self._live:
            yield
        self._live = None

    def tick(self, replay: Replay) -> None:
        """Update the progress, if the period has passed."""
        now = time.monotonic()
        if self._quiet or now - self._last < (_LIVE_PERIOD if self._live else _LINE_PERIOD):
            return
        self._last = now
        progress, rate = replay.learning.progress, replay.learning.rate
        share = replay.source.progress(progress.position)
        counts = progress.counts
        text = f"{counts.records:,} records, {counts.rejects:,} rejects"
        if rate.seconds > 0:
            text += f", {rate.per_second:,.0f}/s"
        if self._live is not None:
            self._bar.update(self._task, description=text, completed=share or 0.0)
            table = table_of(replay.learning.scoreboard.standings)
            self._live.update(Group(self._bar, table))
        else:
            done = "" if share is None else f"{share:.0%}, "
            print(done + text, file=sys.stderr, flush=True)

    def result(self, summary: Mapping[str, Any], out: Path, comparing: bool = False) -> None:
        """Print the result: a table, or the summary as JSON; the table is of how learners compare if that is what was asked."""
        if self._json:
            print(json.dumps(summary, indent=2))
            return
        standings = of_summary(summary)
        beside = summary.get("comparison", [])
        self._out.print(beside_table(beside) if comparing and beside else table_of(standings))
        if self._quiet:
            return
        told = [*summary.get("recommendation", []), *in_search(summary.get("searches", []))]
        told += in_hindsight(summary.get("hindsight", {}))
        for sentence in (*verdict(standings), *told):
            print(printable(sentence))
        rate = summary["events_per_second"]
        speed = f" at {rate:,} a second" if rate else ""
        parts = [f"{summary['learned']:,} learned"]
        parts += [
            f"{summary[name]:,} {words}" for name, words in _OUTCOMES.items() if summary[name]
        ]
        if summary["rejects"]:
            parts.append(f"{summary['rejects']:,} rejected ({out / 'rejects.jsonl'})")
        print(printable(f"{summary['events']:,} records{speed}: {', '.join(parts)}"))
        if summary["rejects"] > _MANY_REJECTS * summary["events"]:
            print("rejected most often:")
            for each in summary["reject_reasons"]:
                print(printable(f"{each['records']:>12,}  {each['example']}"))
        print(printable(f"curves, confusion and weights: {out / 'report.html'}"))
