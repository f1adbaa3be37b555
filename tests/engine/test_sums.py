"""Sums in their one order, against the same order written out in NumPy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.engine.jit import compiled
from stream_rank.engine.lanes import load, store, totals
from stream_rank.engine.memory import Memory, Section, aligned, padded
from stream_rank.engine.pointers import pointer
from stream_rank.engine.products import combined, mean, product, products
from stream_rank.engine.sums import add_scaled, add_scaled_sparse, dot, dot_sparse, squares_sparse

KINDS = [np.float64, np.float32]


def in_order(products: Any) -> Any:
    """Slot `i` in lane `i mod 2V`, ascending; then halves onto halves."""
    lanes = 128 // products.itemsize
    sums = np.zeros(lanes, products.dtype)
    for first in range(0, len(products), lanes):
        part = products[first : first + lanes]
        sums[: len(part)] += part
    while lanes > 1:
        lanes //= 2
        sums = sums[:lanes] + sums[lanes:]
    return sums[0]


@compiled
def dots(weights, values):
    return dot(pointer(weights, 0, weights.dtype), pointer(values, 0, values.dtype), weights.size)


@compiled
def sparse_dots(weights, slots, values):
    w, s = pointer(weights, 0, weights.dtype), pointer(slots, 0, np.int64)
    x = pointer(values, 0, values.dtype)
    return dot_sparse(w, s, x, slots.size), squares_sparse(s, x, slots.size)


@compiled
def moves(weights, factor, values, slots, few):
    w = pointer(weights, 0, weights.dtype)
    add_scaled(w, factor, pointer(values, 0, values.dtype), weights.size)
    add_scaled_sparse(w, factor, pointer(slots, 0, np.int64), pointer(few, 0, few.dtype), few.size)


@compiled
def eight(weights, stride, rows, values, result):
    w, which = pointer(weights, 0, weights.dtype), pointer(rows, 0, np.uint32)
    x = load(pointer(values, 0, values.dtype), 0, weights.dtype.type(0))
    store(pointer(result, 0, np.float64), 0, totals(w, stride, which, x))


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 9), st.integers(0, 2**32))
def test_dense_and_sparse_sums(kind: Any, n_vectors: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = n_vectors * (64 // np.dtype(kind).itemsize)
    w, x = generator.normal(size=(2, size)).astype(kind)
    assert dots(w, x) == in_order(w * x)
    x[generator.random(size) < 0.7] = 0
    slots = np.flatnonzero(x)
    assert sparse_dots(w, slots, x[slots]) == (in_order(w * x), in_order(x * x))
    assert dots(w, x) == sparse_dots(w, slots, x[slots])[0]


def test_double_sums_of_single_values() -> None:
    generator = np.random.default_rng(0)
    w, x = generator.normal(size=48), generator.normal(size=48).astype(np.float32)
    assert dots(w, x) == in_order(w * x.astype(np.float64))


@pytest.mark.parametrize("kind", KINDS)
def test_moves(kind: Any) -> None:
    generator = np.random.default_rng(0)
    w, x = generator.normal(size=(2, 64)).astype(kind)
    slots, few = np.array([3, 17, 60]), generator.normal(size=3).astype(kind)
    expected = w + kind(3) * x
    expected[slots] += kind(3) * few
    moves(w, kind(3), x, slots, few)
    assert (w == expected).all()


@pytest.mark.parametrize("kind", KINDS)
def test_eight_totals_are_eight_dots(kind: Any) -> None:
    generator = np.random.default_rng(0)
    lanes = 64 // np.dtype(kind).itemsize
    weights, x = generator.normal(size=(20, lanes)).astype(kind), generator.normal(size=lanes)
    rows = np.array([3, 19, 0, 7, 7, 1, 12, 5], np.uint32)
    result = np.empty(8)
    eight(weights, lanes, rows, x.astype(kind), result)
    assert result.tolist() == [dots(weights[row].copy(), x.astype(kind)) for row in rows]


def test_memory_is_one_block_of_aligned_sections() -> None:
    layout = {
        "a": Section("int64", (3,)),
        "b": Section("float32", (5, 7)),
        "c": Section("float64", ()),
    }
    memory = Memory("float32", layout)
    for name, section in layout.items():
        assert memory[name].shape == section.shape
        assert memory[name].dtype == section.dtype
        assert memory[name].ctypes.data % 64 == 0
        assert np.shares_memory(memory[name], memory.block)
    assert [padded(1, "float64"), padded(17, "float32"), padded(0, "float32")] == [8, 32, 16]
    assert aligned((3, 5), "float32").ctypes.data % 64 == 0


def test_reshaped_memory_keeps_the_common_corner() -> None:
    small = Memory("float64", {"a": Section("float64", (2, 3))})
    small["a"][:] = np.arange(6).reshape(2, 3)
    big = small.reshaped({"a": Section("float64", (3, 4))})
    assert big["a"].tolist() == [[0, 1, 2, 0], [3, 4, 5, 0], [0, 0, 0, 0]]
    assert big.reshaped(small.layout)["a"].tolist() == small["a"].tolist()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 15, 16, 17, 40, 100])
def test_sums_of_arrays_that_end_anywhere(size: int) -> None:
    """As if zeros followed; what follows is not read."""
    generator = np.random.default_rng(size)
    rows = generator.normal(size=(5, size + 1))
    rows[:, size] = np.nan
    one, others = rows[0, :size], rows[1:, :size]
    expected = [in_order(np.append(row * one, np.zeros(1))) for row in others]
    assert products(others, one).tolist() == expected
    assert products(others, others[::-1]).tolist() == [
        product(left, right) for left, right in zip(others, others[::-1], strict=True)
    ]
    if size:
        assert mean(one) == in_order(one) / size
        assert combined(one[:1], others[:1]).tolist() == (one[0] * others[0]).tolist()


def test_products_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of"):
        products(np.ones((2, 3)), np.ones(2))
    with pytest.raises(ValueError, match="rows of"):
        combined(np.ones(3), np.ones((2, 3)))
