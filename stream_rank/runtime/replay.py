"""The replay: learns from files, and writes the results to a folder."""

import csv
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from stream_rank.config.replay import ReplayConfig
from stream_rank.contestants.contestant import Contestant
from stream_rank.errors import (
    InputError,
    NothingLearnedError,
    TooManyRejectsError,
    WriteError,
    cause_of,
)
from stream_rank.evaluation.baseline import COIN_LOSS
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.comparison import Compared, as_row, compared, recommendation
from stream_rank.evaluation.standing import complaint, skill_of
from stream_rank.ingest.files.open_source import open_source
from stream_rank.ingest.source import Source
from stream_rank.ingest.timestamps import FIRST, LAST, written
from stream_rank.pipeline.halving import Halving
from stream_rank.pipeline.label_order import LabelOrder
from stream_rank.pipeline.pace import Pace
from stream_rank.pipeline.run_control import RunControl
from stream_rank.pipeline.stage import Stage
from stream_rank.pipeline.time_filter import TimeFilter
from stream_rank.runtime.learning_run import open_run
from stream_rank.runtime.summary import as_json, summary_of
from stream_rank.sinks.file_sink import FileSink
from stream_rank.sinks.predictions import prediction_line
from stream_rank.sinks.reject_limit import RejectLimit
from stream_rank.sinks.rejects import reject_file
from stream_rank.sinks.sink import Prediction, Sink

__all__ = ["OF_LABELS", "Judge", "Replay"]


_CURVE = {
    "loss": "loss",
    "recent_loss": "recent",
    "preferences": "preferences",
    "preference_error": "preference_error",
    "recent_preference_error": "recent_preference_error",
    "baseline_loss": "baseline",
    "recent_baseline_loss": "recent_baseline",
}
"""Columns of the curve, and what they are in a point."""
_SKILLS = {
    "skill": ("loss", "baseline"),
    "recent_skill": ("recent", "recent_baseline"),
    "preference_skill": ("preference_error", "coin"),
    "recent_preference_skill": ("recent_preference_error", "coin"),
}
"""Columns that are the skill of one thing in a point against another."""


OF_LABELS = re.compile(r"^label .* is not one of the ranks|^(.* \(y\)|y): .* valid number")
"""Reasons of rejects that other `labels` may be behind."""


class Judge(Protocol):
    """Sees all events as they are learned, and says in the end what could have been done."""

    stage: Stage

    def found(self, boards: Mapping[str, Board]) -> dict[str, Any]:
        """What it found, beside the learners' losses."""


