"""`OrdinalFactors` as its docstring writes it: slow and obvious, with NumPy's matrices, and Newton's method to the end.

Every event is a vector of slopes over all parameters that it has to do with; the belief is their means and a diagonal of variances.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class FactorsOracle:
    """Users and items only, each by its name."""

    def __init__(
        self, n_ranks: int, first_traits: dict[str, Array], traits: int, drift: float
    ) -> None:
        self.k, self.t, self.drift, self.first = n_ranks, traits, drift, first_traits
        self.mean: dict[Any, float] = {}
        self.variance: dict[Any, float] = {"middle": 9.0, "mood": 0.1}
        self.middle = (n_ranks - 2) // 2
        shares = np.arange(1, n_ranks) / n_ranks
        self.thresholds = np.log(shares / (1 - shares))
        self.gaps = np.full(n_ranks - 2, 4.0)
        root = 1 / math.sqrt(traits)
        self.prior = {"u": 1.0, "i": 1.0, "U": root, "I": root, "scale": 0.1, "agreement": 0.05}
        self.known: set[str] = set()
        self.sharpness, self.told = 0.0, 20.0

    def population(self, kind: str) -> float:
        """The prior variance of a kind of parameter: the mean square of all that were met, and of twenty at first."""
        keys = [key for key in self.mean if key[0] == kind]
        squares = sum(self.mean[key] ** 2 + self.variance[key] for key in keys)
        return (squares + 20 * self.prior[kind]) / (len(keys) + 20)

    def _keys(self, user: str, item: str) -> list[Any]:
        traits = [
            (side, name, t) for side, name in (("U", user), ("I", item)) for t in range(self.t)
        ]
        return [("u", user), ("i", item), ("scale", user), ("agreement", user), *traits]

    def believed(self, user: str, item: str) -> tuple[dict[Any, float], dict[Any, float]]:
        """Means and variances as they are for the next event of this user and item."""
        mean, variance = {}, {}
        for key in self._keys(user, item):
            mean[key] = self.mean.get(key, 0.0)
            variance[key] = self.variance.get(key, self.population(key[0]))
        mood = ("mood", user)
        if ("u", user) in self.mean:
            most = self.population("u")
            variance["u", user] = max(
                variance["u", user], min(variance["u", user] + self.drift * most, most)
            )
            mean[mood] = 0.85 * self.mean[mood]
            variance[mood] = 0.85**2 * self.variance[mood] + (1 - 0.85**2) * self.variance["mood"]
        else:
            mean[mood], variance[mood] = 0.0, self.variance["mood"]
        return mean, variance

    def _slopes(
        self, mean: dict[Any, float], user: str, item: str
    ) -> tuple[float, dict[Any, float]]:
        one = np.array([mean["U", user, t] for t in range(self.t)])
        two = np.array([mean["I", item, t] for t in range(self.t)])
        agreement = mean["agreement", user]
        score = mean["u", user] + mean["mood", user] + (1 + agreement) * mean["i", item] + one @ two
        slopes: dict[Any, float] = {("u", user): 1.0, ("mood", user): 1.0}
        slopes["i", item] = 1 + agreement
        slopes["agreement", user] = mean["i", item]
        slopes |= {("U", user, t): two[t] for t in range(self.t)}
        slopes |= {("I", item, t): one[t] for t in range(self.t)}
        return float(score), slopes

    def _edge(self, edge: int, stretch: float) -> Array:
        """How a threshold moves with the logarithm of each gap."""
        found = np.zeros(self.k - 2)
        widths = stretch * np.diff(self.thresholds)
        found[self.middle : max(edge, self.middle)] = widths[self.middle : max(edge, self.middle)]
        found[min(edge, self.middle) : self.middle] = -widths[min(edge, self.middle) : self.middle]
        return found

    def shares(self, user: str, item: str) -> list[float]:
        """Each rank's probability."""
        mean, variance = self.believed(user, item)
        score, slopes = self._slopes(mean, user, item)
        spread = sum(slope**2 * variance[key] for key, slope in slopes.items())
        stretch, found = math.exp(mean["scale", user]), [0.0]
        for edge, threshold in enumerate(self.thresholds):
            whole = (
                spread
                + stretch**2 * self.variance["middle"]
                + (stretch * threshold) ** 2 * variance["scale", user]
            )
            whole += (self._edge(edge, stretch) ** 2 * self.gaps).sum()
            far = (stretch * threshold - score) / math.sqrt(1 + math.pi / 8 * whole)
            far *= math.exp(self.sharpness)
            found.append(max(found[-1], 1 / (1 + math.exp(-far))))
        return [upper - lower for lower, upper in pairwise([*found, 1.0])]

    def learn(self, user: str, item: str, rank: int) -> None:
        """Move everything to where belief and likelihood are largest together, and add the curvature there to the precision."""
        mean, variance = self.believed(user, item)
        if item not in self.known:
            mean |= {("I", item, t): self.first[item][t] for t in range(self.t)}
            self.known.add(item)
        score, slopes = self._slopes(mean, user, item)
        stretch, gaps = math.exp(mean["scale", user]), np.arange(self.k - 2)
        # all parameters in one vector, and how far two thresholds are above the score, as straight functions of it
        keys = [*slopes, ("scale", user), "middle", *gaps]
        spread = np.array(
            [
                *(variance[key] for key in slopes),
                variance["scale", user],
                self.variance["middle"],
                *self.gaps,
            ]
        )
        edges = [edge for edge in (rank - 1, rank - 2) if 0 <= edge < self.k - 1]
        rows, places = [], []
        for edge in edges:
            threshold = stretch * self.thresholds[edge]
            rows.append(
                [
                    *(-slope for slope in slopes.values()),
                    threshold,
                    stretch,
                    *self._edge(edge, stretch),
                ]
            )
            places.append(threshold - score)
        A, at = np.array(rows), np.array(places)
        S, g = A @ (spread[:, None] * A.T), np.zeros(len(edges))
        below, above = (rank - 2 in edges), (rank - 1 in edges)

        sure = math.exp(self.sharpness) * at / np.sqrt(1 + math.pi / 8 * np.diag(S))
        beyond = 1 / (1 + np.exp(-sure))
        likely = (beyond[0] if above else 1.0) - (beyond[-1] if below else 0.0)
        signs = np.array([1.0] * above + [-1.0] * below)
        steeper = float((sure * beyond * (1 - beyond)) @ signs / likely)
        self.told += steeper**2
        self.sharpness += steeper / self.told

        def slopes_at(z: Array) -> tuple[Array, Array]:
            """Gradient of the log-likelihood and its negative curvature."""
            sigma = 1 / (1 + np.exp(-z))
            if above and below:
                p = sigma[0] - sigma[1]
                d = sigma * (1 - sigma)
                dd = d * (1 - 2 * sigma)
                one = np.array([d[0], -d[1]]) / p
                return one, np.outer(one, one) - np.diag([dd[0], -dd[1]]) / p
            if above:
                return 1 - sigma, np.diag(sigma * (1 - sigma))
            return -sigma, np.diag(sigma * (1 - sigma))

        for _ in range(200):
            gradient, curvature = slopes_at(at + S @ g)
            g = g + 0.5 * np.linalg.solve(np.eye(len(edges)) + curvature @ S, gradient - g)
        _, curvature = slopes_at(at + S @ g)
        told = np.linalg.solve(np.eye(len(edges)) + curvature @ S, curvature)
        moves = spread * (A.T @ g)
        left = spread * (1 - spread * np.einsum("ei,ef,fi->i", A, told, A))
        for key, move, rest in zip(keys, moves.tolist(), left.tolist(), strict=True):
            if isinstance(key, tuple):
                self.mean[key], self.variance[key] = mean[key] + move, rest
        n = len(slopes) + 1
        before = mean["mood", user] ** 2 + variance["mood", user]
        after = self.mean["mood", user] ** 2 + self.variance["mood", user]
        self.variance["mood"] = max(self.variance["mood"] + 0.01 * (after - before), 1e-4)
        self.variance["middle"] = left[n]
        self.gaps = left[n + 1 :]
        widths, by = np.diff(self.thresholds), moves[n + 1 :]
        widths = np.where(by > 0, widths * (1 + by), widths * np.exp(by))
        middle = self.thresholds[self.middle] + moves[n]
        up = middle + np.concatenate([[0.0], np.cumsum(widths[self.middle :])])
        down = middle - np.cumsum(widths[: self.middle][::-1])[::-1]
        self.thresholds = np.concatenate([down, up])
