"""Tables 1 and 2 of the magnitude-preserving paper on Jester: jokes, rated from -10 to 10.

For a test user, the ratings of a joke by 300 reference users, drawn from those with so many ratings, are the joke's
features; where one of them did not rate it, that user's median stands in. Half of the test user's ratings
are learned, the others predicted. Test users have at least 50 ratings. The width of the kernel and C
are the best in mean squared difference on users of their own, as the paper does it; then every trial has its own test users.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators.arguments import whole
from simulators.readers.jester import ratings_of
from stream_rank import M1D, MSD, Gaussian, Misranking, OnlineMPRank

__all__ = [
    "Group",
    "Ratings",
    "add",
    "groups",
    "load",
    "measure",
    "report",
    "run",
    "testers",
    "tune",
]

Array = npt.NDArray[Any]

_REFERENCES = 300
_LEAST_RATINGS = 50
_WIDTHS = (50.0, 100.0, 200.0)
_TRADE_OFFS = (30.0, 100.0, 300.0)
METRICS = (MSD, M1D, Misranking)
WAYS = ("on-line", "one pass", "batch")
"""After passes until the cost is within a hundredth of the least; after the first pass; and eq. 13."""


class Ratings(NamedTuple):
    """Users by jokes, NaN where there is no rating; and the same with the user's median there."""

    given: Array
    filled: Array

    @property
    def counts(self) -> Array:
        """How many ratings every user gave."""
        counts: Array = (~np.isnan(self.given)).sum(axis=1)
        return counts


class Group(NamedTuple):
    """Reference users by their number of ratings, and the paper's figures: MSD, M1D, misranking."""

    least: int
    most: int
    paper: tuple[float, float, float | None]
    required: tuple[float, float, float] | None

    @property
    def name(self) -> str:
        """As the paper calls it."""
        return f"{self.least}-{self.most}"


def groups() -> Iterator[Group]:
    """The groups of the tables. The paper's table 2 has no figure for 60-80."""
    yield Group(20, 40, (51.34, 5.08, 0.414), None)
    yield Group(40, 60, (46.77, 4.98, 0.418), (46.8, 4.98, 0.418))
    yield Group(60, 80, (49.33, 4.88, None), (49.3, 4.88, 0.380))


def load(file: Path) -> Ratings:
    """The ratings as they are shipped, and with medians where there is none."""
    given = ratings_of(file)
    return Ratings(given, np.where(np.isnan(given), np.nanmedian(given, axis=1)[:, None], given))


class Split(NamedTuple):
    """The jokes of a test user."""

    X: Array
    y: Array
    others: Array
    other_y: Array


def split(ratings: Ratings, group: Group, user: int, generator: np.random.Generator) -> Split:
    """Half of a user's jokes to learn and half to predict."""
    counts = ratings.counts
    pool = np.flatnonzero((counts >= group.least) & (counts <= group.most))
    others = pool[pool != user]
    references = generator.choice(others, min(_REFERENCES, len(others)), replace=False)
    jokes = generator.permutation(np.flatnonzero(~np.isnan(ratings.given[user])))
    half = len(jokes) // 2
    features = ratings.filled[references].T
    learned, tested = jokes[:half], jokes[half:]
    given = ratings.given[user]
    return Split(features[learned], given[learned], features[tested], given[tested])


def _gaussian(A: Array, B: Array, width: float) -> Array:
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * A @ B.T
    kernel: Array = np.exp(-squares / (2 * width**2))
    return kernel


def batch_scores(jokes: Split, width: float, C: float) -> Array:
    """Eq. 13."""
    m = len(jokes.y)
    centring = np.eye(m) - 1 / m
    K = centring @ _gaussian(jokes.X, jokes.X, width) @ centring
    alphas = np.linalg.solve(K + np.eye(m) * m / (2 * C), jokes.y - jokes.y.mean())
    scores: Array = _gaussian(jokes.others, jokes.X, width) @ (centring @ alphas)
    return scores


