"""The batch methods as their papers write them, pair by pair: slow and obvious."""

from typing import Any

import numpy as np


def gaussian(A: Any, B: Any, width: float) -> Any:
    return np.array([[np.exp(-((a - b) ** 2).sum() / (2 * width**2)) for b in B] for a in A])


def pairs_of(y: Any, groups: Any, ties: bool) -> list[tuple[int, int]]:
    """The preferred first; those of equal labels once."""
    m = len(y)
    return [
        (h, j)
        for h in range(m)
        for j in range(m)
        if groups[h] == groups[j] and (y[h] > y[j] or (ties and y[h] == y[j] and h < j))
    ]


def incidence(m: int, pairs: list[tuple[int, int]], sizes: Any, cost: str) -> tuple[Any, Any]:
    """Eq. 12 and 13 of RankRLS."""
    M, N = np.zeros((m, len(pairs))), np.zeros(len(pairs))
    for i, ((h, j), size) in enumerate(zip(pairs, sizes, strict=True)):
        w = 1 / size if cost == "relative" else 1.0
        M[h, i], M[j, i] = w, -w
        N[i] = w * (1.0 if cost == "unit" else size)
    return M, N


def rank_rls(K: Any, y: Any, groups: Any, cost: str, regularization: float) -> Any:
    """Eq. 17."""
    pairs = pairs_of(y, groups, cost == "magnitude")
    M, N = incidence(len(y), pairs, [y[h] - y[j] for h, j in pairs], cost)
    return np.linalg.solve(M @ M.T @ K + regularization * np.eye(len(y)), M @ N)


def without(K: Any, left: Any, fit: Any) -> Any:
    """The scores of all events by a rule that was learned without some."""
    rest = np.setdiff1d(np.arange(len(K)), left)
    return K[:, rest] @ fit(K[np.ix_(rest, rest)], rest)
