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
from rich.table import Table

from stream_rank.cli.wording import with_flags
from stream_rank.runtime.replay import Replay

__all__ = ["Show"]

_LIVE_PERIOD = 0.25
_LARGE = 1e6
_OUTCOMES = {
    "requests": "without a label",
    "labels": "labels of events before",
    "skipped": "outside of --from and --to",
    "waiting": "still waiting for a label",
    "dropped": "dropped before their label came (--delay)",
}
_LINE_PERIOD = 10.0
"""Seconds between two progress lines if standard error is not a terminal."""


class Show:
    """Progress on standard error: a bar and a table on a terminal, otherwise lines. Results on standard output."""

    def __init__(self, quiet: bool, as_json: bool, flags: Mapping[str, str]) -> None:
        """`flags` by setting, for messages that name settings."""
        self._quiet, self._json, self._flags = quiet, as_json, flags
        self._error = Console(stderr=True, highlight=False)
        self._out = Console(highlight=False)
        self._last = 0.0
        self._live: Live | None = None

    def warn(self, text: str) -> None:
        """Print a warning."""
        self._error.print(
            with_flags(text, self._flags), style="yellow", markup=False, soft_wrap=True
        )

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
            self._live.update(Group(self._bar, _losses(replay)))
        else:
            done = "" if share is None else f"{share:.0%}, "
            print(done + text, file=sys.stderr, flush=True)

    def result(self, summary: Mapping[str, Any], out: Path) -> None:
        """Print the result: a table, or the summary as JSON."""
        if self._json:
            print(json.dumps(summary, indent=2))
            return
        table = _table()
        for name, found in summary["learners"].items():
            kind = "rank" if "rank_loss" in found else "magnitude"
            if found["events"] or not found["preferences"]:
                losses = found[f"{kind}_loss"], found[f"recent_{kind}_loss"]
                table.add_row(name, kind, *map(_shown, losses))
            if found["preferences"]:
                losses = found["preference_error"], found["recent_preference_error"]
                table.add_row(name, "preference", *map(_shown, losses))
        self._out.print(table)
        if self._quiet:
            return
        rate = summary["events_per_second"]
        speed = f" at {rate:,} a second" if rate else ""
        parts = [f"{summary['learned']:,} learned"]
        parts += [
            f"{summary[name]:,} {words}" for name, words in _OUTCOMES.items() if summary[name]
        ]
        if summary["rejects"]:
            parts.append(f"{summary['rejects']:,} rejected ({out / 'rejects.jsonl'})")
        print(f"{summary['events']:,} records{speed}: {', '.join(parts)}")
        print(f"curves, confusion and weights: {out / 'report.html'}")


def _shown(loss: float | None) -> str:
    if loss is None:
        return "-"
    return f"{loss:.4f}" if loss < _LARGE else f"{loss:.3e}"


def _table() -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("learner", overflow="fold")
    for title in ("loss of", "so far", "lately"):
        table.add_column(title, justify="right")
    return table


def _losses(replay: Replay) -> Table:
    table = _table()
    for name, board in replay.learning.scoreboard.boards.items():
        kind, preferences = "rank" if board.ranks else "magnitude", board.preferences
        if board.events or not preferences.events:
            table.add_row(name, kind, _shown(board.loss), _shown(board.recent_loss))
        if preferences.events:
            losses = preferences.error, preferences.recent_error
            table.add_row(name, "preference", *map(_shown, losses))
    return table
