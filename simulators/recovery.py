"""How every learner of ranks recovers from a sudden drift, in one picture.

The OAP paper's stream; from its middle on the lowest rank is the highest. Losses are of events before they are learned, the mean of so many of them around
each, over all trials. A learner has recovered at the end of the first such window whose loss is at most a tenth above that just before the drift.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.arguments import picture, whole
from simulators.pictures import begin, save
from stream_rank import (
    OAPBPM,
    OAPVP,
    AveragedPRank,
    NearestRanks,
    OAPBagg,
    OrdinalLogit,
    PRank,
    VotedPRank,
    WidrowHoff,
)
from stream_rank.datasets.oap_stream import OAPStream

__all__ = ["LEARNERS", "add", "draw", "losses", "recovered", "run", "smoothed"]

Array = npt.NDArray[np.float64]

_RANKS = 5
_WINDOW = 250
_AS_BEFORE = 1.1

LEARNERS: dict[str, Callable[[int], Any]] = {
    "PRank": lambda _: PRank(_RANKS),
    "PRank, passive-aggressive": lambda _: PRank(_RANKS, update="passive-aggressive"),
    "PRank, romma": lambda _: PRank(_RANKS, update="romma"),
    "PRank, arow": lambda _: PRank(_RANKS, update="arow"),
    "AveragedPRank": lambda _: AveragedPRank(_RANKS),
    "VotedPRank": lambda _: VotedPRank(_RANKS),
    "OAPBPM": lambda seed: OAPBPM(_RANKS, seed=seed),
    "OAPBPM, passive-aggressive": lambda seed: OAPBPM(
        _RANKS, seed=seed, update="passive-aggressive"
    ),
    "OAPBagg": lambda seed: OAPBagg(_RANKS, seed=seed),
    "OAPVP": lambda seed: OAPVP(_RANKS, seed=seed),
    "WidrowHoff 0.1": lambda _: WidrowHoff(_RANKS, 0.1),
    "OrdinalLogit": lambda _: OrdinalLogit(_RANKS),
    "OrdinalLogit, forgetting 0.995": lambda _: OrdinalLogit(_RANKS, forgetting=0.995),
    "NearestRanks": lambda _: NearestRanks(_RANKS),
}


def losses(name: str, trials: int, events: int) -> Array:
    """The mean loss of every event."""
    total = np.zeros(events)
    for seed in range(trials):
        X, y = OAPStream(seed=seed, features="quadratic").arrays(events)
        y[events // 2 :] = _RANKS + 1 - y[events // 2 :]
        total += np.abs(LEARNERS[name](seed).test_then_train(X, y) - y) / trials
    return total


def smoothed(loss: Array, window: int) -> Array:
    """The mean of every so many events that follow each other."""
    sums = np.concatenate([[0.0], np.cumsum(loss)])
    means: Array = (sums[window:] - sums[:-window]) / window
    return means


def recovered(loss: Array, window: int) -> int | None:
    """How many events after the drift the loss is as before; None if it never is."""
    middle = len(loss) // 2
    before = loss[middle - window : middle].mean()
    after = np.flatnonzero(smoothed(loss[middle:], window) <= _AS_BEFORE * before)
    return int(after[0]) + window if len(after) else None


def draw(trials: int, events: int, out: Path) -> None:
    """Measure, print, and save the picture: a panel for every learner, all on one scale, the others behind it."""
    pyplot = begin(10)

    window = min(_WINDOW, max(1, events // 8))
    found = {}
    print(f"{'':32}{'before':>8}{'at the end':>12}{'recovered after':>18}")
    for name in LEARNERS:
        found[name] = loss = losses(name, trials, events)
        after = recovered(loss, window)
        before, end = loss[: events // 2][-window:].mean(), loss[-window:].mean()
        shown = "not" if after is None else f"{after:,} events"
        print(f"{name:32}{before:8.3f}{end:12.3f}{shown:>18}", flush=True)
    curves = {name: smoothed(loss, window) for name, loss in found.items()}
    place = np.arange(window, events + 1) - events // 2
    columns = 4
    n_rows = -(-len(curves) // columns)
    plot, panels = pyplot.subplots(
        n_rows, columns, figsize=(12, 2.3 * n_rows), layout="constrained", sharex=True, sharey=True
    )
    for axes, (name, curve) in zip(panels.flat, curves.items(), strict=False):
        for other in curves.values():
            axes.plot(place, other, color="0.85", linewidth=0.8)
        axes.plot(place, curve, color="C0", linewidth=1.6)
        axes.axvline(0, color="0.4", linestyle=":")
        axes.set_title(name, fontsize=10)
    for axes in panels.flat[len(curves) :]:
        axes.set_visible(False)
    for axes in panels.flat[max(0, len(curves) - columns) : len(curves)]:
        axes.tick_params(labelbottom=True)  # also where nothing is below
    plot.supxlabel(f"events after the drift (mean of {window} up to each, {trials} trials)")
    plot.supylabel("rank loss (steps an event)")
    panels.flat[0].set_ylim(0, None)
    save(plot, out)
    print(out)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s)")
    parser.add_argument(
        "--events", type=whole, default=10_000, help="half of them before it (%(default)s)"
    )
    parser.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    draw(given.trials, given.events, given.out)
    return 0
