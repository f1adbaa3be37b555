"""A feature that gives its place to another is forgotten: by every learner, in the memory that there is."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from stream_rank import Gaussian, PRank, RecursiveMPRank
from stream_rank.checkpoint.model_file import state_digest
from stream_rank.learners.base.restore import learner_from
from tests.learners.conftest import LEARNERS, Make, dicts, events

OLD, NEW = 2, "new"


def renamed(rows: list[dict[object, float]]) -> list[dict[object, float]]:
    return [{NEW if name == OLD else name: value for name, value in x.items()} for x in rows]


def size_of(model: object) -> int:
    return sum(array.nbytes for array in model.kept().values())  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", LEARNERS)
def test_many_is_one_afterwards(name: str) -> None:
    X, y = events(160)
    before, after = dicts(X[:100]), renamed(dicts(X[100:]))
    one, many = (LEARNERS[name](n_ranks=5) for _ in range(2))
    for model in (one, many):
        for x, label in zip(before, y[:100].tolist(), strict=True):
            model.learn_one(x, label)
        size = size_of(model)
        model.exchange({OLD: NEW, "unknown": "other"})
        assert size_of(model) == size
        assert model.features == [0, 1, NEW, 3, 4, 5]
    assert state_digest(one) == state_digest(learner_from(one.dump()))
    expected = []
    for x, label in zip(after, y[100:].tolist(), strict=True):
        expected.append(one.predict_one(x))
        one.learn_one(x, label)
    assert list(many.test_then_train(pd.DataFrame(after), y[100:])) == expected
    assert state_digest(one) == state_digest(many)


@pytest.mark.parametrize(
    "name", [name for name in LEARNERS if not name.startswith(("Recursive", "Nearest"))]
)
def test_what_was_learned_of_the_others_stays(name: str) -> None:
    X, y = events(100)
    model = LEARNERS[name](n_ranks=5)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        model.learn_one(x, label)
    if not model.rule().weights:
        model.exchange({OLD: NEW})
        assert {z.get(NEW, 0.0) for z, _ in model.rule().support} == {0.0}
        return
    weights = model.weights
    assert weights[OLD] != 0
    model.exchange({OLD: NEW})
    assert model.weights == {**{k: v for k, v in weights.items() if k != OLD}, NEW: 0.0}
    x = dicts(X)[0]
    assert model.utility_one({**x, NEW: 5.0}) == model.utility_one({k: x[k] for k in x if k != OLD})


@pytest.mark.parametrize("kernel", [Gaussian(2.0), None])
def test_support_vectors_are_without_it(kernel: Gaussian | None) -> None:
    """Scores are those of the vectors that are left, their own squares included."""
    make: Make = LEARNERS["PRank-polynomial"] if kernel is None else PRank
    model = make(n_ranks=5) if kernel is None else make(n_ranks=5, kernel=kernel, budget=40)
    X, y = events(100)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        model.learn_one(x, label)
    model.exchange({OLD: NEW})
    used = model.kernel
    for x in dicts(X)[:5]:
        del x[OLD]
        score = 0.0
        for z, coefficient in model.rule().support:
            square = sum((x.get(k, 0.0) - z.get(k, 0.0)) ** 2 for k in {*x, *z})
            product = sum(x.get(k, 0.0) * z.get(k, 0.0) for k in z)
            if kernel is None:
                score += coefficient * (product + used.offset) ** used.degree
            else:
                score += coefficient * np.exp(-square / (2 * model.kernel_width**2))
        assert model.utility_one(x) == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("more", [{}, {"C": 2.0}, {"forgetting": 0.99}])
def test_exact_learners_are_as_if_it_had_never_come(more: dict[str, Any]) -> None:
    """The minimiser without the feature, also of what comes later, and of several features at once."""
    X, y = events(200, n_features=12)
    model, twin, fading = RecursiveMPRank(**more), RecursiveMPRank(**more), "forgetting" in more
    gone: dict[Hashable, str] = {2: "a", 9: "b", 11: "c"}
    rows = dicts(X)
    for number, (x, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        group = number % 3
        if number == 120:
            model.exchange(gone)
        if number < 120:
            model.learn_one(x, label, group=group)
            twin.learn_one({k: v for k, v in x.items() if k not in gone}, label, group=group)
        else:
            x = {gone.get(k, k): v for k, v in x.items()}
            model.learn_one(x, label, group=group)
            twin.learn_one(x, label, group=group)
        if number >= 120 and not fading:
            assert model.utility_one(x) == pytest.approx(twin.utility_one(x), rel=1e-8)
    expected = {name: twin.weights[name] for name in model.features}
    # with forgetting, which feature's turn it is to be renewed differs
    near: dict[str, Any] = {"rel": 0.02, "abs": 1e-3} if fading else {"rel": 1e-8, "abs": 1e-9}
    assert model.weights == pytest.approx(expected, **near)
