"""Tables 1 and 2 of the magnitude-preserving paper on Jester: jokes, rated from -10 to 10.

The protocol is that of `people.py`, and the methods those of `mp_tables.py`; test users have at least 50 ratings. It is asked that on-line MPRank
is no worse than the paper's MPRank.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators import mp_tables
from simulators.arguments import whole
from simulators.mp_tables import Means, Way
from simulators.people import Group, Ratings
from simulators.readers.jester import ratings_of

__all__ = ["WAYS", "add", "groups", "load", "report", "run", "testers"]

Array = npt.NDArray[Any]

_LEAST_RATINGS = 50
_WIDTHS = (50.0, 100.0, 200.0)
WAYS = (
    Way(
        "on-line",
        tuple(product(_WIDTHS, (30.0, 100.0, 300.0))),
        paper={
            "20-40": ((51.34, 2.90), (5.08, 0.15), (0.414, 0.005)),
            "40-60": ((46.77, 2.03), (4.98, 0.13), (0.418, 0.007)),
            "60-80": ((49.33, 3.11), (4.88, 0.14), None),
        },
    ),
    Way("one pass", like="on-line"),
    Way("batch", like="on-line"),
    Way(
        "SVRank",
        tuple(product(_WIDTHS, (100.0, 1000.0, 10_000.0))),
        own=1,
        paper={
            "20-40": ((55.00, 5.14), (5.40, 0.20), None),
            "40-60": ((57.75, 5.14), (5.27, 0.20), None),
            "60-80": ((56.06, 4.26), (5.25, 0.19), None),
        },
    ),
    Way(
        "RankBoost",
        ((10.0,), (30.0,), (100.0,)),
        own=2,
        paper={
            "20-40": ((77.08, 17.1), (5.97, 0.16), (0.479, 0.008)),
            "40-60": ((80.00, 18.2), (6.18, 0.11), (0.432, 0.005)),
            "60-80": ((88.61, 18.6), (6.46, 0.20), None),
        },
    ),
)


def groups() -> Iterator[Group]:
    """The groups of the tables. The paper's table 2 has no figure for 60-80."""
    yield Group(20, 40)
    yield Group(40, 60, (46.8, 4.98, 0.418))
    yield Group(60, 80, (49.3, 4.88, 0.380))


def load(file: Path) -> Ratings:
    """The ratings as they are shipped, and with medians where there is none."""
    given = ratings_of(file)
    return Ratings(given, np.where(np.isnan(given), np.nanmedian(given, axis=1)[:, None], given))


def testers(ratings: Ratings) -> Array:
    """Users with enough ratings to learn from and to test on."""
    return np.flatnonzero(ratings.counts >= _LEAST_RATINGS)


def _judge(group: Group, means: Means) -> tuple[str, bool]:
    ours, boosted = means["on-line"], means["RankBoost"]
    below = bool((ours[:2] < boosted[:2]).all())
    said = f"on-line MPRank is {'' if below else 'NOT '}below RankBoost in both differences, as the paper has it"
    if group.required is None:
        return said, False
    bad = bool((ours > group.required).any())
    asked = ", ".join(f"{each:g}" for each in group.required)
    return f"{said}, and {'NOT ' if bad else ''}within what is asked: {asked}", bad


def report(ratings: Ratings, trials: int, users: int) -> int:
    """Print the tables; 1 if a required figure is not reached."""
    print("Jester")
    return mp_tables.report(ratings, testers(ratings), list(groups()), WAYS, _judge, trials, users)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="jester-data-1.csv, or .csv.gz")
    parser.add_argument("--trials", type=whole, default=10, help="(%(default)s, as the paper)")
    parser.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(load(given.data), given.trials, given.users)
