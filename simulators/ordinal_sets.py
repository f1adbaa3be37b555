"""Ordinal data sets by a hold-out: one pass over four fifths of the rows, beside learners that saw them all at once.

Rows come in random orders, as CSV through `stream-rank replay`. The error is the mean distance, in ranks, of the predictions for the
last fifth. The peers are scikit-learn's histogram-based boosted trees and its ridge regression, both rounded to the nearest rank, batch cumulative
logit (mord's `LogisticAT`, where it is installed), and the median rank.
"""

import csv
import gzip
import importlib
import importlib.util
import io
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.checkpoint.model_file import load
from stream_rank.cli.main import main
from stream_rank.errors import InputError
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["LEARNERS", "SETS", "errors_of", "run"]

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
_SHOWN = ("hedge", "default", "waves", "averaged", "trees", "logit", "ridge", "median")
_TREES = _SHOWN.index("trees")
_LINE = "{:<12}" + "{:>10}" * len(_SHOWN)
_LINE_OF_SHARES = "{:<12}" + "{:>13}" * (2 * len(PROBABLE))
_SURE = 1e-12
"""A probability is taken for no less than that, so that one surprise does not make a mean infinite."""


def _read(path: Path) -> Rows:
    if not path.is_file():
        raise InputError(f"{path} is not a file; --data says where the data sets are")
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _event(row: dict[str, str]) -> dict[str, float | str]:
    """The features of a row as `replay` reads them."""
    found: dict[str, float | str] = {}
    for name, cell in row.items():
        if name != "y" and cell:
            try:
                found[name] = float(cell)
            except ValueError:
                found[name] = cell
    return found


def _ours(rows: Rows, test: Rows, n_ranks: int, folder: Path) -> tuple[list[Array], list[Array]]:
    """What each of our learners predicts for the test after one pass, and the probabilities of those that have any."""
    path = folder / "train.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    flags = [part for learner in LEARNERS for part in ("--learner", learner)]
    given = ["replay", str(path), "--n-ranks", str(n_ranks), "--out", str(folder / "run")]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = main([*given, "--quiet", "--seed", "1", *flags])
    if code:
        raise InputError(f"the stream could not be replayed: {said.getvalue()}")
    models = [load(folder / "run", learner=name) for name in LEARNERS]
    events = rows_of_dicts([_event(row) for row in test], 1e100)
    found = [np.asarray(model.predict_many(events)) for model in models]
    return found, [model.predict_proba_many(events) for model in models[: len(PROBABLE)]]


def _columns(rows: Rows) -> tuple[Array, list[int]]:
    """The features as numbers, texts as their places among the texts of the column, and which columns are texts."""
    columns, texts = [], []
    for place, name in enumerate(name for name in rows[0] if name != "y"):
        cells = [row[name] for row in rows]
        try:
            columns.append([float(cell) if cell else np.nan for cell in cells])
        except ValueError:
            known = {cell: at for at, cell in enumerate(sorted(set(cells)))}
            columns.append([known[cell] for cell in cells])
            texts.append(place)
    return np.array(columns, np.float64).T, texts


def _peers(rows: Rows, n_train: int, n_ranks: int, seed: int) -> list[Array]:
    """What the peers predict for the rows behind the first so many."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, texts = _columns(rows)
    y = np.array([int(float(row["y"])) for row in rows])
    train, test = slice(0, n_train), slice(n_train, None)
    trees = HistGradientBoostingRegressor(categorical_features=texts, random_state=seed)
    grown = np.clip(np.rint(trees.fit(X[train], y[train]).predict(X[test])), 1, n_ranks)
    wide = X
    for place in reversed(texts):
        marks = X[:, place, None] == np.unique(X[:, place])
        wide = np.concatenate([np.delete(wide, place, 1), marks], axis=1)
    ready = make_pipeline(SimpleImputer(), StandardScaler()).fit(wide[train])
    learned, asked = ready.transform(wide[train]), ready.transform(wide[test])
    ridge = Ridge().fit(learned, y[train])
    line = np.clip(np.rint(ridge.predict(asked)), 1, n_ranks)
    constant = np.full(len(line), np.median(y[train]))
    return [grown, _logit(learned, y[train], asked), line, constant]


def _logit(learned: Array, y: Array, asked: Array) -> Array:
    """What batch cumulative logit predicts; NaN where mord is not installed."""
    if importlib.util.find_spec("mord") is None:
        return np.full(len(asked), np.nan)
    mord = importlib.import_module("mord")
    found: Array = mord.LogisticAT(alpha=1.0).fit(learned, y).predict(asked)
    return found


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
    found += _peers(rows, n_train, n_ranks, seed)
    # of no error at all half of one is counted, so that ratios are numbers
    errors = np.array([np.maximum(np.abs(each - y).mean(), 0.5 / len(y)) for each in found])
    return errors, np.array([scores_of(each, y) for each in shares])


def run(
    folder: Path,
    orders: int = 5,
    names: Sequence[str] = tuple(SETS),
    say: Callable[[str], object] = print,
) -> int:
    """Print a table of all sets: mean errors over the orders, and their geometric mean over that of the trees; then the scores."""
    say(_LINE.format("data", *_SHOWN))
    ratios, scores = [], {}
    for name in names:
        rows = _read(folder / f"ordinal-sets/{name}.csv.gz")
        found = [errors_of(rows, SETS[name], seed) for seed in range(orders)]
        errors = np.mean([each for each, _ in found], axis=0)
        scores[name] = np.mean([each for _, each in found], axis=0)
        ratios.append(errors / errors[_TREES])
        say(_LINE.format(name, *(f"{error:.3f}" for error in errors)))
    means = np.exp(np.log(ratios).mean(0))
    say(_LINE.format("over trees", *(f"{mean:.3f}" for mean in means)))
    kinds = [f"{kind} {name}" for kind in ("RPS", "log") for name in _SHOWN[: len(PROBABLE)]]
    say(_LINE_OF_SHARES.format("data", *kinds))
    for name, each in scores.items():
        say(_LINE_OF_SHARES.format(name, *(f"{score:.3f}" for score in each.T.reshape(-1))))
    return 0
