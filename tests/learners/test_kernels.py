"""Kernel learners against explicit maps, and a support set that stays within its budget."""

from math import exp
from typing import Any

import numpy as np
import pytest

from stream_rank import (
    OAPBPM,
    OAPVP,
    AveragedPRank,
    Gaussian,
    Linear,
    OAPBagg,
    OnlineMPRank,
    Polynomial,
    PolynomialFeatures,
    PRank,
    VotedPRank,
)
from stream_rank.batch import RankRLS
from stream_rank.checkpoint.rule_export import exported
from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.learners.base.oap import OAP
from tests.learners import oracle
from tests.learners.conftest import events


@pytest.mark.parametrize("make", [PRank, OAPBPM, OAPBagg, OAPVP, AveragedPRank, VotedPRank])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_polynomial_kernel_is_its_explicit_map(make: Any, degree: int) -> None:
    """Features are few-digit fractions, so both forms see the same scores up to a last digit."""
    raw, y = events(400, 2)
    seed = {"n_members": 20, "seed": 1} if issubclass(make, OAP) else {}
    kernel = make(5, kernel=Polynomial(degree, 1.0), budget=400, **seed)
    mapped = make(5, **seed)
    X = PolynomialFeatures(degree, 1.0).matrix(raw)
    assert (kernel.test_then_train(raw, y) == mapped.test_then_train(X, y)).all()
    assert kernel.thresholds == pytest.approx(mapped.thresholds)
    ours = [kernel.utility_one(dict(enumerate(row))) for row in raw[:50].tolist()]
    theirs = [mapped.utility_one(dict(enumerate(row))) for row in X[:50].tolist()]
    assert ours == pytest.approx(theirs)


@pytest.mark.parametrize("make", [AveragedPRank, VotedPRank])
def test_preferences_with_a_kernel_are_those_of_its_explicit_map(make: Any) -> None:
    raw, y = events(120, 2)
    kernel = make(5, kernel=Polynomial(2, 1.0), budget=300)
    mapped = make(5)
    X = PolynomialFeatures(2, 1.0).matrix(raw)
    for model, items in ((kernel, raw), (mapped, X)):
        for place in range(1, 120):
            one, other = (dict(enumerate(row)) for row in items[[place, place - 1]].tolist())
            if y[place] < y[place - 1]:
                one, other = other, one
            model.learn_pair(one, other, magnitude=abs(int(y[place] - y[place - 1])))
            if place % 4 == 0:
                model.learn_one(one, max(y[place], y[place - 1]))
    ours, theirs = (
        [model.utility_one(dict(enumerate(row))) for row in items[:40].tolist()]
        for model, items in ((kernel, raw), (mapped, X))
    )
    assert ours == pytest.approx(theirs)
    probable = [
        model.prefer_proba_one(*(dict(enumerate(row)) for row in items[:2].tolist()))
        for model, items in ((kernel, raw), (mapped, X))
    ]
    assert probable[0] == pytest.approx(probable[1])


def test_linear_kernel_is_no_kernel() -> None:
    X, y = events(200)
    plain, linear = PRank(5), PRank(5, kernel=Linear())
    assert (plain.test_then_train(X, y) == linear.test_then_train(X, y)).all()
    assert plain.weights == linear.weights
    assert linear.support == []


def gaussian(x: list[float], z: list[float], width: float) -> float:
    return exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * width**2))


def test_gaussian_kernel_with_a_budget_is_the_oracle_that_drops_the_oldest() -> None:
    X, y = events(250, 3)
    model: Any = PRank(5, kernel=Gaussian(1.5), budget=17)
    support: list[tuple[list[float], float]] = []
    plain = oracle.Perceptron(5)
    for row, rank in zip(X.tolist(), y.tolist(), strict=True):
        x = {"f": sum(alpha * gaussian(z, row, 1.5) for z, alpha in support)}
        plain.w = {"f": 1.0}
        assert model.predict_one(dict(enumerate(row))) == plain.rank(x)
        model.learn_one(dict(enumerate(row)), rank)
        wrong = plain.rank(x) != rank
        move = plain.learn(x, rank)
        if wrong:
            support = [*support, (row, move)][-17:]
        assert len(model._model.support) == len(support) <= 17
    kept = {tuple(vector.values()): alpha for vector, alpha in model.support}
    assert kept == {tuple(z): alpha for z, alpha in support}
    assert len(support) == 17  # it was full, and stayed full


def test_a_width_that_follows_is_the_root_of_half_the_mean_square() -> None:
    """Of the events learned so far, whatever the batches; as two events' distance then depends on neither scale nor number of features."""
    X, y = events(200, 12)
    model, larger = (AveragedPRank(5, kernel=Gaussian(), budget=60) for _ in range(2))
    assert model.test_then_train(X, y).tolist() == larger.test_then_train(16 * X, y).tolist()
    width = model.kernel_width
    assert width is not None
    assert width == pytest.approx(np.sqrt((X**2).sum(axis=1).mean() / 2))
    assert larger.kernel_width == pytest.approx(16 * width)
    assert exported(model)["kernel"] == {"Gaussian": {"width": width}}
    assert PRank(5, kernel=Gaussian(2.0)).kernel_width == 2.0
    assert PRank(5).kernel_width is None
    support: list[tuple[Any, float]] = model.support
    score = sum(alpha * gaussian([*z.values()], X[0].tolist(), width) for z, alpha in support)
    assert model.utility_one(dict(enumerate(X[0]))) == pytest.approx(score)
    with pytest.raises(ValueError, match="needs a width"):
        OnlineMPRank(kernel=Gaussian())
    with pytest.raises(ValueError, match="needs a width"):
        RankRLS(kernel=Gaussian()).fit(X, y)


