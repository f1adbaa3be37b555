"""The batch methods as their papers write them, pair by pair: slow and obvious."""

from itertools import pairwise
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


def rank_boost(X: Any, pairs: list[tuple[int, int]], rounds: int) -> list[tuple[int, float, float]]:
    """Features, thresholds and coefficients; the lecture's algorithm, with every weak ranker tried on every pair."""
    D = dict.fromkeys(pairs, 1 / len(pairs))
    found = []
    for _ in range(rounds):
        best, chosen = 1e-12, None
        for feature in range(X.shape[1]):
            values = np.unique(X[:, feature])[::-1]
            for upper, lower in pairwise(values):
                above = X[:, feature] > upper / 2 + lower / 2
                lead = sum(D[h, j] * (int(above[h]) - int(above[j])) for h, j in pairs)
                if abs(lead) > best + 1e-13:
                    best, chosen = abs(lead), (feature, upper / 2 + lower / 2, above)
        if chosen is None:
            break
        feature, threshold, above = chosen
        right = sum(D[h, j] for h, j in pairs if above[h] and not above[j])
        wrong = sum(D[h, j] for h, j in pairs if above[j] and not above[h])
        least = 0.5 / len(pairs)
        coefficient = np.log(max(right, least) / max(wrong, least)) / 2
        D = {
            (h, j): D[h, j] * np.exp(-coefficient * (int(above[h]) - int(above[j])))
            for h, j in pairs
        }
        total = sum(D.values())
        D = {pair: weight / total for pair, weight in D.items()}
        found.append((feature, threshold, coefficient))
    return found
