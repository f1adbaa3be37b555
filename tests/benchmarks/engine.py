"""The ensemble engine against the machine's limit, and against itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from stream_rank import OAPBPM
from tests.benchmarks.measure import Line, side_by_side

__all__ = ["dense", "non_zeros"]

_MEMBERS = 100
_SAMPLING = 0.3


def _ranked(n_events: int, n_features: int) -> tuple[Any, Any]:
    """A linear rule with noise, in five ranks."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_events, n_features))
    score = X @ generator.normal(size=n_features) / n_features**0.5
    score += generator.normal(0, 0.1, n_events)
    return X, np.searchsorted([-1.0, -0.3, 0.3, 1.0], score) + 1


def _learn(X: object, y: object, dtype: str = "float64") -> None:
    OAPBPM(5, _MEMBERS, _SAMPLING, seed=1, dtype=dtype).test_then_train(X, y)


def dense() -> Iterator[Line]:
    """Wide dense events against the core's matrix product."""
    n_events, width, size = 10_000, 500, 1_000
    X, y = _ranked(n_events, width)
    single = X.astype(np.float32)
    A, B = np.random.default_rng(1).normal(size=(2, size, size))
    ours, ours_single, product = side_by_side(
        lambda: _learn(X, y), lambda: _learn(single, y, "float32"), lambda: A @ B, rounds=9
    )
    flops = 4 * _MEMBERS * width * n_events / ours / 1e9
    limit = 2 * size**3 / product / 1e9
    yield Line(
        "OAPBPM, 100 members, 500 dense features, counting 4·N·d operations",
        f"{n_events / ours / 1e3:.0f} k events/s, {flops:.0f} Gflop/s",
        f"this core's GEMM, {limit:.0f} Gflop/s",
        flops / limit,
        0.6,
    )
    yield Line(
        "the same in single precision",
        f"{n_events / ours_single / 1e3:.0f} k events/s",
        f"double precision, {n_events / ours / 1e3:.0f} k events/s",
        ours / ours_single,
        1.6,
    )


def non_zeros() -> Iterator[Line]:
    """Sparse events: twice the non-zeros should take at most twice the time."""
    n_events, width = 2_000, 10_000
    generator = np.random.default_rng(0)
    matrices = []
    for each in (50, 100):
        columns = np.concatenate([generator.choice(width, each, False) for _ in range(n_events)])
        values = generator.normal(size=n_events * each)
        starts = np.arange(n_events + 1) * each
        matrices.append(sparse.csr_matrix((values, columns, starts), shape=(n_events, width)))
    y = generator.integers(1, 6, n_events)

    def learner(matrix: object) -> OAPBPM:
        model = OAPBPM(5, _MEMBERS, _SAMPLING, seed=1)
        model.learn_many(matrix, y)  # all features are known when the clock runs
        return model

    few, many = map(learner, matrices)
    fifty, hundred = side_by_side(
        lambda: few.test_then_train(matrices[0], y), lambda: many.test_then_train(matrices[1], y)
    )
    yield Line(
        "OAPBPM, 10,000 sparse features, 50 non-zeros: events a second, times two",
        f"{n_events / fifty / 1e3:.0f} k events/s",
        f"100 non-zeros, {n_events / hundred / 1e3:.0f} k events/s",
        2 * fifty / hundred,
        0.8,
    )