def test_the_budget_is_all_the_memory_there_is() -> None:
    X, y = events(3000, 4)
    model: Any = OAPBPM(5, n_members=10, seed=1, kernel=Gaussian(0.3), budget=50)
    model.learn_many(X[:500], y[:500])
    sizes = {name: memory.block.nbytes for name, memory in model._model.memories().items()}
    model.learn_many(X[500:], y[500:])
    assert {name: m.block.nbytes for name, m in model._model.memories().items()} == sizes
    assert len(model._model.support) == 50


def test_unknown_features_lengthen_the_distance() -> None:
    """A Gaussian learner that never saw a feature still knows that an event far off along it is far off."""
    model = PRank(2, kernel=Gaussian(1.0))
    model.learn_one({"a": 0.0}, 1)
    near, far = model.utility_one({"a": 0.0}), model.utility_one({"a": 0.0, "new": 3.0})
    assert far == pytest.approx(near * exp(-4.5))
    assert model.predict_many(np.zeros((1, 1))).shape == (1,)
    assert model._vocabulary.names == ["a"]
    assert model.utility_one({"a": 0.0}) == near  # nothing of it is left behind


def test_kernel_learners_have_support_instead_of_weights() -> None:
    model = PRank(3, kernel=Gaussian(1.0))
    model.learn_one({"a": 1.0}, 1)
    assert model.support == [({"a": 1.0}, -2.0)]
    with pytest.raises(AttributeError, match="see support"):
        _ = model.weights


def test_gaussian_kernel_learns_what_no_line_does() -> None:
    X, y = OAPStream(seed=3).arrays(4000)
    curved, straight = (
        OAPBPM(5, n_members=20, seed=1, kernel=kernel, budget=500)
        for kernel in (Gaussian(0.3), None)
    )
    losses = [np.abs(m.test_then_train(X, y) - y)[2000:].mean() for m in (curved, straight)]
    assert losses[0] < 0.45 < 0.7 < losses[1]


def test_unknown_features_of_other_events_make_no_difference() -> None:
    """A kernel's value includes their squares, in an order that an event's own features decide."""
    from stream_rank.learners.tables.rows import Rows

    generator = np.random.default_rng(3)
    model = OnlineMPRank(kernel=Gaussian(2.0))
    model.learn_many(generator.normal(size=(20, 3)), generator.normal(size=20))
    names = [0, 1, 2, *(f"unknown{i}" for i in range(40))]
    events = [
        {names[i]: generator.normal() for i in generator.choice(43, 9, replace=False)}
        for _ in range(50)
    ]
    ends = np.cumsum([0, *map(len, events)])
    slots = np.array([names.index(name) for x in events for name in x], np.int64)
    values = np.array([value for x in events for value in x.values()])
    met = np.full(50, len(names))
    rows = Rows(names, ends[:-1], ends[1:], slots, values, met)
    assert model.predict_many(rows).tolist() == [model.predict_one(x) for x in events]


def test_the_nearest_vector_learns_what_comes_beyond_the_budget() -> None:
    """An event's coefficient goes to the vector that is most like it, as much of it as is along that one: the oracle does it slowly."""
    X, y = events(250, 3)
    budget, width = 12, 4.0
    model = AveragedPRank(5, kernel=Gaussian(width), budget=budget)
    last = PRank(5, kernel=Gaussian(width), budget=budget, overflow="nearest")
    support: list[list[float]] = []
    alphas, total, plain = np.zeros(budget), np.zeros(budget), oracle.Perceptron(5)
    for row, rank in zip(X.tolist(), y.tolist(), strict=True):
        values = [gaussian(z, row, width) for z in support]
        x = {"f": float(np.array(values) @ alphas[: len(values)])}
        plain.w = {"f": 1.0}
        wrong = plain.rank(x) != rank
        move = plain.learn(x, rank)
        if wrong and len(support) < budget:
            alphas[len(support)] = move
            support.append(row)
        elif wrong:
            alphas[int(np.argmax(values))] += move * max(values)
        total += alphas
        for each in (model, last):
            each.learn_one(dict(enumerate(row)), rank)
    for each, expected in ((last, alphas), (model, total / len(X))):
        kept = {tuple(vector.values()): alpha for vector, alpha in each.support}
        assert [*kept] == [tuple(z) for z in support]
        assert [*kept.values()] == pytest.approx(expected)
    assert len(support) == budget


def test_an_event_far_from_all_takes_the_place_of_the_oldest_which_hands_over() -> None:
    model = PRank(2, kernel=Gaussian(1.0), budget=2, overflow="nearest")
    for value, rank in ((0.0, 1), (0.5, 2), (10.0, 1)):
        model.learn_one({"a": value}, rank)
    assert model.support == [
        ({"a": 10.0}, -1.0),
        ({"a": 0.5}, pytest.approx(1 - exp(-(0.5**2) / 2))),
    ]


@pytest.mark.parametrize("make", [AveragedPRank, VotedPRank])
def test_a_small_budget_costs_little_where_the_nearest_learns(make: Any) -> None:
    X, y = OAPStream(seed=3).arrays(4000)
    losses = [
        np.abs(make(5, kernel=Gaussian(), budget=60, overflow=overflow).test_then_train(X, y) - y)
        for overflow in ("nearest", "oldest")
    ]
    few, oldest = (loss[2000:].mean() for loss in losses)
    assert few < 0.3 < 0.5 < oldest
