"""`learn_many` is `learn_one` in a loop, to the bit, in every container and any split into batches."""

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from stream_rank.engine.differences import duals
from stream_rank.engine.nearest import DIMENSIONS
from stream_rank.engine.ordinal.state import WIDTH
from stream_rank.engine.perceptron.state import SLOTS
from stream_rank.engine.support import FEATURES
from tests.learners.conftest import LEARNERS, Make, dicts, events

ROOM = {
    "family": [SLOTS],
    "update": [],
    "support": [FEATURES],
    "least_squares": [0],
    "centred": [0],
    "duals": [0, duals.ROWS],
    "pairwise": [0],
    "ordinal": [0, WIDTH],
    "nearest": [0, DIMENSIONS],
    "bilinear": [0],
}
"""Entries of a memory's sizes that say how much room there is."""


def _without_room(section: np.ndarray[Any, Any]) -> bytes:
    """What a section holds, without the zeros that are room."""
    for axis in range(section.ndim):
        others = tuple(other for other in range(section.ndim) if other != axis)
        used = np.flatnonzero((section != 0).any(axis=others))
        section = np.take(section, range(used[-1] + 1 if len(used) else 0), axis)
    return section.tobytes()


def state(model: Any) -> dict[str, Any]:
    """All that a learner knows, without the room that it has in reserve."""
    known: dict[str, Any] = {"names": model._vocabulary.names}
    if hasattr(model, "_labels"):
        known["labels"] = model._labels.known
    if hasattr(model, "_groups"):
        known["groups"] = [*model._groups._row_of.items()]
    for kind, memory in model._model.memories().items():
        for name, section in memory.kept().items():
            kept = np.delete(section, ROOM[kind]) if name.endswith("sizes") else section
            known[f"{kind} {name}"] = _without_room(kept)
    return known


def one_by_one(model: Any, rows: list[dict[Any, float]], y: Any) -> list[Any]:
    """Test-then-train in a loop; the predictions."""
    predictions = []
    for x, label in zip(rows, y, strict=True):
        predictions.append(model.predict_one(x))
        model.learn_one(x, label)
    return predictions


def test_state_sees_every_difference(learner: Make) -> None:
    X, y = events(40)
    first, second = learner(5), learner(5)
    first.learn_many(X, y)
    second.learn_many(X[:39], y[:39])
    assert state(first) != state(second)


@pytest.mark.parametrize("n_features", [1, 6, 8, 9, 40])
def test_arrays(learner: Make, n_features: int) -> None:
    """Narrow events (one vector) and wide ones take different loops."""
    X, y = events(150, n_features)
    one, many = learner(5), learner(5)
    expected = one_by_one(one, dicts(X), y.tolist())
    assert many.test_then_train(X, y).tolist() == expected
    assert state(one) == state(many)
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x in dicts(X)]


