"""Ordinal data sets by a hold-out: one pass over four fifths of the rows, beside learners that saw them all at once.

Rows come in random orders, as CSV through `stream-rank replay`. The error is the mean distance, in ranks, of the predictions for the
last fifth. Who the peers are says `ordinal_peers.py`.
"""

import argparse
import csv
import gzip
import io
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.arguments import whole
from simulators.ordinal_peers import MISSING, PEERS, event_of, peers
from stream_rank.checkpoint.model_file import load
from stream_rank.cli.main import main
from stream_rank.errors import InputError
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["LEARNERS", "SETS", "add", "errors_of", "read", "replayed", "report", "run", "scores_of"]

Array = npt.NDArray[Any]
Rows = list[dict[str, str]]

SETS = {
    **dict.fromkeys(("LEV", "house8L5", "kinematics5", "stock5"), 5),
    **dict.fromkeys(("abalone10", "auto10"), 10),
    "car": 4,
    "wine_red": 6,
}
"""The data sets and their numbers of ranks."""
LEARNERS = ("hedge", "ordinal-logit", "scale | waves | ordinal-logit", "averaged-prank")
PROBABLE = LEARNERS[:3]
"""Those of them that have probabilities."""
_MOST = 12_000
"""Rows of a set that are looked at in one order."""
_SHOWN = ("hedge", "linear", "waves", "averaged", *PEERS)
_TREES = _SHOWN.index("trees")
_LINE = "{:<12}" + "{:>11}" * len(_SHOWN)
_LINE_OF_SHARES = "{:<12}" + "{:>13}" * (2 * len(PROBABLE))
_SURE = 1e-12
"""A probability is taken for no less than that, so that one surprise does not make a mean infinite."""


def read(path: Path) -> Rows:
    """The rows of a data set."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; --data says where the data sets are")
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def replayed(rows: Rows, n_ranks: int, folder: Path, *flags: str) -> Path:
    """The run of one pass over rows, as a person replays them."""
    path = folder / "train.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    given = ["replay", str(path), "--n-ranks", str(n_ranks), "--out", str(folder / "run")]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = main([*given, "--quiet", "--seed", "1", *flags])
    if code:
        raise InputError(f"the stream could not be replayed: {said.getvalue()}")
    return folder / "run"


def _ours(rows: Rows, test: Rows, n_ranks: int, folder: Path) -> tuple[list[Array], list[Array]]:
    """What each of our learners predicts for the test after one pass, and the probabilities of those that have any."""
    flags = [part for learner in LEARNERS for part in ("--learner", learner)]
    run = replayed(rows, n_ranks, folder, *flags)
    models = [load(run, learner=name) for name in LEARNERS]
    events = rows_of_dicts([event_of(row) for row in test], 1e100)
    found = [np.asarray(model.predict_many(events)) for model in models]
    return found, [model.predict_proba_many(events) for model in models[: len(PROBABLE)]]


def scores_of(shares: Array, y: Array) -> tuple[float, float]:
    """The ranked probability score, as a part of the largest one, and the logarithmic loss."""
    n_ranks = shares.shape[1]
    below = np.cumsum(shares, axis=1)[:, :-1] - (y[:, None] <= np.arange(1, n_ranks))
    likely = np.maximum(shares[np.arange(len(y)), y - 1], _SURE)
    return float((below**2).sum(axis=1).mean() / (n_ranks - 1)), float(-np.log(likely).mean())


def errors_of(rows: Rows, n_ranks: int, seed: int) -> tuple[Array, Array]:
    """The errors of our learners and of the peers in one random order, and the scores of our probabilities."""
    rows = random.Random(seed).sample(rows, min(len(rows), _MOST))
    n_train = len(rows) * 4 // 5
    y = np.array([int(float(row["y"])) for row in rows[n_train:]])
    with tempfile.TemporaryDirectory() as folder:
        found, shares = _ours(rows[:n_train], rows[n_train:], n_ranks, Path(folder))
    found += peers(rows, n_train, n_ranks, seed)
    # of no error at all half of one is counted, so that ratios are numbers
    errors = np.array([np.maximum(np.abs(each - y).mean(), 0.5 / len(y)) for each in found])
    return errors, np.array([scores_of(each, y) for each in shares])


def report(
    folder: Path,
    orders: int = 5,
    names: Sequence[str] = tuple(SETS),
    say: Callable[[str], object] = print,
) -> int:
    """Print a table of all sets: mean errors over the orders, and their geometric mean over that of the trees; then the scores."""
    say(_LINE.format("data", *_SHOWN))
    ratios, scores = [], {}
    for name in names:
        rows = read(folder / f"ordinal-sets/{name}.csv.gz")
        found = [errors_of(rows, SETS[name], seed) for seed in range(orders)]
        errors = np.mean([each for each, _ in found], axis=0)
        scores[name] = np.mean([each for _, each in found], axis=0)
        ratios.append(errors / errors[_TREES])
        say(_LINE.format(name, *map(_shown, errors)))
    means = np.exp(np.log(ratios).mean(0))
    say(_LINE.format("over trees", *map(_shown, means)))
    kinds = [f"{kind} {name}" for kind in ("RPS", "log") for name in _SHOWN[: len(PROBABLE)]]
    say(_LINE_OF_SHARES.format("data", *kinds))
    for name, each in scores.items():
        say(_LINE_OF_SHARES.format(name, *map(_shown, each.T.reshape(-1))))
    for reason in MISSING.values():
        say(reason)
    return 0


def _shown(number: float) -> str:
    return "-" if np.isnan(number) else f"{number:.3f}"


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--orders", type=whole, default=5, help="random orders of the rows")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.data, given.orders)