def scores(jokes: Split, width: float, C: float, way: str) -> Array:
    """The predictions for the jokes that were not learned."""
    if way == "batch":
        return batch_scores(jokes, width, C)
    model = OnlineMPRank(C=C, kernel=Gaussian(width), budget=100)
    model.learn_many(jokes.X, jokes.y)
    if way == "on-line":
        model.settle()
    predicted: Array = model.predict_many(jokes.others)
    return predicted


def measure(
    ratings: Ratings,
    group: Group,
    users: Array,
    setting: tuple[float, float],
    ways: tuple[str, ...],
    generator: np.random.Generator,
) -> Array:
    """Metrics by way, the mean over users."""
    total = np.zeros((len(ways), len(METRICS)))
    for user in users:
        jokes = split(ratings, group, user, generator)
        for row, way in enumerate(ways):
            predicted = scores(jokes, *setting, way)
            for column, kind in enumerate(METRICS):
                metric = kind()
                for label, score in zip(jokes.other_y, predicted, strict=True):
                    metric.update(label, score)
                total[row, column] += metric.get()
    return total / len(users)


def testers(ratings: Ratings) -> Array:
    """Users with enough ratings to learn from and to test on."""
    return np.flatnonzero(ratings.counts >= _LEAST_RATINGS)


def tune(ratings: Ratings, group: Group, users: int, seed: int) -> tuple[float, float]:
    """The width and C that are best in mean squared difference on some users."""
    chosen = np.random.default_rng(seed).choice(testers(ratings), users, replace=False)
    found = {}
    for width in _WIDTHS:
        for C in _TRADE_OFFS:
            generator = np.random.default_rng(seed)  # the same splits for each
            result = measure(ratings, group, chosen, (width, C), ("on-line",), generator)
            found[width, C] = float(result[0, 0])
    return min(found, key=found.__getitem__)


def report(ratings: Ratings, trials: int, users: int) -> int:
    """Print the table; 1 if a required figure is not reached."""
    people, failed = testers(ratings), False
    print(
        f"Jester, {users} test users, mean of {trials} trials ± deviation between them; after each the paper's figure\n"
        f"{'':24}{'mean squared difference':>26}{'mean 1-norm difference':>26}{'misranking':>26}"
    )
    for group in groups():
        if sys.stdout.isatty():
            print(f"{group.name}: tuning ...", end="\r", flush=True)
        width, C = setting = tune(ratings, group, max(10, users // 6), seed=10_000)
        results = []
        for trial in range(trials):
            generator = np.random.default_rng(trial)
            chosen = generator.choice(people, users, replace=False)
            results.append(measure(ratings, group, chosen, setting, WAYS, generator))
            if sys.stdout.isatty():
                print(f"{group.name}: trial {trial + 1} of {trials}", end="\r", flush=True)
        mean, deviation = np.mean(results, axis=0), np.std(results, axis=0)
        for row, way in enumerate(WAYS):
            line = f"{group.name:7}{way:10}"
            line += f"{f'σ {width:g} C {C:g}' if row == 0 else '':>13}"
            for column in range(len(METRICS)):
                digits = 3 if column == 2 else 2
                paper = group.paper[column]
                shown = "  —" if paper is None else f"{paper:.{digits}f}"
                value = f"{mean[row, column]:.{digits}f} ± {deviation[row, column]:.{digits}f}"
                bad = row == 0 and group.required and mean[0, column] > group.required[column]
                failed |= bool(bad)
                line += f"{value:>17}{'!' if bad else ' '}{shown if row == 0 else '':>8}"
            print(line)
    return int(failed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="jester-data-1.csv, or .csv.gz")
    parser.add_argument("--trials", type=whole, default=10, help="(%(default)s, as the paper)")
    parser.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(load(given.data), given.trials, given.users)
