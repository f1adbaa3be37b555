"""The engine reads and writes through pointers: guards around every section and buffer stay as they are, and are never read.

Guards are NaN as numbers, so a value that was read from one spoils what it goes into. `make soak` tries many more.
"""

import importlib
import math
import os
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from stream_rank.engine import memory
from stream_rank.metrics.pairs.points import Points
from tests.learners.conftest import GROUPED_LEARNERS, LEARNERS
from tests.learners.test_many_is_one import state

EXAMPLES = 4000 if os.environ.get("SOAK") else 60
GUARD = 128
HOLDERS = [
    *(
        "engine.memory",
        "learners.tables.dense_table",
        "learners.tables.blocks",
        "learners.tables.rows",
    ),
    *(
        "learners.models.row_model",
        "learners.models.support_set",
        "learners.models.dual_kernel",
        "learners.models.kernel_family",
    ),
]


class Guarded:
    """All buffers that were made, each between guards."""

    def __init__(self) -> None:
        self.buffers: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def aligned(self, shape: tuple[int, ...], dtype: Any) -> Any:
        size = np.dtype(dtype).itemsize * math.prod(shape)
        raw = np.full(size + 2 * GUARD + 64, 0xFF, np.uint8)
        start = -raw.ctypes.data % 64 + GUARD
        raw[start : start + size] = 0
        free = np.ones(len(raw), bool)
        free[start : start + size] = False
        self.buffers.append((raw, free))
        return raw[start : start + size].view(dtype).reshape(shape)

    def check(self) -> None:
        for raw, free in self.buffers:
            assert (raw[free] == 0xFF).all()


@pytest.fixture
def guards(monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    guarded, plain = Guarded(), memory.Memory._lay_out

    def lay_out(self: memory.Memory, dtype: Any, layout: memory.Layout) -> None:
        plain(self, dtype, layout)
        covered = np.zeros(len(self._bytes), bool)
        covered[: 8 * len(layout)] = True
        for section in self._sections.values():
            first = section.ctypes.data - self._bytes.ctypes.data
            covered[first : first + section.nbytes] = True
        self._bytes[~covered] = 0xFF
        guarded.buffers.append((self._bytes, ~covered))

    for name in HOLDERS:
        module = importlib.import_module(f"stream_rank.{name}")
        if hasattr(module, "aligned"):
            monkeypatch.setattr(module, "aligned", guarded.aligned)
    monkeypatch.setattr(memory, "_lines", lambda size: -(-size // 64) * 64 + GUARD)
    monkeypatch.setattr(memory.Memory, "_lay_out", lay_out)
    yield guarded
    guarded.check()


def use(model: Any, n_features: int, seed: int, grouped: bool) -> list[Any]:
    """Everything that a learner can do, with features that come late."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(90, n_features)) * 8) / 8
    X[generator.random(X.shape) < 0.4] = 0
    X[:40, n_features // 2 :] = 0
    y = generator.integers(1, 6, 90)
    groups = [{"group": generator.integers(0, 9, 30).tolist()} if grouped else {} for _ in range(2)]
    result = [model.predict_one({"never": 1.0, 0: 2.0})]
    for x, label in zip(X[:20], y[:20].tolist(), strict=True):
        model.learn_one({name: value for name, value in enumerate(x.tolist()) if value}, label)
    result += model.test_then_train(X[20:50], y[20:50], **groups[0]).tolist()
    result += model.test_then_train(sparse.csr_matrix(X[50:80]), y[50:80], **groups[1]).tolist()
    if getattr(model, "budget", 2) > 1:
        model.learn_pair(dict(enumerate(X[3])), {0: 1.0, "other": 2.0}, 0.5)
        result += model.test_then_train_pairs(X[:20], X[20:40]).tolist()
        wide = sparse.csr_matrix(np.hstack([X[70:80], X[:10]]))
        result += model.test_then_train_pairs(wide, X[60:70]).tolist()
        model.learn_pairs(sparse.csr_matrix(X[:20]), wide[[*range(10), *range(10)]])
    model = pickle.loads(pickle.dumps(model))
    result += model.test_then_train(X[80:], y[80:]).tolist()
    if hasattr(model, "sweep"):
        model.sweep(2)
        result.append(model.cost)
    result += model.predict_many(sparse.csr_matrix(X[:9])).tolist()
    return [*result, *sorted(state(model).items())]


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from([*LEARNERS]),
    n_features=st.sampled_from([1, 2, 7, 8, 9, 15, 16, 17, 24, 33, 64]),
    size=st.sampled_from([1, 2, 3, 7, 8, 9, 16, 40]),
    revisits=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_learners_stay_inside(
    guards: Guarded, name: str, n_features: int, size: int, revisits: int, seed: int
) -> None:
    known = LEARNERS[name](5)._get_params()
    sizes = {"budget": size, "window": size, "n_members": size, "max_hypotheses": size}
    chosen = {key: value for key, value in sizes.items() if key in known}
    if "revisits" in known:
        chosen["revisits"] = revisits
    if "max_groups" in known:
        chosen["max_groups"] = size
    guarded = use(LEARNERS[name](5, **chosen), n_features, seed, name in GROUPED_LEARNERS)
    guards.check()
    guards.buffers.clear()
    with pytest.MonkeyPatch.context() as plain:
        plain.setattr(memory, "_lines", lambda size: -(-size // 64) * 64)
        again = use(LEARNERS[name](5, **chosen), n_features, seed, name in GROUPED_LEARNERS)
    guards.buffers.clear()
    assert guarded == again


@settings(max_examples=EXAMPLES // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    n_points=st.sampled_from([1, 31, 32, 33, 64, 65, 300, 1500]),
    window=st.sampled_from([1, 5, 40, 400]),
    grades=st.sampled_from([2, 5, 10**6]),
)
def test_points_stay_inside(
    guards: Guarded, seed: int, n_points: int, window: int, grades: int
) -> None:
    generator = np.random.default_rng(seed)
    points, kept = Points(), generator.integers(0, grades, (n_points, 2)).astype(float).tolist()
    for i, (y, f) in enumerate(kept):
        points.add(y, f, 1.0, 1)
        if i >= window:
            old_y, old_f = kept[i - window]
            points.add(old_y, old_f, 1.0, -1)
        lower, upper = points.around(y, f)
        inside = np.array(kept[max(0, i - window + 1) : i + 1])
        assert lower.all == (inside[:, 0] < y).sum()
        assert upper.below == ((inside[:, 0] > y) & (inside[:, 1] < f)).sum()
    guards.check()
    guards.buffers.clear()
