"""OrdinalLogit against PRank, the machine's limit, and Widrow-Hoff on sparse events."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from stream_rank import OrdinalLogit, PRank, RandomFourierFeatures, Scale, WidrowHoff
from stream_rank.engine.preparation.waves import BLOCK, waves_dense
from tests.benchmarks.measure import Line, side_by_side

__all__ = ["ordinal"]


def _ranked(n_events: int, n_features: int) -> tuple[Any, Any]:
    """A linear rule with logistic noise, in five ranks."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_events, n_features))
    score = 4 * (X @ generator.normal(size=n_features)) / n_features**0.5
    score += generator.logistic(size=n_events)
    return X, np.searchsorted([-4.0, -1.0, 1.0, 4.0], score) + 1


def _waves() -> Iterator[Line]:
    """Of few features, where the cosine is dearer than the product."""
    n_events, n_features, n_waves = 5_000, 10, 300
    generator = np.random.default_rng(3)
    events = generator.normal(size=(n_events, n_features))
    directions = np.zeros((n_features, -(-n_waves // BLOCK) * BLOCK))
    directions[:, :n_waves] = generator.normal(size=(n_features, n_waves))
    phases, factors = generator.uniform(0, 6, n_waves), np.full(n_events, 0.3)
    found, scratch = np.empty((n_events, n_waves)), np.empty((5, directions.shape[1]))
    given = events, np.arange(n_events), factors, directions, phases, 0.1, scratch
    narrow = np.ascontiguousarray(directions[:, :n_waves])
    product = np.empty((n_events, n_waves))
    ours, plain = side_by_side(
        lambda: waves_dense(*given, 0, found),
        lambda: np.matmul(events, narrow, out=product),
        rounds=15,
    )
    yield Line(
        "300 waves of 10 features",
        f"{ours / n_events * 1e9:.0f} ns an event",
        f"GEMM of the same shape, {plain / n_events * 1e9:.0f} ns",
        plain / ours,
        0.5,
    )


def ordinal() -> Iterator[Line]:
    """Narrow, wide, sparse, and behind waves."""
    n_events = 100_000
    X, y = _ranked(n_events, 6)
    ours, plain = side_by_side(
        lambda: OrdinalLogit(5).test_then_train(X, y), lambda: PRank(5).test_then_train(X, y)
    )
    yield Line(
        "OrdinalLogit, 6 features, from an array",
        f"{n_events / ours / 1e3:.0f} k events/s",
        f"PRank, {n_events / plain / 1e3:.0f} k events/s",
        plain / ours,
        0.015,
    )
    n_events, width, size = 5_000, 300, 1_000
    wide, ranks = _ranked(n_events, width)
    A, B = np.random.default_rng(1).normal(size=(2, size, size))
    ours, product = side_by_side(
        lambda: OrdinalLogit(5).test_then_train(wide, ranks), lambda: A @ B, rounds=9
    )
    flops, limit = 3 * width**2 * n_events / ours / 1e9, 2 * size**3 / product / 1e9
    yield Line(
        "OrdinalLogit, 300 features, counting its update's 3·d² operations",
        f"{n_events / ours / 1e3:.0f} k events/s, {flops:.0f} Gflop/s",
        f"this core's GEMM, {limit:.0f} Gflop/s",
        flops / limit,
        0.5,
    )
    yield from _waves()
    few, labels = X[:5_000], y[:5_000]
    behind, alone = side_by_side(
        lambda: (Scale() | RandomFourierFeatures(seed=1) | OrdinalLogit(5)).test_then_train(
            few, labels
        ),
        lambda: OrdinalLogit(5).test_then_train(wide, ranks),
    )
    yield Line(
        "scale | waves | ordinal-logit, 6 features, 300 waves, from an array",
        f"{5_000 / behind / 1e3:.0f} k events/s",
        f"OrdinalLogit alone on 300 features, {5_000 / alone / 1e3:.0f} k events/s",
        alone / behind,
        None,
    )
    n_events, width = 20_000, 10_000
    matrix = sparse.random(n_events, width, 50 / width, random_state=1, format="csr")
    ranks = np.random.default_rng(2).integers(1, 6, n_events)
    ours, plain = side_by_side(
        lambda: OrdinalLogit(5, precision="diagonal").test_then_train(matrix, ranks),
        lambda: WidrowHoff(5).test_then_train(matrix, ranks),
    )
    yield Line(
        'OrdinalLogit, precision="diagonal", 50 of 10,000 features',
        f"{n_events / ours / 1e3:.0f} k events/s",
        f"WidrowHoff, {n_events / plain / 1e3:.0f} k events/s",
        plain / ours,
        0.5,
    )
