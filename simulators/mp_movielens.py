"""Tables 1 and 2 of the magnitude-preserving paper on MovieLens: films, rated from 1 to 5.

The protocol is that of `simulators.jester`; test users have 50 to 300 ratings. The paper has a million ratings by 6,040 people. MovieLens 100K has 943 people, and the
groups fewer than the 300 reference users, of whom all are taken then; so the paper's figures are printed beside ours, and nothing is asked but that on-line MPRank comes to what
the batch method finds, and that it is below RankBoost in the errors of table 1, as the paper has it.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators import jester, movies
from simulators.arguments import whole
from simulators.jester import METRICS, Group, Ratings, Split, split
from stream_rank import Gaussian
from stream_rank.batch import RankBoost, SVRank

__all__ = ["WAYS", "Setting", "add", "groups", "load", "report", "run", "scores"]

Array = npt.NDArray[Any]

_LEAST_RATINGS, _MOST_RATINGS = 50, 300
_WIDTHS = (5.0, 10.0, 20.0, 40.0)
_TRADE_OFFS = (3.0, 30.0, 300.0)
_ROUNDS = (10, 30, 100)
_EPSILON = 0.1
_NEAR = 1.02
"""How many times the batch method's error the on-line learner's may be."""


Said = tuple[float, float] | None
"""A figure of the paper and its deviation."""


class Way(NamedTuple):
    """A method, the settings that are tried, and the paper's figures by group: MSD, M1D, misranking."""

    name: str
    settings: tuple[tuple[float, ...], ...]
    paper: tuple[tuple[Said, Said, Said], ...] | None = None


_BOTH = tuple((width, C) for width in _WIDTHS for C in _TRADE_OFFS)
Setting = tuple[float, ...]

WAYS = (
    Way(
        "on-line",
        _BOTH,
        (
            ((2.01, 0.02), (1.04, 0.05), None),
            ((2.02, 0.06), (1.04, 0.02), (0.471, 0.005)),
            ((2.07, 0.05), (1.06, 0.01), (0.442, 0.005)),
        ),
    ),
    Way("batch", _BOTH),
    Way(
        "SVRank",
        _BOTH,
        (
            ((2.43, 0.13), (1.17, 0.03), None),
            ((2.36, 0.16), (1.15, 0.07), None),
            ((2.66, 0.09), (1.24, 0.02), None),
        ),
    ),
    Way(
        "RankBoost",
        tuple((float(rounds),) for rounds in _ROUNDS),
        (
            ((12.88, 2.15), (2.59, 0.04), None),
            ((20.06, 2.76), (2.99, 0.12), (0.476, 0.007)),
            ((21.35, 2.71), (3.82, 0.23), (0.463, 0.011)),
        ),
    ),
)


def groups() -> Iterator[Group]:
    """Reference users by their number of ratings; figures are with the ways."""
    for least in (20, 40, 60):
        yield Group(least, least + 20, (np.nan, np.nan, None), None)


def load(file: Path) -> Ratings:
    """Ratings of people by films, and the same with a person's median where there is none."""
    given = movies.load(file).astype(np.float64)
    given[given == 0] = np.nan
    given = given[~np.isnan(given).all(axis=1)]
    medians = np.nanmedian(given, axis=1)[:, None]
    return Ratings(given, np.where(np.isnan(given), medians, given))


def scores(films: Split, way: str, setting: Setting) -> Array:
    """The predictions for the films that were not learned."""
    if way == "RankBoost":
        return np.asarray(RankBoost(int(setting[0])).fit(films.X, films.y).predict(films.others))
    width, C = setting
    if way == "SVRank":
        model = SVRank(C, _EPSILON, Gaussian(width), tol=1e-3)
        return np.asarray(model.fit(films.X, films.y).predict(films.others))
    return jester.scores(films, width, C, way)


def _errors(films: Split, way: str, setting: Setting) -> list[float]:
    predicted, found = scores(films, way, setting), []
    for kind in METRICS:
        metric = kind()
        for label, score in zip(films.other_y, predicted, strict=True):
            metric.update(label, score)
        found.append(metric.get())
    return found


def _tune(splits: list[Split], way: Way) -> Setting:
    """What is best in its own measure: mean squared difference, or misrankings for RankBoost."""
    column = 2 if way.name == "RankBoost" else 0
    found = {
        setting: float(np.mean([_errors(films, way.name, setting)[column] for films in splits]))
        for setting in way.settings
    }
    return min(found, key=found.__getitem__)


def _beside(mean: float, deviation: float, said: Said, digits: int) -> str:
    """The paper's figure, behind a sign that says whether ours is the same within both deviations, lower or higher."""
    if said is None:
        return ""
    apart = abs(mean - said[0]) > deviation + said[1]
    sign = ("<" if mean < said[0] else ">") if apart else "="
    return f"{sign} {said[0]:.{digits}f} ± {said[1]:.{digits}f}"


def report(ratings: Ratings, trials: int, users: int) -> int:
    """Print the tables; 1 if what is asked is not so."""
    counts, failed = ratings.counts, False
    people = np.flatnonzero((counts >= _LEAST_RATINGS) & (counts <= _MOST_RATINGS))
    print(
        f"MovieLens, {min(users, len(people))} test users, mean of {trials} trials ± deviation between them; after each the paper's figure, and whether\n"
        f"ours is the same within both deviations (=), lower (<) or higher (>)\n"
        f"{'':18}{'mean squared difference':>34}{'mean 1-norm difference':>34}{'misranking':>34}"
    )
    for at, group in enumerate(groups()):
        generator = np.random.default_rng(10_000)
        drawn = generator.choice(people, max(4, users // 12), replace=False)
        tuned = [split(ratings, group, user, generator) for user in drawn]
        rest = np.setdiff1d(people, drawn)
        means: dict[str, Array] = {}
        for way in WAYS:
            if sys.stdout.isatty():
                print(f"{group.name}: {way.name} ...", end="\r", flush=True)
            setting = _tune(tuned, way)
            results = []
            for trial in range(trials):
                generator = np.random.default_rng(trial)
                chosen = generator.choice(rest, min(users, len(rest)), replace=False)
                films = [split(ratings, group, user, generator) for user in chosen]
                results.append(
                    np.mean([_errors(each, way.name, setting) for each in films], axis=0)
                )
            mean, deviation = np.mean(results, axis=0), np.std(results, axis=0)
            means[way.name] = mean
            line = f"{group.name:7}{way.name:11}"
            for column in range(len(METRICS)):
                digits = 3 if column == 2 else 2
                said = None if way.paper is None else way.paper[at][column]
                ours = f"{mean[column]:.{digits}f} ± {deviation[column]:.{digits}f}"
                line += f"{ours:>16}{_beside(mean[column], deviation[column], said, digits):>18}"
            print(line, flush=True)
        near = means["on-line"][0] <= _NEAR * means["batch"][0]
        below = bool((means["on-line"][:2] < means["RankBoost"][:2]).all())
        failed |= not (near and below)
        print(
            f"{'':7}on-line MPRank is {'' if near else 'NOT '}within {_NEAR - 1:.0%} of batch, "
            f"and {'' if below else 'NOT '}below RankBoost in both differences"
        )
    return int(failed)


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
