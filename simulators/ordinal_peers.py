"""What others predict of the rows behind a hold-out: those that see all rows at once, and those that learn one after the other.

All are rounded to the nearest rank. At once: scikit-learn's histogram-based boosted trees, batch cumulative logit (mord's `LogisticAT`), ridge
regression, and the median rank. One after the other, in the same order as ours: River's adaptive random forests, as classifier and
as regressor, and Vowpal Wabbit, each with its defaults.
"""

import importlib
import importlib.util
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.raw import wabbit_line

__all__ = ["MISSING", "PEERS", "event_of", "peers"]

Array = npt.NDArray[Any]
Rows = list[dict[str, str]]

PEERS = ("trees", "LogisticAT", "ridge", "median", "ARF class", "ARF regr", "VW")
"""In the order of `peers`."""
MISSING = {
    name: f"{name}: {module} is not installed"
    for name, module in (("LogisticAT", "mord"), ("VW", "vowpalwabbit"))
    if importlib.util.find_spec(module) is None
}
"""Why there is nothing of some."""


def event_of(row: dict[str, str]) -> dict[str, float | str]:
    """The features of a row as `replay` reads them."""
    found: dict[str, float | str] = {}
    for name, cell in row.items():
        if name != "y" and cell:
            try:
                found[name] = float(cell)
            except ValueError:
                found[name] = cell
    return found


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


def peers(rows: Rows, n_train: int, n_ranks: int, seed: int) -> Iterator[Array]:
    """What each predicts for the rows behind the first so many; NaN where it is not installed."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, texts = _columns(rows)
    y = np.array([int(float(row["y"])) for row in rows])
    train, test = slice(0, n_train), slice(n_train, None)
    trees = HistGradientBoostingRegressor(categorical_features=texts, random_state=seed)
    yield _nearest(trees.fit(X[train], y[train]).predict(X[test]), n_ranks)
    wide = X
    for place in reversed(texts):
        marks = X[:, place, None] == np.unique(X[:, place])
        wide = np.concatenate([np.delete(wide, place, 1), marks], axis=1)
    ready = make_pipeline(SimpleImputer(), StandardScaler()).fit(wide[train])
    learned, asked = ready.transform(wide[train]), ready.transform(wide[test])
    yield _logit(learned, y[train], asked)
    yield _nearest(Ridge().fit(learned, y[train]).predict(asked), n_ranks)
    yield np.full(len(asked), np.median(y[train]))
    events = [event_of(row) for row in rows]
    yield from _forests(events, y, n_train, n_ranks, seed)
    yield _wabbit(events, y, n_train, n_ranks)


def _nearest(found: Iterable[float], n_ranks: int) -> Array:
    nearest: Array = np.clip(np.rint(np.asarray(found, np.float64)), 1, n_ranks)
    return nearest


def _nothing(asked: Any) -> Array:
    return np.full(len(asked), np.nan)


def _logit(learned: Array, y: Array, asked: Array) -> Array:
    if "LogisticAT" in MISSING:
        return _nothing(asked)
    mord = importlib.import_module("mord")
    found: Array = mord.LogisticAT(alpha=1.0).fit(learned, y).predict(asked)
    return found


def _forests(
    events: list[dict[str, float | str]], y: Array, n_train: int, n_ranks: int, seed: int
) -> Iterator[Array]:
    from river import forest

    # its regressor's leaves take no text
    numbers = [
        {
            f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else v
            for k, v in x.items()
        }
        for x in events
    ]
    for kind in (forest.ARFClassifier, forest.ARFRegressor):
        model: Any = kind(seed=seed)
        for x, label in zip(numbers[:n_train], y.tolist(), strict=False):
            model.learn_one(x, label)
        yield _nearest([model.predict_one(x) for x in numbers[n_train:]], n_ranks)


def _wabbit(events: list[dict[str, float | str]], y: Array, n_train: int, n_ranks: int) -> Array:
    if "VW" in MISSING:
        return _nothing(events[n_train:])
    from vowpalwabbit import pyvw

    model = pyvw.Workspace("--quiet")
    lines = [wabbit_line({name: str(cell) for name, cell in x.items()}, ()) for x in events]
    for line, label in zip(lines[:n_train], y.tolist(), strict=False):
        model.learn(f"{label} | {line}")
    found = [model.predict(f"| {line}") for line in lines[n_train:]]
    model.finish()
    return _nearest(found, n_ranks)
