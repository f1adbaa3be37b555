"""RankRLS for large sparse tables, by conjugate gradients."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator, cg

from stream_rank.batch.graph import Graph

__all__ = ["conjugate_weights"]

Array = npt.NDArray[Any]

_TOLERANCE = 1e-10
"""Of the residual, beside what pulls."""


def conjugate_weights(X: Any, graph: Graph, regularization: float) -> tuple[Array, int]:
    """The weights `(X' L X + regularization I)**-1 X' pull` (eq. 28), a column for every output, and the steps that it took.

    A step multiplies by X, by the Laplacian and by X': O(non-zeros + m), so that neither `X' L X` nor anything else of n by n is
    ever made. n steps are enough in exact arithmetic; far fewer are where the regularization is not small.
    """
    n = X.shape[1]
    steps = 0

    def times(v: Array) -> Array:
        product: Array = X.T @ graph.laplacian(X @ v.reshape(n, 1))
        return product[:, 0] + regularization * v.reshape(n)

    def count(_: Array) -> None:
        nonlocal steps
        steps += 1

    system = LinearOperator((n, n), matvec=times, dtype=np.float64)
    columns = []
    for pulled in (X.T @ graph.pull).T:
        weights, unfinished = cg(
            system, pulled, rtol=_TOLERANCE, maxiter=10 * n + 100, callback=count
        )
        if unfinished:
            raise ValueError(
                f"conjugate gradients came to no end in {unfinished} steps; give a larger regularization, or scale the features"
            )
        columns.append(weights)
    return np.stack(columns, axis=1), steps
