"""Learners in Python: one event at a time, or arrays, data frames and sparse matrices in any pieces."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import stream_rank
from tests.recorded.command import Row, digest, state_of
from tests.recorded.streams import features, rank_of
from tests.recorded.variants import RANKS, VARIANTS, Variant
from tests.recorded.ways import difference

__all__ = ["LIBRARY", "library_row"]

Matrix = list[list[float]]
_LETTERS = "edcba"


class _Data:
    """Events as rows, with labels and groups."""

    def __init__(self, name: str, n_events: int, n_features: int, seed: int) -> None:
        self.name, generator = name, Random(seed)
        self.rows: Matrix = []
        for _ in range(n_events):
            x = features(generator, n_features)
            if name == "csr":
                kept = {generator.randint(0, n_features - 1) for _ in range(5)} | {0}
                x = [value if place in kept else 0.0 for place, value in enumerate(x)]
            self.rows.append(x)
        self.labels: list[Any] = [rank_of(sorted(x, key=abs)[-6:], generator) for x in self.rows]
        self.groups = [f"g{generator.randint(0, 4)}" for _ in self.rows]
        self.cuts = [0]
        while self.cuts[-1] < n_events:
            self.cuts.append(min(n_events, self.cuts[-1] + generator.randint(1, 40)))
        if name == "letters":
            self.labels = [_LETTERS[rank - 1] for rank in self.labels]
        self.n_ranks = None if name == "letters" else 5
        self.variants = RANKS if name == "letters" else VARIANTS

    def dicts(self) -> list[dict[Any, float]]:
        sparse = self.name == "csr"
        return [
            {place: value for place, value in enumerate(x) if value or not sparse}
            for x in self.rows
        ]


def _text(predictions: Any) -> Iterator[str]:
    """Predictions as text, with all digits."""
    for each in predictions:
        number = isinstance(each, float | int | np.floating | np.integer)
        yield repr(float(each)) if number else repr(each)


def _one_by_one(model: Any, data: _Data, grouped: bool) -> list[Any]:
    found = []
    for x, y, group in zip(data.dicts(), data.labels, data.groups, strict=True):
        found.append(model.predict_one(x))
        if grouped:
            model.learn_one(x, y, group=group)
        else:
            model.learn_one(x, y)
    return found


def _in_pieces(
    model: Any, X: Any, data: _Data, grouped: bool, cuts: list[int], predict: bool = True
) -> list[Any]:
    found: list[Any] = []
    for begin, end in pairwise(cuts):
        piece = X.iloc[begin:end] if hasattr(X, "iloc") else X[begin:end]
        more = {"group": data.groups[begin:end]} if grouped else {}
        if predict:
            found.extend(model.test_then_train(piece, data.labels[begin:end], **more).tolist())
        else:
            model.learn_many(piece, data.labels[begin:end], **more)
    return found


def _learn_pairs(model: Any, data: _Data, many: bool) -> list[Any]:
    """Preferences between ratings: of items that share features, and of some that do not."""
    found: list[Any] = []
    generator, rows, array = Random(12), data.dicts(), np.array(data.rows)
    for begin, end in pairwise(data.cuts):
        if many:
            found.extend(model.test_then_train(array[begin:end], data.labels[begin:end]).tolist())
        else:
            for x, y in zip(rows[begin:end], data.labels[begin:end], strict=True):
                found.append(model.predict_one(x))
                model.learn_one(x, y)
        for _ in range(4):
            x = rows[generator.randint(0, len(rows) - 1)]
            z = {**rows[generator.randint(0, len(rows) - 1)], 40 + generator.randint(0, 3): 0.5}
            del z[generator.randint(0, 5)]
            model.learn_pair(x, z, magnitude=generator.randint(1, 16) / 8)
    return found


def _finished(
    model: Any, found: list[Any], path: Path, known: dict[bytes, str], data: _Data
) -> Row:
    """What a learner said on its way, what it is, and what else can be asked of it."""
    stream_rank.save(model, path)
    row = {"state_sha256": state_of(path, known), "predictions": digest(_text(found))}
    some = data.dicts()[:25]
    asked: list[str] = [*_text(model.utility_one(x) for x in some)]
    if hasattr(model, "vote_one"):
        asked += _text(model.vote_one(x) for x in some)
    if hasattr(model, "predict_proba_one"):
        asked += [repr([*_text(model.predict_proba_one(x).values())]) for x in some]
    row["answers"] = digest(asked)
    rule = [f"{name!r} {value!r}" for name, value in getattr(model, "weights", {}).items()]
    rule += _text(getattr(model, "thresholds", []))
    rule += _text([getattr(model, "bias", 0.0)])
    row["rule"] = digest(rule)
    return row


def _ways(
    variant: Variant, data: _Data, tables: bool
) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Names of ways to learn the events, and what they do; the first is what is recorded."""
    grouped = variant.grouped
    if data.name == "pairs":
        yield "one by one", lambda model: _learn_pairs(model, data, many=False)
        yield "arrays between pairs", lambda model: _learn_pairs(model, data, many=True)
        return
    whole = [0, len(data.rows)]
    array = np.array(data.rows)
    yield "one by one", lambda model: _one_by_one(model, data, grouped)
    if data.name == "csr":
        if tables:
            from scipy import sparse

            matrix = sparse.csr_matrix(array)
            yield "csr", lambda model: _in_pieces(model, matrix, data, grouped, whole)
            yield "csr in pieces", lambda model: _in_pieces(model, matrix, data, grouped, data.cuts)
        return
    yield "array", lambda model: _in_pieces(model, array, data, grouped, whole)
    yield "array in pieces", lambda model: _in_pieces(model, array, data, grouped, data.cuts)
    yield "learn_many", lambda model: _in_pieces(model, array, data, grouped, data.cuts, False)
    if tables:
        import pandas as pd

        frame = pd.DataFrame(array)
        yield "data frame", lambda model: _in_pieces(model, frame, data, grouped, data.cuts)


_DATA: dict[str, tuple[int, int]] = {
    "array": (200, 6),
    "wide": (90, 45),
    "csr": (120, 90),
    "pairs": (200, 6),
    "letters": (150, 6),
}
LIBRARY = {name: (name, *sizes) for name, sizes in _DATA.items()}
"""What is learned in Python, by name."""


def library_row(name: str, folder: Path, tables: bool) -> tuple[Row, list[str]]:
    """What the table says of some events in Python; and where one way to learn them differs from the plainest."""
    _, n_events, n_features = LIBRARY[name]
    data = _Data(name, n_events, n_features, 20 + len(name))
    learners: Row = {}
    quarrels: list[str] = []
    for variant in data.variants:
        known: dict[bytes, str] = {}
        for way, learn in _ways(variant, data, tables):
            model = variant.make(data.n_ranks)
            found = learn(model)
            row = _finished(model, found, folder / "model.safetensors", known, data)
            first = learners.setdefault(variant.spec, row)
            if not found:
                row["predictions"] = first["predictions"]  # nobody asked for them
            quarrels += difference(first, row, f"{name} / {variant.spec} / {way}")
    return {"learners": learners}, quarrels
