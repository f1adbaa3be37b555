"""Tables 1 and 2 of the magnitude-preserving paper on MovieLens: films, rated from 1 to 5.

The protocol is that of `people.py`, and the methods those of `mp_tables.py`; test users have 50 to 300 ratings. The paper has a million ratings by 6,040 people. MovieLens 100K has 943 people, and the
groups fewer than the 300 reference users, of whom all are taken then; so the paper's figures are printed beside ours, and nothing is asked but that on-line MPRank comes to what
the batch method finds, and that it is below RankBoost in the errors of table 1, as the paper has it.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from simulators import movies, mp_tables
from simulators.arguments import whole
from simulators.mp_tables import Means, Way
from simulators.people import Group, Ratings

__all__ = ["WAYS", "add", "groups", "load", "report", "run"]

_LEAST_RATINGS, _MOST_RATINGS = 50, 300
_BOTH = tuple(product((5.0, 10.0, 20.0, 40.0), (3.0, 30.0, 300.0)))
_NEAR = 1.02
"""How many times the batch method's error the on-line learner's may be."""

WAYS = (
    Way(
        "on-line",
        _BOTH,
        paper={
            "20-40": ((2.01, 0.02), (1.04, 0.05), None),
            "40-60": ((2.02, 0.06), (1.04, 0.02), (0.471, 0.005)),
            "60-80": ((2.07, 0.05), (1.06, 0.01), (0.442, 0.005)),
        },
    ),
    Way("batch", _BOTH),
    Way(
        "SVRank",
        _BOTH,
        own=1,
        paper={
            "20-40": ((2.43, 0.13), (1.17, 0.03), None),
            "40-60": ((2.36, 0.16), (1.15, 0.07), None),
            "60-80": ((2.66, 0.09), (1.24, 0.02), None),
        },
    ),
    Way(
        "RankBoost",
        ((10.0,), (30.0,), (100.0,)),
        own=2,
        paper={
            "20-40": ((12.88, 2.15), (2.59, 0.04), None),
            "40-60": ((20.06, 2.76), (2.99, 0.12), (0.476, 0.007)),
            "60-80": ((21.35, 2.71), (3.82, 0.23), (0.463, 0.011)),
        },
    ),
)


def groups() -> Iterator[Group]:
    """Reference users by their number of ratings."""
    for least in (20, 40, 60):
        yield Group(least, least + 20)


def load(file: Path) -> Ratings:
    """Ratings of people by films, and the same with a person's median where there is none."""
    given = movies.load(file).astype(np.float64)
    given[given == 0] = np.nan
    given = given[~np.isnan(given).all(axis=1)]
    medians = np.nanmedian(given, axis=1)[:, None]
    return Ratings(given, np.where(np.isnan(given), medians, given))


def _judge(_: Group, means: Means) -> tuple[str, bool]:
    near = means["on-line"][0] <= _NEAR * means["batch"][0]
    below = bool((means["on-line"][:2] < means["RankBoost"][:2]).all())
    said = (
        f"on-line MPRank is {'' if near else 'NOT '}within {_NEAR - 1:.0%} of batch, "
        f"and {'' if below else 'NOT '}below RankBoost in both differences"
    )
    return said, not (near and below)


def report(ratings: Ratings, trials: int, users: int) -> int:
    """Print the tables; 1 if what is asked is not so."""
    counts = ratings.counts
    people = np.flatnonzero((counts >= _LEAST_RATINGS) & (counts <= _MOST_RATINGS))
    print("MovieLens")
    return mp_tables.report(ratings, people, list(groups()), WAYS, _judge, trials, users)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "--data", type=Path, required=True, help="MovieLens 100K's u.data, or u.data.gz"
    )
    parser.add_argument("--trials", type=whole, default=10, help="(%(default)s, as the paper)")
    parser.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(load(given.data), given.trials, given.users)
