"""Table 6 of the RankRLS paper on Jester: disagreement, by the three costs and by regression of the ratings.

The protocol is that of `people.py`: for a test user, the ratings of a joke by 300 reference users are its features, half of the
user's ratings are learned, and the others ranked. Width and regularization are the best on users of their own. Ties count half.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from simulators.arguments import whole
from simulators.jester import groups, load, testers
from simulators.people import Ratings, Split, split
from stream_rank import Gaussian
from stream_rank.batch import RankRLS

__all__ = ["WAYS", "add", "errors", "report", "run", "tune"]

Setting = tuple[float, float]

_WIDTHS = tuple(2.0**power for power in range(4, 11))
_REGULARIZATIONS = tuple(2.0**power for power in range(-9, 8, 2))


class Way(NamedTuple):
    """A row of the table: how jokes are learned, and the paper's figures by group."""

    name: str
    cost: str | None
    paper: dict[str, float]
    required: dict[str, float]


WAYS = (
    Way("RankRLS (20)", "unit", {"40-60": 0.400, "60-80": 0.378}, {}),
    Way(
        *("RankRLS (21)", "magnitude", {"40-60": 0.400, "60-80": 0.379}),
        {"40-60": 0.400, "60-80": 0.379},
    ),
    Way("RankRLS (22)", "relative", {"40-60": 0.426, "60-80": 0.388}, {}),
    Way("RLS regressor", None, {"40-60": 0.401, "60-80": 0.378}, {}),
)


def errors(way: Way, jokes: Split, width: float, regularizations: tuple[float, ...]) -> list[float]:
    """The disagreement on the jokes that were not learned, of every regularization times the number of jokes learned."""
    m = len(jokes.y)
    if way.cost is None:
        scores = []
        for regularization in regularizations:
            model = KernelRidge(alpha=regularization, kernel="rbf", gamma=1 / (2 * width**2))
            model.fit(jokes.X, jokes.y - jokes.y.mean())
            scores.append(model.predict(jokes.others))
    else:
        model = RankRLS(cost=way.cost, kernel=Gaussian(width)).fit(jokes.X, jokes.y)
        path = model.path([m * regularization for regularization in regularizations])
        scores = [each.predict(jokes.others) for each in path]
    preferred, other = np.nonzero(jokes.other_y[:, None] > jokes.other_y)
    if not len(preferred):
        return [0.5] * len(scores)
    return [float((1 - np.sign(each[preferred] - each[other])).mean() / 2) for each in scores]


def tune(way: Way, splits: list[Split]) -> Setting:
    """The width and the regularization that are best on some users' jokes."""
    found: dict[Setting, float] = {}
    for width in _WIDTHS:
        means = np.mean([errors(way, jokes, width, _REGULARIZATIONS) for jokes in splits], axis=0)
        found |= {(width, each): mean for each, mean in zip(_REGULARIZATIONS, means, strict=True)}
    return min(found, key=found.__getitem__)


def report(ratings: Ratings, users: int) -> int:
    """Print the table; 1 if a required figure is not reached."""
    people, failed = testers(ratings), False
    print(
        f"Jester, disagreement: mean of {users} test users ± its standard error, and the paper's figure"
    )
    for group in list(groups())[1:]:
        generator = np.random.default_rng(10_000)
        drawn = generator.choice(people, max(10, users // 5), replace=False)
        tuned = [split(ratings, group, user, generator) for user in drawn]
        generator = np.random.default_rng(0)
        rest = np.setdiff1d(people, drawn)
        tested = [
            split(ratings, group, user, generator)
            for user in generator.choice(rest, users, replace=False)
        ]
        for way in WAYS:
            if sys.stdout.isatty():
                print(f"{group.name}: {way.name} ...", end="\r", flush=True)
            width, regularization = tune(way, tuned)
            found = [errors(way, jokes, width, (regularization,))[0] for jokes in tested]
            mean, spread = np.mean(found), np.std(found) / np.sqrt(users)
            bad = mean > way.required.get(group.name, 1.0)
            failed |= bool(bad)
            setting = f"σ {width:g} λ {regularization:g} m"
            print(
                f"{group.name:8}{way.name:16}{setting:>20}   {mean:.3f} ± {spread:.3f}{'!' if bad else ' '}"
                f"   {way.paper[group.name]:.3f}",
                flush=True,
            )
    return int(failed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="jester-data-1.csv, or .csv.gz")
    parser.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(load(given.data), given.users)
