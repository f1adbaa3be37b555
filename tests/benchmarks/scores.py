"""The learners of scores against the machine's limit and a peer, and what their metrics cost in long windows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from river import linear_model, utils

from stream_rank import Gaussian, Misranking, OnlineMPRank, RecursiveMPRank
from tests.benchmarks.measure import Line, side_by_side

__all__ = ["on_line", "recursive", "windows"]


def _scored(n_events: int, n_features: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_events, n_features))
    return X, X @ generator.normal(size=n_features) + generator.normal(size=n_events)


def _progressive(model: Any, events: list[Any]) -> None:
    for x, y in events:
        model.predict_one(x)
        model.learn_one(x, y)


def recursive() -> Iterator[Line]:
    """The exact recursion against the operations of its rank-one update, and against River's exact recursion."""
    n_events, width, size = 20_000, 100, 1_000
    X, y = _scored(n_events, width)
    A, B = np.random.default_rng(1).normal(size=(2, size, size))
    ours, product = side_by_side(
        lambda: RecursiveMPRank().test_then_train(X, y), lambda: A @ B, rounds=9
    )
    limit = 2 * size**3 / product / 1e9
    for what, operations, at_least in (
        ("a product with a matrix and a rank-one update of it, 4·d² operations", 4, 0.5),
        ("the same, counting what the factors of a symmetric matrix need, 3·d²", 3, None),
    ):
        flops = operations * width**2 * n_events / ours / 1e9
        yield Line(
            f"RecursiveMPRank, 100 features: {what}" if at_least else what,
            f"{n_events / ours / 1e3:.0f} k events/s, {flops:.0f} Gflop/s",
            f"this core's GEMM, {limit:.0f} Gflop/s",
            flops / limit,
            at_least,
        )
    X, y = _scored(3_000, 20)
    events = [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    dicts, river = side_by_side(
        lambda: _progressive(RecursiveMPRank(), events),
        lambda: _progressive(linear_model.BayesianLinearRegression(), events),
    )
    yield Line(
        "RecursiveMPRank, dict by dict, 20 features",
        f"{len(events) / dicts / 1e3:.0f} k events/s",
        f"River's BayesianLinearRegression, {len(events) / river / 1e3:.1f} k events/s",
        river / dicts,
        None,
    )


def on_line() -> Iterator[Line]:
    """An event of the on-line learner with a full budget against one row of kernel products by BLAS."""
    n_events, budget, width = 600, 2_000, 300
    X, y = _scored(budget + n_events, width)
    kernel, linear = OnlineMPRank(kernel=Gaussian(20.0)), OnlineMPRank()
    for model in (kernel, linear):
        model.learn_many(X[:budget], y[:budget])
    more, labels = X[budget:], y[budget:]
    kept = np.ascontiguousarray(X[:budget])

    def rows() -> None:
        for x in more:
            kept @ x

    gaussian, plain, row = side_by_side(
        lambda: kernel.test_then_train(more, labels),
        lambda: linear.test_then_train(more, labels),
        rows,
    )
    for what, spent in ((", Gaussian kernel", gaussian), (", linear", plain)):
        yield Line(
            f"OnlineMPRank{what}, 2,000 events kept, 300 features",
            f"{spent / n_events * 1e6:.1f} µs an event",
            f"a product of the events kept with one, by BLAS, {row / n_events * 1e6:.1f} µs",
            row / spent,
            0.5,
        )


def windows() -> Iterator[Line]:
    """A metric over pairs, in windows of a thousand events and of sixty-four thousand."""
    short, long, n_events = 1_000, 64_000, 2_000
    points = np.random.default_rng(2).normal(size=(long + n_events, 2)).tolist()

    def rolling(window: int) -> Any:
        metric: Any = utils.Rolling(Misranking, window_size=window)
        for y, f in points[:window]:
            metric.update(y, f)
        return metric

    def go_on(metric: Any) -> None:
        for y, f in points[-n_events:]:
            metric.update(y, f)

    few, many = rolling(short), rolling(long)
    quick, slow = side_by_side(lambda: go_on(few), lambda: go_on(many), rounds=3)
    yield Line(
        "Misranking in a window of 64,000 events, real labels",
        f"{slow / n_events * 1e6:.0f} µs an event",
        f"in a window of 1,000, {quick / n_events * 1e6:.0f} µs",
        quick / slow,
        0.1,
    )
