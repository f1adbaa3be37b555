"""Whether the default learner's probabilities are true: where the truth is known, and on ordinal data sets; and whether sets cover labels.

Each stream is replayed by one command. Reliability is that of the last fifth, which nobody learns: of events and ranks in
tenths by what was said of "at most this rank", how often it was so. Coverage is that of the sets along the whole stream, each made before
its event was learned; they are to cover nine labels in ten, wherever.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators.ordinal_peers import event_of
from simulators.ordinal_sets import SETS, read, replayed, scores_of
from simulators.ordinal_streams import after_a_drift, known_stream
from simulators.reliability_chart import reliability_charts
from stream_rank.checkpoint.model_file import load
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["CURVES", "add", "reliability", "report", "run"]

Array = npt.NDArray[Any]
Rows = list[dict[str, str]]

CURVES = ("abalone10", "house8L5", "wine_red")
"""The sets of which there is a curve."""
_EVENTS, _N_RANKS = 5_000, 5
_MOST = 12_000
_OFF = 0.01
"""By how much coverage may differ from nine in ten."""
_LINE = "{:<44}{:>9}{:>10}"


class _Said(NamedTuple):
    """Probabilities of rows that were not learned, their labels, and what the run says of itself."""

    shares: Array
    labels: Array
    summary: dict[str, Any]


def _said(rows: Rows, n_train: int, n_ranks: int, *flags: str) -> _Said:
    """Learn the first so many rows; what is said of the others."""
    with tempfile.TemporaryDirectory() as folder:
        run = replayed(rows[:n_train], n_ranks, Path(folder), *flags)
        champion, *_ = json.loads((run / "summary.json").read_text())["learners"].values()
        model = load(run)
    asked = rows_of_dicts([event_of(row) for row in rows[n_train:]], 1e100)
    labels = np.array([int(float(row["y"])) for row in rows[n_train:]])
    return _Said(model.predict_proba_many(asked), labels, champion)


def reliability(shares: Array, y: Array) -> list[tuple[float, float]]:
    """By tenths of all that was said of "at most this rank": what was said, and how often it was so."""
    ranks = np.arange(1, shares.shape[1])
    said = np.cumsum(shares, axis=1)[:, :-1].ravel()
    seen = (y[:, None] <= ranks).ravel()
    order = np.argsort(said, kind="stable")
    return [(float(said[t].mean()), float(seen[t].mean())) for t in np.array_split(order, 10)]


def _rows(X: Array, y: Array) -> Rows:
    return [
        {**{f"f{j}": repr(value) for j, value in enumerate(x)}, "y": str(label)}
        for x, label in zip(X.tolist(), y.tolist(), strict=True)
    ]


def report(
    folder: Path,
    out: Path | None = None,
    names: Sequence[str] = tuple(SETS),
    say: Callable[[str], object] = print,
) -> int:
    """Print what was found, and draw the curves; 1 if a figure is not what is asked."""
    missed, curves = False, {}
    sets = {name: read(folder / f"ordinal-sets/{name}.csv.gz") for name in names}

    def told(what: str, found: float, least: float, most: float) -> None:
        nonlocal missed
        missed |= not least <= found <= most
        asked = f"{least:g}–{most:g}" if least else f"≤ {most:g}"
        say(_LINE.format(what, f"{found:.4f}", asked))

    say(_LINE.format("", "here", "asked"))
    X, y, _ = known_stream(_EVENTS, 1)
    fresh, labels, truth = known_stream(20_000, 2)
    rows = _rows(np.concatenate([X, fresh]), np.concatenate([y, labels]))
    known = _said(rows, _EVENTS, _N_RANKS)
    score = scores_of(known.shares, labels)[0]
    told("RPS over that of the true posterior", score / scores_of(truth, labels)[0], 0.0, 1.01)
    curves["where the truth is known"] = {
        "said": reliability(known.shares, labels),
        "the truth": reliability(truth, labels),
    }
    near = 0.9 - _OFF, 0.9 + _OFF
    told("coverage where the truth is known", known.summary["coverage"], *near)
    X, y, _ = known_stream(2 * _EVENTS, 3)
    X[_EVENTS:] *= -1.0  # the rule is the opposite one from here on
    window = "--window", str(_EVENTS)
    turned = _said(_rows(X, y), 2 * _EVENTS - 1, _N_RANKS, *window).summary
    told("coverage after a sudden drift", turned["recent_coverage"], *near)
    recovered, off = after_a_drift(_EVENTS // 2)
    told("loss 500 events after it, forgetting, over before", recovered, 0.0, 1.05)
    told("off 0.9 after it, forgetting, by", off, 0.0, _OFF)
    for name, rows in sets.items():
        rows = random.Random(1).sample(rows, min(len(rows), _MOST))
        whole = _said(rows, len(rows) - 1, SETS[name])
        told(f"coverage, {name}", whole.summary["coverage"], *near)
        if name in CURVES:
            found = _said(rows, len(rows) * 4 // 5, SETS[name])
            curves[name] = {"said": reliability(found.shares, found.labels)}
            say(_LINE.format(f"RPS, {name}", f"{scores_of(found.shares, found.labels)[0]:.4f}", ""))
    for name, lines in curves.items():
        say(f"\n{name}: said and seen, by tenths")
        say("  ".join(f"{said:.3f} {seen:.3f}" for said, seen in lines["said"]))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(reliability_charts(curves), encoding="utf-8")
    return int(missed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--out", type=Path, help="the picture of the curves, an .svg")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.data, given.out)
