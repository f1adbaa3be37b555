"""Ordinal data sets by a hold-out: one pass over four fifths of the rows, beside learners that saw them all at once.

Rows come in random orders, as CSV through `stream-rank replay`. The error is the mean distance, in ranks, of the predictions for the
last fifth. The peers are scikit-learn's histogram-based boosted trees and its ridge regression, both rounded to the nearest rank, and the
median rank.
"""

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
_MOST = 12_000
"""Rows of a set that are looked at in one order."""
_LINE = "{:<12}" + "{:>10}" * (len(LEARNERS) + 3)


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


def _ours(rows: Rows, test: Rows, n_ranks: int, folder: Path) -> list[Array]:
    """What each of our learners predicts for the test, after one pass."""
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
    return [np.asarray(model.predict_many(events)) for model in models]


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
    ridge = make_pipeline(SimpleImputer(), StandardScaler(), Ridge()).fit(wide[train], y[train])
    line = np.clip(np.rint(ridge.predict(wide[test])), 1, n_ranks)
    return [grown, line, np.full(len(line), np.median(y[train]))]


def errors_of(rows: Rows, n_ranks: int, seed: int) -> Array:
    """The errors of our learners and of the peers, in one random order."""
    rows = random.Random(seed).sample(rows, min(len(rows), _MOST))
    n_train = len(rows) * 4 // 5
    y = np.array([int(float(row["y"])) for row in rows[n_train:]])
    with tempfile.TemporaryDirectory() as folder:
        found = _ours(rows[:n_train], rows[n_train:], n_ranks, Path(folder))
    found += _peers(rows, n_train, n_ranks, seed)
    # of no error at all half of one is counted, so that ratios are numbers
    return np.array([max(np.abs(each - y).mean(), 0.5 / len(y)) for each in found])


def run(
    folder: Path,
    orders: int = 5,
    names: Sequence[str] = tuple(SETS),
    say: Callable[[str], object] = print,
) -> int:
    """Print a table of all sets: mean errors over the orders, and their geometric mean over that of the trees."""
    shown = ["hedge", "default", "waves", "averaged", "trees", "ridge", "median"]
    say(_LINE.format("data", *shown))
    ratios = []
    for name in names:
        rows = _read(folder / f"ordinal-sets/{name}.csv.gz")
        errors = np.mean([errors_of(rows, SETS[name], seed) for seed in range(orders)], axis=0)
        ratios.append(errors / errors[len(LEARNERS)])
        say(_LINE.format(name, *(f"{error:.3f}" for error in errors)))
    means = np.exp(np.log(ratios).mean(0))
    say(_LINE.format("over trees", *(f"{mean:.3f}" for mean in means)))
    return 0
