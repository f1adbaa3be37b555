"""The table: learners beside rating systems on the last half of the matches, each match foretold before it is learned."""

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from simulators.football import learner
from simulators.football.forecasts import Forecasts, fitted
from simulators.football.matches import Matches, load, log_loss, misordered
from simulators.football.peers import elo, glicko, weng_lin

__all__ = ["BARS", "Row", "add", "report", "rows", "run"]

BARS = {False: 0.232, True: 0.225}
"""How much may be misordered by the project's learner, by who won and by how many goals."""


class Row(NamedTuple):
    """A line of the table; `goals` where it learns by how many goals a match was won."""

    name: str
    goals: bool
    ours: bool
    misordered: float
    log_loss: float
    own_log_loss: float | None
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether more is misordered than may be."""
        return self.ours and self.misordered > BARS[self.goals]


def _library(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _told(text: str = "") -> None:
    """Say on a terminal what is under way; without a text, clear the line for what is printed next."""
    if sys.stderr.isatty():
        shown = f"{text} ..." if text else ""
        print(f"\033[K{shown}", end="\r", file=sys.stderr, flush=True)


def _measured(
    matches: Matches, name: str, goals: bool, run: Callable[[], Forecasts], ours: bool = False
) -> Row:
    """The losses of a run, and how long it took."""
    _told(name)
    began = time.perf_counter()
    found = run()
    seconds = time.perf_counter() - began
    part = matches.last_half
    return Row(
        name,
        goals,
        ours,
        misordered(matches, found.leads, part),
        log_loss(matches, found.chances, part),
        None if found.own is None else log_loss(matches, found.own, part),
        seconds,
    )


def _ours(matches: Matches, goals: bool) -> Row:
    _told(f"RecursiveMPRank, one of {len(learner.settings())} settings")
    chosen = learner.choose(matches, goals)
    name = f"RecursiveMPRank, forgetting {chosen.forgetting:g}, regularization {chosen.regularization:g}"
    return _measured(
        matches, name, goals, lambda: learner.forecasts(matches, chosen, goals), ours=True
    )


def _elo(matches: Matches, goals: bool) -> Row:
    _told("Elo, one of its settings")
    chosen = elo.choose(matches, goals)
    name = f"Elo, K {chosen.k:g}, home {chosen.home:g}"
    penaltyblog = _library("penaltyblog.ratings") and _library("penaltyblog")
    if penaltyblog is None:
        return _measured(
            matches,
            f"{name} (five lines)",
            goals,
            lambda: fitted(matches, elo.forecasts(matches, chosen, goals)),
        )
    return _measured(
        matches,
        f"{name} (penaltyblog)",
        goals,
        lambda: elo.by_library(penaltyblog, matches, chosen, goals),
    )


def rows(matches: Matches) -> Iterator[Row | str]:
    """The lines of the table, and a sentence for each library that is not installed.

    Cost: some 30 s for fifty thousand matches, most of it for choosing the learner's settings.
    """
    yield _ours(matches, goals=False)
    yield _elo(matches, goals=False)
    glicko2 = _library("glicko2")
    if glicko2 is None:
        yield "Glicko-2 is left out: pip install glicko2"
    else:
        yield _measured(
            matches, "Glicko-2 (glicko2)", False, lambda: glicko.forecasts(glicko2, matches)
        )
        _told("Glicko-2, one of its settings")
        home = glicko.choose(glicko2, matches)
        yield _measured(
            matches,
            f"the same, home {home:g}",
            False,
            lambda: glicko.forecasts(glicko2, matches, home),
        )
    openskill = _library("openskill.models") and _library("openskill")
    if openskill is None:
        yield "Weng-Lin is left out: pip install openskill"
    else:
        yield _measured(
            matches, "Weng-Lin (openskill)", False, lambda: weng_lin.forecasts(openskill, matches)
        )
        yield _measured(
            matches,
            "the same, home a team-mate",
            False,
            lambda: weng_lin.forecasts(openskill, matches, ground=True),
        )
    yield _ours(matches, goals=True)
    yield _elo(matches, goals=True)


def _line(row: Row) -> str:
    asked = f"{BARS[row.goals]:.3f}" if row.ours else ""
    own = "" if row.own_log_loss is None else f"{row.own_log_loss:.3f}"
    mark = "!" if row.failed else " "
    return (
        f"{row.name:58}{row.misordered:10.4f}{mark}{asked:>8}{row.log_loss:10.3f}{own:>9}"
        f"{row.seconds:9.1f}"
    )


def report(matches: Matches) -> int:
    """Print the table; 1 if the learner misorders more than it may."""
    part, outcomes = matches.last_half, matches.outcome
    print(
        f"{len(matches):,} matches of {len(matches.teams)} teams, from {matches.days[0]} to {matches.days[-1]}; "
        f"{matches.unplayed} without a score left out.\n"
        f"Each match is foretold, then learned. Figures are of the last half, from {matches.days[part.start]} on:\n"
        f"misordered of {np.count_nonzero(outcomes[part]):,} that somebody won; log-loss of home, draw, away, its chances Davidson's,\n"
        "fitted on-line to the difference of ratings, and the library's own where it gives them.\n"
        "The learner's parameters are those with the least log-loss on the second quarter; K and home advantages of the others\n"
        "misorder fewest on the last half itself, which is in their favour.\n\n"
        f"{'':58}{'misordered':>10} {'asked':>8}{'log-loss':>10}{'own':>9}{'seconds':>9}"
    )
    failed, goals = False, None
    for row in rows(matches):
        _told()
        if isinstance(row, str):
            print(row, flush=True)
            continue
        if row.goals != goals:
            goals = row.goals
            print("by how many goals" if goals else "by who won", flush=True)
        print(_line(row), flush=True)
        failed |= row.failed
    return int(failed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "--data", type=Path, required=True, help="results.csv, or .csv.gz: a match a line"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(load(given.data))