@settings(max_examples=25)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.sampled_from([*LEARNERS]))
def test_any_split_into_batches(sizes: list[int], name: str) -> None:
    X, y = events(sum(sizes))
    whole, parts = LEARNERS[name](5), LEARNERS[name](5)
    expected = whole.test_then_train(X, y)
    cuts = np.cumsum([0, *sizes])
    got = [parts.test_then_train(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
    assert np.concatenate(got).tolist() == expected.tolist()
    assert state(whole) == state(parts)


def test_data_frames_with_features_that_come_and_go(learner: Make) -> None:
    X, y = events(120)
    names = list("fbdace")
    one, pandas, polars = learner(5), learner(5), learner(5)
    for first, columns in ((0, [0, 1]), (30, [5, 1, 0, 2]), (60, [3]), (90, range(6))):
        rows, labels = X[first : first + 30][:, columns], y[first : first + 30]
        named = [names[column] for column in columns]
        expected = one_by_one(
            one, [dict(zip(named, row, strict=True)) for row in rows.tolist()], labels.tolist()
        )
        frame = pd.DataFrame(rows, columns=named, index=range(7, 37))
        got = pandas.test_then_train(frame, pd.Series(labels, name="stars"))
        assert got.tolist() == expected
        assert got.name == "stars"
        assert list(got.index) == list(frame.index)
        assert (
            polars.test_then_train(pl.DataFrame(rows, schema=named), labels).to_list() == expected
        )
    assert state(one) == state(pandas) == state(polars)


def test_order_of_features_does_not_matter(learner: Make) -> None:
    X, y = events(150, 12)
    forth, back = learner(5), learner(5)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        backwards = dict(reversed(x.items()))
        assert forth.predict_one(x) == back.predict_one(backwards)
        forth.learn_one(x, label)
        back.learn_one(backwards, label)
    assert state(forth) == state(back)


@pytest.mark.parametrize("n_features", [6, 300])
def test_sparse_matrices(learner: Make, n_features: int) -> None:
    """CSR rows, dense rows and dicts of the non-zeros meet the same slots in the same order."""
    X, y = events(120, n_features)
    X[np.random.default_rng(1).random(X.shape) < 0.9] = 0.0
    matrix = sparse.csr_matrix(X)
    rows = [{i: v for i, v in x.items() if v} for x in dicts(X)]
    one, many, split = learner(5), learner(5), learner(5)
    expected = one_by_one(one, rows, y.tolist())
    assert many.test_then_train(matrix, y).tolist() == expected
    parts = [split.test_then_train(matrix[a : a + 17], y[a : a + 17]) for a in range(0, 120, 17)]
    assert np.concatenate(parts).tolist() == expected
    assert state(one) == state(many) == state(split)
    assert many.predict_many(matrix).tolist() == [one.predict_one(x) for x in rows]
    unsorted = matrix.copy()
    unsorted.indices = unsorted.indices[::-1].copy()
    unsorted.data = unsorted.data[::-1].copy()
    unsorted.indptr = (unsorted.indptr[-1] - unsorted.indptr[::-1]).astype(np.int32)
    unsorted.has_sorted_indices = False
    unsorted.has_canonical_format = False
    assert many.predict_many(unsorted).tolist() == many.predict_many(matrix).tolist()[::-1]


def test_sparse_and_dense_give_the_same_bits(learner: Make) -> None:
    """With the features known, an event is the same however it is written, whatever its numbers."""
    generator = np.random.default_rng(5)
    X, y = generator.normal(size=(150, 90)), events(150)[1]
    X[1:][generator.random((149, 90)) < 0.8] = 0.0
    dense, csr = learner(5), learner(5)
    assert (dense.test_then_train(X, y) == csr.test_then_train(sparse.csr_matrix(X), y)).all()
    assert state(dense) == state(csr)


def test_a_column_filter_is_an_event_without_the_rest(learner: Make) -> None:
    """Few columns of a wide vocabulary go the sparse way."""
    X, y = events(60, 80)
    one, many = learner(5), learner(5)
    for model in (one, many):
        model.learn_many(X, y)
    few = pd.DataFrame(X[:, [70, 3]], columns=[70, 3])
    expected = one_by_one(one, few.to_dict("records"), y.tolist())
    assert many.test_then_train(few, y).tolist() == expected
    assert state(one) == state(many)


@pytest.mark.parametrize(
    "column",
    [
        lambda y: y.astype(np.int32),
        lambda y: y.astype(np.float64),
        lambda y: y.tolist(),
        lambda y: tuple(y.tolist()),
        lambda y: y.astype(object),
        lambda y: pd.Series(y, index=y[::-1]),
        lambda y: pl.Series(y),
    ],
)
def test_labels_in_anything_one_dimensional(learner: Make, column: Any) -> None:
    X, y = events(50)
    plain, other = learner(5), learner(5)
    assert plain.test_then_train(X, y).tolist() == other.test_then_train(X, column(y)).tolist()
    assert state(plain) == state(other)


@pytest.mark.parametrize(
    "labels", [[10, 20, 30, 40, 50], list("edcba"), [True, False] * 2 + [True]]
)
def test_labels_that_are_discovered(rank_learner: Make, labels: list[Any]) -> None:
    X, y = events(150)
    named = [labels[rank - 1] for rank in y]
    one, many, split = rank_learner(), rank_learner(), rank_learner()
    expected = one_by_one(one, dicts(X), named)
    assert expected[0] is None
    assert many.test_then_train(X, named).tolist() == expected
    parts = [split.test_then_train(X[a : a + 7], named[a : a + 7]) for a in range(0, 150, 7)]
    assert [label for part in parts for label in part.tolist()] == expected
    assert state(one) == state(many) == state(split)


def test_copies_go_on_as_the_original(learner: Make) -> None:
    X, y = events(120)
    model = learner(5)
    model.learn_many(X[:60], y[:60])
    copy = pickle.loads(pickle.dumps(model))
    assert (
        copy.test_then_train(X[60:], y[60:]).tolist()
        == model.test_then_train(X[60:], y[60:]).tolist()
    )
    assert state(copy) == state(model)
    clone = model.clone()
    assert clone.predict_many(X).tolist() == learner(5).predict_many(X).tolist()


def test_empty_batches_change_nothing(learner: Make) -> None:
    model = learner(5)
    before = pickle.dumps(model)
    model.learn_many(np.empty((0, 4)), np.empty(0, int))
    assert len(model.test_then_train(pd.DataFrame({"a": []}), [])) == 0
    assert pickle.dumps(model) == before