class Replay:
    """A learning run on files: `run` reads the inputs, `finish` writes curve, report and summary."""

    def __init__(
        self,
        config: ReplayConfig,
        say: Callable[[str], None],
        control: RunControl | None = None,
        *,
        source: Source | None = None,
        contestants: Sequence[Contestant] | None = None,
        stages: Sequence[Stage] = (),
        predictions: Sink[Prediction] | None = None,
        learner_threads: int = 1,
        judge: Judge | None = None,
        searches: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Given parts replace those of the settings; `stages` come before the pace; so many learners learn at a time.

        Of the learners of each search, by what it was asked for as, the worse go on the way.
        """
        self.config, self._say, self._judge = config, say, judge
        mapping = config.mapping()
        self.source = source or _opened(config)
        self._order = LabelOrder()
        pace = [] if config.speed is None else [Pace(config.speed)]
        halving = self._halving = [
            Halving(
                searches,
                lambda: self.learning.scoreboard.boards,
                lambda names: self.learning.leave(names),
                lambda: self.learning.progress.counts.learned,
            )
            for searches in ([searches] if searches else [])
        ]
        self._limit = RejectLimit(config.max_reject_ratio)
        self._rejects = reject_file(config.out / "rejects.jsonl")
        self.learning = open_run(
            config,
            self.source,
            self._rejects,
            predictions or FileSink(config.out / "predictions.jsonl", prediction_line),
            say,
            resume=config.resume,
            contestants=contestants,
            time_filter=_time_filter(config),
            stages=[*stages, self._order, *pace],
            last_stages=[*([] if judge is None else [judge.stage]), *halving],
            control=control,
            learner_threads=learner_threads,
        )
        if (
            source is None and config.mapping() != mapping
        ):  # what are names it has from the snapshot
            self.source = _opened(config)
        self._learned_before = self.learning.progress.counts.learned

    def __enter__(self) -> "Replay":
        return self

    def __exit__(self, *_: object) -> None:
        self.learning.close()

    def run(self, show: Callable[[], None] = lambda: None) -> None:
        """Read the inputs until their end or a requested stop; `show` is called between batches."""
        learning, start = self.learning, time.monotonic()
        checkpointer, progress = learning.checkpointer, learning.progress
        try:
            for _ in self._steps():
                if checkpointer.due:
                    checkpointer.commit()
                learning.rate.passed(time.monotonic() - start, progress.counts.records)
                show()
                if learning.control.stop_requested or learning.ended:
                    break
            checkpointer.commit()
            # of a stream that was cut short by `max_events` or a signal, the rest may be better
            whole = not (learning.ended or learning.control.stop_requested)
            self._check_rejects(whole)
            self._check_sense()
            self._check_learned(whole)
        except InputError:
            checkpointer.commit()  # keep what was learned so far
            raise
        except OSError as error:
            raise WriteError(
                f"{cause_of(error)}; `resume` goes on from the last snapshot"
            ) from error
        finally:
            learning.rate.seconds = time.monotonic() - start

    def _steps(self) -> Iterator[None]:
        """Learn, and yield after every batch, and when no input is available."""
        if self.learning.ended:
            return
        for chunk in self.source.chunks(self.learning.progress.position):
            if chunk is None:
                yield
                continue
            for _ in self.learning.loop.take(chunk):
                self._check_rejects()
                yield

    def _check_sense(self) -> None:
        """Warn if settings had no effect on the events that came."""
        counts, say, config = self.learning.progress.counts, self._say, self.config
        times = self.learning.time_filter
        if counts.skipped and not counts.taken:
            say(f"none of {counts.skipped:,} events has a time (ts) between `from` and `to`")
        elif times is not None and times.untimed:
            say(f"{times.untimed:,} events without a time (ts) were left out by `from` and `to`")
        if config.speed is not None and self.learning.progress.time is None and counts.taken:
            say("no event has a time (ts): `speed` had no effect")
        if self._order.said is not None:
            say(self._order.said)
        if self.learning.loop.decoder.ids is not None:
            self.learning.loop.decoder.ids.conclude()
        for each in self.learning.contestants:
            board = self.learning.scoreboard.boards[each.name]
            if board.preferences.events or board.events or each.learns_preferences:
                continue
            if counts.learned:
                say(f"{each.name} learned nothing: River's estimators learn no preferences")
        voting = {name for each in self.learning.contestants for name in each.votes_of}
        quiet = voting.difference(self.config.learners)  # their committee knows what they are worth
        standings = self.learning.scoreboard.standings
        worse = [each for each in standings if each[1].worse and each[0] not in quiet]
        for name, standing in worse:
            say(complaint(name, standing))
        if worse:
            say("are the features that decide among those given, and are they scaled?")

    def _check_learned(self, whole: bool) -> None:
        """Raise `NothingLearnedError` if nothing was; of a stream that was cut short it is a warning."""
        problem = self._why_nothing()
        if problem is not None and whole:
            raise NothingLearnedError(problem)
        if problem is not None and self.learning.progress.counts.records:
            self._say(problem)

    def _why_nothing(self) -> str | None:
        """Why nothing was learned, in a sentence; None if something was, or if `from` and `to` left out whatever came."""
        learning, counts = self.learning, self.learning.progress.counts
        if counts.skipped and not counts.taken:
            return None
        if not counts.records:
            return "nothing was learned: there is no event in the inputs"
        if not counts.learned:
            hint = "`fields` y=NAME says which column of a table it is"
            if self.config.delay:
                hint = "one that comes later has the `id` of its event"
            return (
                f"none of {counts.taken:,} events has a label (y), so nothing was learned; {hint}"
            )
        able = any(each.learns_preferences for each in learning.contestants)
        if able or learning.loop.last_ratings is not None:
            return None
        return "nothing was learned: preferences came, and no learner of these learns them"

    def _check_rejects(self, ended: bool = False) -> None:
        counts = self.learning.progress.counts
        nothing_else = ended and not counts.taken and not counts.skipped
        if nothing_else and counts.rejects:
            raise TooManyRejectsError(
                f"not one of {counts.records:,} records was an event; {self._why()}"
            )
        if self._limit.exceeded(counts.rejects, counts.records, ended):
            self.learning.checkpointer.commit()
            raise TooManyRejectsError(
                f"{counts.rejects:,} of {counts.records:,} records were rejected, more than "
                f"`max_reject_ratio` {self._limit.ratio:g} allows; {self._why()}"
            )

    def _why(self) -> str:
        """The reason of most rejects, and an example; all of them are in a file."""
        found = self.learning.loop.reject_counts.reasons.most_frequent(2)
        first, *more = found
        which = f"the first of {first.records:,} alike" if more else "the first"
        labels = ""
        if self.config.labels is None and OF_LABELS.search(first.first):
            labels = "; `labels` says which labels there are, where they are not 1 to N"
        same = "" if more or first.records == 1 else ", and so of all others"
        return f"{which}: {first.first}{same}. It reads: {first.example} (all are in {self._rejects.path}){labels}"

    def summary(self) -> dict[str, Any]:
        """The summary of the run."""
        return summary_of(self.learning)

    def _compared(self) -> list[Compared]:
        learning = self.learning
        times = learning.loop.stopwatch.learners
        events = max(1, learning.progress.counts.learned - self._learned_before)
        # a committee is not to be had without its members
        microseconds = {
            each.name: sum(1e6 * times[name].total / events for name in (each.name, *each.votes_of))
            for each in learning.contestants
        }
        return compared(learning.scoreboard.boards, microseconds)

    def finish(self) -> dict[str, Any]:
        """Write the curve, the report and the summary; returns the summary."""
        from stream_rank.report.html import report  # only needed at the end

        scoreboard, out = self.learning.scoreboard, self.config.out
        scoreboard.mark(self.learning.progress.time)
        summary = self.summary()
        beside = self._compared()
        if len(beside) > 1:
            summary["comparison"] = [as_row(each) for each in beside]
            summary["recommendation"] = recommendation(beside)
        for each in self._halving:
            summary["searches"] = each.told()
        if self._judge is not None:
            summary["hindsight"] = self._judge.found(scoreboard.boards)
        try:
            with (out / "curve.csv").open("w", newline="") as file:
                table = csv.writer(file)
                table.writerow(["learner", "events", "time", *_CURVE, *_SKILLS])
                for name, board in scoreboard.boards.items():
                    for point in board.points:
                        moment = "" if point["time"] is None else written(point["time"])
                        losses = [point[key] for key in _CURVE.values()]
                        known = {**point, "coin": COIN_LOSS}
                        skills = [skill_of(known[a], known[b]) for a, b in _SKILLS.values()]
                        table.writerow([name, point["events"], moment, *losses, *skills])
            (out / "summary.json").write_text(as_json(summary, indent=2) + "\n")
            page = report(summary, scoreboard, beside)
            (out / "report.html").write_bytes(page.encode(errors="replace"))
        except OSError as error:
            raise WriteError(cause_of(error, out)) from error
        return summary


def _opened(config: ReplayConfig) -> Source:
    return open_source(
        config.inputs,
        config.format,
        config.mapping(),
        config.follow,
        config.csv_options(),
    )


def _time_filter(config: ReplayConfig) -> TimeFilter | None:
    if config.from_ is None and config.to is None:
        return None
    return TimeFilter(
        FIRST if config.from_ is None else config.from_, LAST if config.to is None else config.to
    )
