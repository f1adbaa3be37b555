"""Kernel matrices, and features whose inner products they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from stream_rank.kernels import Gaussian, Kernel, Linear, Polynomial, check_width

__all__ = [
    "KernelChoice",
    "check_kernel",
    "is_linear",
    "kernel_values",
    "root_and_pivots",
    "root_of",
]

Array = npt.NDArray[Any]
KernelChoice = Kernel | Callable[[Array, Array], Array] | str | None

_INDEFINITE = 1e-8
"""Times a vector, a kernel matrix and the product of its root may differ by so much; rounding makes 1e-13 or so."""


def check_kernel(kernel: Any) -> None:
    """Raise a `ValueError` unless it is a kernel, a function of two tables, "precomputed", or None for the linear one."""
    known = kernel is None or isinstance(kernel, Linear | Polynomial | Gaussian)
    if not known and not callable(kernel) and kernel != "precomputed":
        raise ValueError(
            "kernel must be None, Linear(), Polynomial(degree, offset), Gaussian(width), a function of two tables "
            f"or 'precomputed', not {kernel!r}"
        )
    check_width(kernel)


def is_linear(kernel: Any) -> bool:
    """Whether scores are weights of features."""
    return kernel is None or isinstance(kernel, Linear)


def kernel_values(kernel: Any, A: Array, B: Array) -> Array:
    """The kernel's values between the rows of two tables; precomputed ones are in the first already. O(|A| |B| n).

    >>> from stream_rank import Polynomial
    >>> kernel_values(Polynomial(2, 1.0), np.array([[1.0], [2.0]]), np.array([[3.0]]))
    array([[16.],
           [49.]])
    """
    if isinstance(kernel, str):
        return A
    values: Array
    if is_linear(kernel):
        values = A @ B.T
    elif isinstance(kernel, Polynomial):
        values = (A @ B.T + kernel.offset) ** kernel.degree
    elif isinstance(kernel, Gaussian):
        assert kernel.width is not None
        values = np.exp(cdist(A, B, "sqeuclidean") / (-2 * kernel.width**2))
    else:
        values = np.asarray(kernel(A, B), np.float64)
        if values.shape != (len(A), len(B)):
            raise ValueError(
                f"the kernel of {len(A)} and {len(B)} events must have the shape {(len(A), len(B))}, not {values.shape}"
            )
    return values


def root_and_pivots(K: Array) -> tuple[Array, Array]:
    """The root of a kernel matrix, and the order of events in which it is triangular."""
    if not np.array_equal(K, K.T) and not np.allclose(K, K.T, rtol=1e-10, atol=1e-12):
        raise ValueError("the kernel matrix must be symmetric")
    factor, pivots, rank, info = lapack.dpstrf(K, lower=1)
    if info < 0 or not np.isfinite(K).all():
        raise ValueError("the kernel matrix must be of finite numbers")
    root = np.zeros((len(K), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    probe = np.random.default_rng(0).normal(size=len(K))
    off = np.abs(K @ probe - root @ (root.T @ probe)).max(initial=0.0)
    if off > _INDEFINITE * np.abs(K).max(initial=0.0) * len(K):
        raise ValueError(
            f"the kernel matrix must have no negative eigenvalue; what is left of it after {rank} features is {off:.2g}"
        )
    return root, pivots - 1


def root_of(K: Array) -> Array:
    """Features whose inner products are the kernel matrix: as many as its rank. O(m**3).

    The pivoted Cholesky factor: a singular matrix has a narrower one, and needs no `epsilon * I` added to it.

    >>> K = np.array([[1.0, 2.0], [2.0, 4.0]])
    >>> root_of(K)
    array([[1.],
           [2.]])
    """
    return root_and_pivots(K)[0]
