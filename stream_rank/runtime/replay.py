"""A replay: files through the loop, into a folder of results."""

import csv
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from stream_rank.codec.timestamps import FIRST, LAST, written
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import InputError, TooManyRejectsError, WriteError
from stream_rank.ingest.files.open_source import open_source
from stream_rank.pipeline.pace import Pace
from stream_rank.runtime.learning_run import Run, as_json
from stream_rank.runtime.run_control import RunControl
from stream_rank.sinks.journal import Journal
from stream_rank.sinks.predictions import PredictionFile
from stream_rank.sinks.rejects import RejectFile, RejectLimit

__all__ = ["Replay"]


class Replay(Run):
    """One run: `run` goes through the inputs, `finish` writes what is to be seen."""

    config: ReplayConfig

    def __init__(
        self, config: ReplayConfig, warn: Callable[[str], None], asked: RunControl | None = None
    ) -> None:
        self.source = open_source(
            config.inputs, config.format, config.columns.mapping(), config.follow
        )
        self._limit = RejectLimit(config.max_reject_ratio)
        self._reject_file = RejectFile(Journal(config.out / "rejects.jsonl"))
        predictions = PredictionFile(Journal(config.out / "predictions.jsonl"))
        super().__init__(
            config,
            config.resume,
            self._reject_file,
            predictions.put,
            {"rejects": self._reject_file.journal, "predictions": predictions.journal},
            warn,
            asked,
        )

    def _times(self) -> tuple[tuple[int, int] | None, Pace | None]:
        config = self.config
        between = None
        if config.from_ is not None or config.to is not None:
            first = FIRST if config.from_ is None else config.from_
            between = (first, LAST if config.to is None else config.to)
        return between, None if config.speed is None else Pace(config.speed)

    def run(self, show: Callable[[], None] = lambda: None) -> None:
        """Go through the inputs, until their end or until somebody wants to stop."""
        loop, start = self.loop, time.monotonic()
        try:
            for _ in self._steps():
                self.keeper.tick()
                self.passed(time.monotonic() - start)
                show()
                if self.asked.stop_requested or loop.ended:
                    break
            self.keeper.write()
            self._check_rejects(ended=True)
            self._check_sense()
        except InputError:
            self.keeper.write()  # what was learned so far is not lost
            raise
        except OSError as error:
            raise WriteError(
                f"{self.config.out} cannot be written: {error}; free some space and go on with --resume"
            ) from error
        finally:
            self.seconds = time.monotonic() - start

    def _steps(self) -> Iterator[None]:
        """Learn, coming up for air after every portion, and when nothing came for a moment."""
        if self.loop.ended:
            return
        for chunk in self.source.chunks(self.loop.position):
            if chunk is None:
                yield
                continue
            for _ in self.loop.take(chunk):
                self._check_rejects()
                yield

    def _check_sense(self) -> None:
        """Say so if what was asked for does not fit what came."""
        counts, loop = self.loop.counts, self.loop
        if counts.skipped and not counts.taken:
            self._warn(f"none of {counts.skipped:,} events has a time (ts) between --from and --to")
        elif loop.untimed:
            self._warn(
                f"{loop.untimed:,} events without a time (ts) were left out by --from and --to"
            )
        if self.config.speed is not None and loop.time is None and counts.taken:
            self._warn("no event has a time (ts): --speed had nothing to go by")
        if counts.requests and not counts.learned and not self.config.delay:
            self._warn(
                f"none of {counts.requests:,} events has a label (y), so nothing was learned; "
                "--columns y=NAME says which column of a table it is"
            )
        for each in self.contestants:
            board = loop.scoreboard.boards[each.name]
            if counts.learned and not board.events and each.name in self.foreign:
                self._warn(f"{each.name} learned nothing: River's estimators learn no preferences")

    def _check_rejects(self, ended: bool = False) -> None:
        counts = self.loop.counts
        if self._limit.exceeded(counts.rejects, counts.records, ended):
            self.keeper.write()
            raise TooManyRejectsError(
                f"{counts.rejects:,} of {counts.records:,} records were rejected, more than "
                f"--max-reject-ratio {self._limit.ratio:g} allows; see {self._reject_file.journal.path}"
            )
        if ended and counts.rejects and not counts.taken and not counts.skipped:
            raise TooManyRejectsError(
                f"not one of {counts.records:,} records was an event; the first: {self._first_reason()} "
                f"(all of them: {self._reject_file.journal.path})"
            )

    def _first_reason(self) -> str:
        with self._reject_file.journal.path.open("rb") as file:
            return str(json.loads(file.readline())["reason"])

    def finish(self) -> dict[str, Any]:
        """Write the curve, the report and the summary; the summary."""
        from stream_rank.report.html import report  # not needed while it runs

        self.loop.scoreboard.mark(self.loop.time)
        summary, out = self.summary(), self.config.out
        try:
            with (out / "curve.csv").open("w", newline="") as file:
                table = csv.writer(file)
                table.writerow(["learner", "events", "time", "loss", "recent_loss"])
                for name, board in self.loop.scoreboard.boards.items():
                    for point in board.points:
                        moment = "" if point["time"] is None else written(point["time"])
                        table.writerow(
                            [name, point["events"], moment, point["loss"], point["recent"]]
                        )
            (out / "summary.json").write_text(as_json(summary, indent=2) + "\n")
            page = report(summary, self.loop.scoreboard)
            (out / "report.html").write_bytes(page.encode(errors="replace"))
        except OSError as error:
            raise WriteError(f"{out} cannot be written: {error}") from error
        return summary
