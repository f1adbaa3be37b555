"""The learners as the papers write them: slow, obvious, one number at a time.

Scores are summed in Python's exact `fsum`, so the oracle and the engine agree unless a score is a rounding
error away from a threshold; tests use features whose sums are exact.
"""

from collections import Counter
from dataclasses import dataclass, field
from math import fsum, inf
from typing import Any

import numpy as np

MASK = 2**64 - 1
GOLDEN, OTHER = 0x9E3779B97F4A7C15, 0x8EBC6AF09C88C6E3

Event = dict[str, float]


def mix(state: int) -> int:
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def coin(key: int, event: int, member: int, sampling: float) -> bool:
    """A uniform number of 64 bits below the rate: 16 bits of one hash, 48 of another."""
    rate = min(round(sampling * 2**64), MASK)
    if rate == MASK:
        return True
    lane, first = member % 64, member - member % 64
    state = mix((key + event * GOLDEN + first * OTHER) & MASK)
    high = mix((state + (lane // 4 + 1) * GOLDEN) & MASK) >> 16 * (lane % 4) & 0xFFFF
    low = mix((state + (17 + lane) * GOLDEN) & MASK) >> 16
    return (high << 48 | low) < rate


@dataclass
class Perceptron:
    """PRank, algorithm 1 of the paper."""

    k: int
    w: dict[str, float] = field(default_factory=dict)
    c: list[float] = field(default_factory=list)
    correct: int = 0

    def __post_init__(self) -> None:
        self.c = self.c or [0.0] * (self.k - 1)

    def score(self, x: Event) -> float:
        return fsum(self.w.get(name, 0.0) * value for name, value in x.items())

    def rank(self, x: Event) -> int:
        score = self.score(x)
        return min(r for r, edge in enumerate([*self.c, inf], start=1) if score - edge < 0)

    def learn(self, x: Event, y: int) -> float:
        """The move of the weights, in units of the event."""
        score = self.score(x)
        if self.rank(x) == y:
            self.correct += 1
            return 0.0
        sides = [1 if r < y else -1 for r in range(1, self.k)]
        steps = [
            side if (score - edge) * side <= 0 else 0
            for side, edge in zip(sides, self.c, strict=True)
        ]
        self.c = [edge - step for edge, step in zip(self.c, steps, strict=True)]
        for name, value in x.items():
            self.w[name] = self.w.get(name, 0.0) + sum(steps) * value
        return sum(steps)


class Family:
    """Algorithm 2 of the paper, and its two voters."""

    def __init__(self, k: int, n_members: int, sampling: float, key: int) -> None:
        self.members = [Perceptron(k) for _ in range(n_members)]
        self.k, self.sampling, self.key, self.events = k, sampling, key, 0

    def learn(self, x: Event, y: int) -> None:
        for j, member in enumerate(self.members):
            if coin(self.key, self.events, j, self.sampling):
                member.learn(x, y)
        self.events += 1

    def mean(self) -> Perceptron:
        """The sum of the members, which ranks as their mean does."""
        total: Counter[str] = Counter()
        for member in self.members:
            for name, weight in member.w.items():
                total[name] += weight  # type: ignore[assignment]
        edges = [sum(column) for column in zip(*(m.c for m in self.members), strict=True)]
        return Perceptron(self.k, dict(total), edges)

    def bpm(self, x: Event) -> int:
        return self.mean().rank(x)

    def bagg(self, x: Event) -> float:
        return sum(member.rank(x) for member in self.members) / len(self.members)

    def vp(self, x: Event) -> float:
        merit = sum(member.correct for member in self.members)
        if merit == 0:
            return self.bagg(x)
        return sum(member.correct * member.rank(x) for member in self.members) / merit


class Voted:
    """PRank-VP with at most `most` hypotheses."""

    def __init__(self, k: int, most: int) -> None:
        self.slots = [Perceptron(k, correct=1)]
        self.most, self.current = most, 0

    def vote(self, x: Event) -> float:
        merit = sum(h.correct for h in self.slots)
        return sum(h.correct * h.rank(x) for h in self.slots) / merit

    def learn(self, x: Event, y: int) -> None:
        current = self.slots[self.current]
        if current.rank(x) == y:
            current.correct += 1
            return
        copy = Perceptron(current.k, dict(current.w), list(current.c))
        copy.learn(x, y)
        copy.correct = 1
        if len(self.slots) < self.most:
            self.slots.append(copy)
            self.current = len(self.slots) - 1
        else:
            self.current = min(range(self.most), key=lambda j: self.slots[j].correct)
            self.slots[self.current] = copy


class Averaged:
    """PRank, and the plain sum of its rules after every round."""

    def __init__(self, k: int) -> None:
        self.last = Perceptron(k)
        self.sum = Perceptron(k)

    def learn(self, x: Event, y: int) -> None:
        self.last.learn(x, y)
        for name, weight in self.last.w.items():
            self.sum.w[name] = self.sum.w.get(name, 0.0) + weight
        self.sum.c = [a + b for a, b in zip(self.sum.c, self.last.c, strict=True)]

    def rank(self, x: Event) -> int:
        return self.sum.rank(x)


class Present:
    """PRank, and the mean of its weights: of what came late over the rounds that it was in, of the rest over all."""

    def __init__(self, k: int) -> None:
        self.last = Perceptron(k)
        self.held: dict[Any, list[float]] = {}
        self.first: dict[Any, float] = {}
        self.edges: list[list[float]] = []

    def learn(self, x: Event, y: int) -> None:
        before = dict(self.last.w)
        self.last.learn(x, y)
        self.edges.append(list(self.last.c))
        here = [name for name, value in x.items() if value != 0]
        if len(self.edges) <= 10:
            self.first = {**dict.fromkeys(here, 0.0), **self.first}
        for name in self.first:
            self.first[name] += self.last.w.get(name, 0.0)
        for name in here:
            weight = self.last.w.get(name, 0.0)
            changed = weight != before.get(name, 0.0)
            if name not in self.first and (changed or name in self.held):
                self.held.setdefault(name, []).append(weight)

    def weights(self) -> dict[Any, float]:
        late = {name: sum(held) / len(held) for name, held in self.held.items()}
        return {**late, **{name: sum_ / len(self.edges) for name, sum_ in self.first.items()}}

    def thresholds(self) -> list[float]:
        return [sum(edges) / len(edges) for edges in zip(*self.edges, strict=True)]


def rounded(vote: float) -> int:
    """To the nearest rank; halves go up."""
    return int(vote + 0.5)


# Scores ------------------------------------------------------------------------------------


def centring(groups: list[Any]) -> Any:
    """The matrix that takes from every event the mean of its group."""
    same = np.array([[float(a == b) for b in groups] for a in groups]).reshape(len(groups), -1)
    return np.eye(len(groups)) - same / same.sum(axis=0)


def recursive_weights(
    X: Any, y: Any, groups: list[Any], pairs: list[tuple[Any, float]], ridge: float
) -> Any:
    """The minimiser of RecursiveMPRank by its normal equations, all events at once."""
    H = centring(groups)
    matrix = ridge * np.eye(X.shape[1]) + X.T @ H @ X
    right = X.T @ H @ y
    for difference, magnitude in pairs:
        matrix += np.outer(difference, difference)
        right = right + magnitude * difference
    return np.linalg.solve(matrix, right)


def mprank_coefficients(K: Any, y: Any, groups: list[Any], C: float) -> Any:
    """MP's eq. 13: coefficients of kernel values, up to a constant."""
    H, m = centring(groups), len(y)
    alphas = np.linalg.solve(H @ K @ H + np.eye(m) * m / (2 * C), H @ y)
    return H @ alphas


def pair_loss(name: str, g: float, m: float, epsilon: float) -> float:
    """The losses of PairwiseRanker as their papers write them."""
    n = 2 if name.endswith("2") else 1
    if name == "hinge":
        return max(0.0, 1 - g)
    if name.startswith("hr"):
        return 0.0 if g >= 0 else abs(g) ** n
    if name.startswith("mp"):
        return abs(g - m) ** n
    if name.startswith("hmp"):
        return 0.0 if g > 0 else abs(g - m) ** n
    if name.startswith("svr"):
        return max(0.0, abs(g - m) - epsilon) ** n
    if name == "rls-relative":
        return (m - g) ** 2 / m**2
    return ((1.0 if name == "rls-unit" else m) - g) ** 2
