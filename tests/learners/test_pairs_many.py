"""`test_then_train_pairs` is `utility_one` and `learn_pair` in a loop, to the bit, in every container and any split."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from stream_rank import (
    EventError,
    FeatureError,
    Gaussian,
    OnlineMPRank,
    PairwiseRanker,
    PRank,
    RecursiveMPRank,
)
from stream_rank.checkpoint.model_file import state_digest
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.vocabulary import in_order
from tests.learners.conftest import LEARNERS, Make, dicts, events

pytestmark = pytest.mark.long(25)

Array = np.ndarray[Any, Any]
Event = dict[Any, float]


def loop(model: Any, preferred: Sequence[Event], other: Sequence[Event], by: Any) -> list[float]:
    """Ask and learn pair after pair; by how much the preferred were ahead."""
    ahead = []
    for first, second, magnitude in zip(preferred, other, by, strict=True):
        ahead.append(model.utility_one(first) - model.utility_one(second))
        model.learn_pair(first, second, magnitude)
    return ahead


def items(n_pairs: int, n_features: int, seed: int = 1) -> tuple[Array, Array, Array]:
    """Pairs whose sums are not exact, half of them in order; and magnitudes."""
    generator = np.random.default_rng(seed)
    first, second = generator.normal(size=(2, n_pairs, n_features))
    weights = generator.normal(size=n_features)
    swapped = (first @ weights < second @ weights) & (generator.random(n_pairs) < 0.8)
    first[swapped], second[swapped] = second[swapped].copy(), first[swapped].copy()
    return first, second, generator.uniform(0.1, 3.0, n_pairs)


def taught(learner: Make, n_features: int) -> Any:
    """A learner that learned ratings before; some of it twice, the features in an order of their own."""
    X, y = events(30, n_features)
    model = learner(5)
    model.learn_many(X[:, ::-1], y)
    return model


def rows_of(first: Sequence[Event], second: Sequence[Event], apart: bool) -> tuple[Rows, Rows]:
    """Pairs as a decoder hands them on, who gives names their slots pair by pair."""
    slot_of: dict[Any, int] = {}
    met = []
    for one, two in zip(first, second, strict=True):
        for names in (in_order(one), in_order(two)) if apart else (in_order({**one, **two}),):
            for name in names:
                slot_of.setdefault(name, len(slot_of))
        met.append(len(slot_of))
    names, met_ = list(slot_of), np.array(met, np.int64)

    def rows(some: Sequence[Event]) -> Rows:
        ends = np.cumsum([0, *map(len, some)])
        return Rows(
            names,
            ends[:-1],
            ends[1:],
            np.array([slot_of[name] for x in some for name in x], np.int64),
            np.array([value for x in some for value in x.values()], np.float64),
            met_,
        )

    return rows(first), rows(second)


@pytest.mark.parametrize("n_features", [1, 6, 8, 9, 20, 40])
def test_arrays(learner: Make, n_features: int) -> None:
    first, second, by = items(120, n_features)
    one, many, silent, plain, ones = (taught(learner, n_features) for _ in range(5))
    expected = loop(one, dicts(first), dicts(second), by.tolist())
    assert many.test_then_train_pairs(first, second, by).tolist() == expected
    silent.learn_pairs(first, np.asfortranarray(second), by.tolist())
    assert state_digest(one) == state_digest(many) == state_digest(silent)
    assert [*map(many.utility_one, dicts(first))] == [*map(one.utility_one, dicts(first))]
    expected = loop(plain, dicts(first), dicts(second), [1.0] * len(first))
    assert ones.test_then_train_pairs(first, second).tolist() == expected
    assert state_digest(plain) == state_digest(ones)


def test_the_first_events_of_all(learner: Make) -> None:
    first, second, by = items(40, 12)
    one, many = learner(5), learner(5)
    expected = loop(one, dicts(first), dicts(second), by.tolist())
    assert many.test_then_train_pairs(first, second, by).tolist() == expected
    assert state_digest(one) == state_digest(many)


def test_pairs_and_ratings_mix(learner: Make) -> None:
    X, y = events(120, 7)
    first, second, by = items(120, 7)
    one, many = learner(), learner()
    for begin in range(0, 120, 30):
        some = slice(begin, begin + 30)
        expected = loop(one, dicts(first[some]), dicts(second[some]), by[some].tolist())
        got = many.test_then_train_pairs(first[some], second[some], by[some])
        assert got.tolist() == expected
        for model in (one, many):
            model.learn_many(X[some], y[some])
    assert state_digest(one) == state_digest(many)


def test_frames_with_features_that_come_and_go(learner: Make) -> None:
    first, second, by = items(80, 6)
    names = list("fbdace")
    one, pandas, polars, single = (learner(5) for _ in range(4))
    shapes = ([0, 1], [1, 5]), ([5, 1, 0, 2], [2]), ([3], [4, 3]), (range(6), range(5, -1, -1))
    for begin, (left, right) in zip(range(0, 80, 20), shapes, strict=True):
        some = slice(begin, begin + 20)
        A, B = first[some][:, left], second[some][:, right]
        a, b = ([names[column] for column in which] for which in (left, right))
        pairs = [
            [dict(zip(named, row, strict=True)) for row in rows.tolist()]
            for rows, named in ((A, a), (B, b))
        ]
        expected = loop(one, pairs[0], pairs[1], by[some].tolist())
        frames = pd.DataFrame(A, columns=a, index=range(7, 27)), pd.DataFrame(B, columns=b)
        assert pandas.test_then_train_pairs(*frames, pd.Series(by[some])).tolist() == expected
        frames_ = pl.DataFrame(A, schema=a), pl.DataFrame(B, schema=b)
        got = polars.test_then_train_pairs(*frames_, pl.Series(by[some]))
        assert got.tolist() == expected
        single.learn_pairs(*frames, by[some])
    digests = {state_digest(model) for model in (one, pandas, polars, single)}
    assert len(digests) == 1


def test_numbers_of_other_types(learner: Make) -> None:
    first, second, by = items(60, 9)
    A, B, by = first.astype(np.float32), np.round(second * 4).astype(np.int8), by.astype(np.float32)
    one, many = taught(learner, 9), taught(learner, 9)
    expected = loop(one, dicts(A), dicts(B), by.tolist())
    assert many.test_then_train_pairs(A, B, by).tolist() == expected
    assert state_digest(one) == state_digest(many)


@pytest.mark.parametrize("n_features", [6, 300])
def test_sparse_matrices(learner: Make, n_features: int) -> None:
    first, second, by = items(80, n_features)
    generator = np.random.default_rng(2)
    for X in (first, second):
        X[generator.random(X.shape) < 0.95] = 0.0
    bare = [[{k: v for k, v in x.items() if v != 0.0} for x in dicts(X)] for X in (first, second)]
    one, many, parts = learner(5), learner(5), learner(5)
    A, B = sparse.csr_matrix(first), sparse.csr_matrix(second)
    expected = loop(one, bare[0], bare[1], by.tolist())
    assert many.test_then_train_pairs(A, B, by).tolist() == expected
    for begin in range(0, 80, 17):
        some = slice(begin, begin + 17)
        got = parts.test_then_train_pairs(A[some], B[some], by[some])
        assert got.tolist() == expected[some]
    assert state_digest(one) == state_digest(many) == state_digest(parts)


def test_an_item_of_each_form(learner: Make) -> None:
    """A sparse matrix beside an array; and few columns of a wide vocabulary, which go the sparse way."""
    first, second, by = items(50, 40)
    second[np.random.default_rng(3).random(second.shape) < 0.9] = 0.0
    B = sparse.csr_matrix(second)
    bare = [{k: v for k, v in x.items() if v != 0.0} for x in dicts(second)]
    few = [{k: x[k] for k in (39, 3)} for x in dicts(first)]
    one, many = taught(learner, 40), taught(learner, 40)
    expected = (
        loop(one, dicts(first), bare, by) + loop(one, few, bare, by) + loop(one, few, few, by)
    )
    frame = pd.DataFrame(first[:, [39, 3]], columns=[39, 3])
    got = [
        many.test_then_train_pairs(a, b, by) for a, b in ((first, B), (frame, B), (frame, frame))
    ]
    assert np.concatenate(got).tolist() == expected
    assert state_digest(one) == state_digest(many)


def test_more_than_a_block(learner: Make) -> None:
    """Tables cut blocks at different rows."""
    model = learner(5)
    n_pairs = 700 if getattr(model, "C", None) or getattr(model, "kernel", None) else 3000
    first, second, by = items(n_pairs, 24)
    second[np.random.default_rng(3).random(second.shape) < 0.3] = 0.0
    one, many = learner(5), learner(5)
    A, B = np.hstack([first, np.zeros((n_pairs, 8))]), sparse.csr_matrix(second)
    bare = [{k: v for k, v in x.items() if v != 0.0} for x in dicts(second)]
    some = slice(None, None, -1)
    for model in (one, many):
        model.learn_many(A[:3][some], [1, 2, 3])
    if n_pairs == 700:
        one.learn_pairs(A[:400], B[:400], by[:400])
        one.learn_pairs(A[400:], B[400:], by[400:])
    else:
        loop(one, dicts(A), bare, by)
    many.learn_pairs(A, B, by)
    assert state_digest(one) == state_digest(many)


NUMBERS = st.one_of(
    st.floats(-4, 4, width=32), st.floats(-3, 3), st.sampled_from([0.0, -0.0, 1.0, 1e-8])
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@st.composite
def portions_of_pairs(draw: st.DrawFn) -> list[list[tuple[Event, Event, float]]]:
    """Up to five portions of up to fourteen pairs, of items with up to nine features.

    Hypothesis chooses how many, and numbers that are bad for sums; who has which comes from a seed. To let it draw every
    feature of every item took four times as long as the test itself.
    """
    sizes = draw(st.lists(st.integers(1, 14), min_size=1, max_size=5))
    known = draw(st.lists(NUMBERS, min_size=1, max_size=24))
    generator = Random(draw(st.integers(0, 2**32 - 1)))

    def number() -> float:
        own = generator.uniform(-3, 3)
        return generator.choice((own, float(np.float32(own)), generator.choice(known)))

    def item() -> Event:
        return {name: number() for name in generator.sample(LETTERS, generator.randint(0, 9))}

    def pair() -> tuple[Event, Event, float]:
        return item(), item(), generator.choice((0.5, 1.0, 2.7))

    return [[pair() for _ in range(size)] for size in sizes]


@settings(max_examples=40)
@given(portions_of_pairs())
@pytest.mark.parametrize("name", LEARNERS)
def test_rows_of_a_stream_in_any_portions(name: str, portions: list[Any]) -> None:
    """Features come late, in either item; wide events are dense, narrow ones sparse."""
    one, many, silent, whole = (LEARNERS[name](5) for _ in range(4))
    pairs = [pair for portion in portions for pair in portion]
    first, second, by = ([pair[which] for pair in pairs] for which in range(3))
    A, B = rows_of(first, second, one._model.apart)
    expected = loop(one, first, second, by)
    assert whole.test_then_train_pairs(A, B, by).tolist() == expected
    cuts = np.cumsum([0, *map(len, portions)])
    for begin, end in pairwise(cuts.tolist()):
        part = A.part(begin, end), B.part(begin, end), by[begin:end]
        assert many.test_then_train_pairs(*part).tolist() == expected[begin:end]
        silent.learn_pairs(*part)
    digests = {state_digest(model) for model in (one, many, silent, whole)}
    assert len(digests) == 1


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.sampled_from([*LEARNERS]))
def test_any_split_into_batches(sizes: list[int], name: str) -> None:
    first, second, by = items(sum(sizes), 11)
    whole, parts = LEARNERS[name](5), LEARNERS[name](5)
    expected = whole.test_then_train_pairs(first, second, by)
    cuts = np.cumsum([0, *sizes])
    got = [parts.test_then_train_pairs(first[a:b], second[a:b], by[a:b]) for a, b in pairwise(cuts)]
    assert np.concatenate(got).tolist() == expected.tolist()
    assert state_digest(whole) == state_digest(parts)


@pytest.mark.parametrize("ask", [True, False])
def test_a_batch_is_refused_whole(learner: Make, ask: bool) -> None:
    first, second, by = items(20, 4)
    model = taught(learner, 4)
    before = state_digest(model)
    teach = model.test_then_train_pairs if ask else model.learn_pairs
    late = np.hstack([first, first[:, :2]])
    for place in (late, second):
        place[13, 2] = np.nan
        with pytest.raises(FeatureError, match="row 13"):
            teach(late, second, by)
        place[13, 2] = 0.0
    for wrong in (-0.5, -1.0, np.nan, np.inf, "1"):
        with pytest.raises(EventError, match="pair 7: magnitude"):
            teach(late, second, [*by[:7], wrong, *by[8:]])
    for column in (by[:5], "1" * 20, 1.0, [[1.0]] * 20, dict(enumerate(by)), np.ones((20, 1))):
        with pytest.raises(EventError):
            teach(late, second, column)
    with pytest.raises(EventError, match="19 others"):
        teach(late, second[1:], by)
    rows = rows_of(dicts(late), dicts(second), False)
    with pytest.raises(EventError, match="share their names"):
        teach(rows[0], second, by)
    assert state_digest(model) == before
    assert model._vocabulary.names == [0, 1, 2, 3]


def test_what_weights_cannot_reach_is_refused() -> None:
    model = PRank(3)
    first, second = np.ones((5, 2)), np.zeros((5, 2))
    first[3], by = 1e100, np.ones(5)
    by[2] = 1e100  # much, but not together with the large difference
    model.learn_pairs(first, second, by)
    before, by[3] = state_digest(model), 1e100
    with pytest.raises(EventError, match="pair 3: the difference of the pair times its magnitude"):
        model.learn_pairs(first, second, by)
    assert state_digest(model) == before


@pytest.mark.parametrize(
    "model",
    [PRank(3, kernel=Gaussian(1.0), budget=1), OnlineMPRank(budget=1)],
    ids=["PRank", "OnlineMPRank"],
)
def test_a_budget_of_one_holds_no_pair(model: Any) -> None:
    with pytest.raises(EventError, match="budget of at least 2"):
        model.learn_pairs(np.ones((1, 2)), np.zeros((1, 2)))
    assert model._vocabulary.names == []


def test_more_features_than_a_learner_takes() -> None:
    model = RecursiveMPRank()
    wide = sparse.csr_matrix(([1.0] * 6000, (np.zeros(6000, int), np.arange(6000))), (1, 20_000))
    other = sparse.csr_matrix(
        ([1.0] * 6000, (np.zeros(6000, int), np.arange(6000, 12_000))), (1, 20_000)
    )
    with pytest.raises(FeatureError, match="at most 10000 features"):
        model.learn_pairs(wide, other)
    assert model._vocabulary.names == []


def test_groups_of_pairs_and_ratings_take_turns() -> None:
    """A pair of on-line MPRank is a group of its own, which takes the row of the group longest unseen."""
    first, second, by = items(90, 3)
    X, y = events(60, 3)
    one, many = OnlineMPRank(budget=12), OnlineMPRank(budget=12)
    for begin, size in ((0, 3), (3, 4), (7, 40), (47, 1), (48, 42)):
        some = slice(begin, begin + size)
        loop(one, dicts(first[some]), dicts(second[some]), by[some].tolist())
        many.test_then_train_pairs(first[some], second[some], by[some])
        for model in (one, many):
            rated = slice(begin // 2, begin // 2 + 5)
            model.learn_many(X[rated], y[rated], group=list("abcab")[: len(y[rated])])
        assert state_digest(one) == state_digest(many)


def test_empty_batches_change_nothing(learner: Make) -> None:
    model = learner(5)
    before = state_digest(model)
    assert model.test_then_train_pairs(np.empty((0, 3)), np.empty((0, 2))).shape == (0,)
    model.learn_pairs(pd.DataFrame({"a": []}), pd.DataFrame({"a": []}), [])
    assert state_digest(model) == before
    assert model._vocabulary.names == []


def test_the_answer_is_an_array_of_doubles() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    ahead = PairwiseRanker().test_then_train_pairs(frame, -frame)
    assert type(ahead) is np.ndarray
    assert ahead.dtype == np.float64
    assert ahead[0] == 0.0 < ahead[1]
