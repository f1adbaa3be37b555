"""Tables 1 and 2 of the magnitude-preserving paper: its methods, how they are tuned, measured and printed, whatever is rated.

As in the paper, a method's settings are those that are best in its own measure on people of their own, and then every trial has its own test users: MPRank
is tuned by the mean squared difference, SVRank by the mean 1-norm difference, RankBoost, of which only the number of rounds is open, by misrankings.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators.people import Group, Ratings, Split, split
from stream_rank import M1D, MSD, Gaussian, Misranking, OnlineMPRank
from stream_rank.batch import RankBoost, SVRank

__all__ = ["METRICS", "Judge", "Means", "Setting", "Way", "errors", "report", "scores", "tune"]

Array = npt.NDArray[Any]
Setting = tuple[float, ...]
Said = tuple[float, float] | None
"""A figure of the paper and its deviation."""
Means = dict[str, Array]
"""The errors of every way."""
Judge = Callable[[Group, Means], tuple[str, bool]]
"""What is to be said of a group, and whether something that is asked is not so."""

METRICS = (MSD, M1D, Misranking)
_SEED = 10_000
"""Of those who are tuned by."""
_EPSILON = 0.1


class Way(NamedTuple):
    """A method, the settings that are tried, the column of its own measure, and the paper's figures by group."""

    name: str
    settings: tuple[Setting, ...] = ()
    own: int = 0
    paper: dict[str, tuple[Said, Said, Said]] | None = None
    like: str | None = None
    """The way whose setting is taken instead."""


def _gaussian(A: Array, B: Array, width: float) -> Array:
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * A @ B.T
    kernel: Array = np.exp(-squares / (2 * width**2))
    return kernel


def _batch(things: Split, width: float, C: float) -> Array:
    """Eq. 13."""
    m = len(things.y)
    centring = np.eye(m) - 1 / m
    K = centring @ _gaussian(things.X, things.X, width) @ centring
    alphas = np.linalg.solve(K + np.eye(m) * m / (2 * C), things.y - things.y.mean())
    found: Array = _gaussian(things.others, things.X, width) @ (centring @ alphas)
    return found


def scores(things: Split, way: str, setting: Setting) -> Array:
    """The predictions for what was not learned.

    "on-line" is MPRank after passes until its cost is within a hundredth of the least, "one pass" after the first, and "batch" eq. 13.
    """
    if way == "RankBoost":
        if (things.y == things.y[0]).all():
            return np.zeros(len(things.other_y))  # of which there is no pair to learn
        return np.asarray(RankBoost(int(setting[0])).fit(things.X, things.y).predict(things.others))
    width, C = setting
    if way == "SVRank":
        machine = SVRank(C, _EPSILON, Gaussian(width), tol=1e-3)
        return np.asarray(machine.fit(things.X, things.y).predict(things.others))
    if way == "batch":
        return _batch(things, width, C)
    model = OnlineMPRank(C=C, kernel=Gaussian(width), budget=max(100, len(things.y)))
    model.learn_many(things.X, things.y)
    if way == "on-line":
        model.settle()
    return np.asarray(model.predict_many(things.others))


def errors(things: Split, way: str, setting: Setting) -> list[float]:
    """All metrics of the predictions."""
    predicted, found = scores(things, way, setting), []
    for kind in METRICS:
        metric = kind()
        for label, score in zip(things.other_y, predicted, strict=True):
            metric.update(label, score)
        found.append(metric.get())
    return found


def tune(splits: Sequence[Split], way: Way) -> Setting:
    """What is best in its own measure."""
    found = {
        setting: float(np.mean([errors(each, way.name, setting)[way.own] for each in splits]))
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


def _line(group: Group, way: Way, setting: Setting, results: Array) -> str:
    mean, deviation = results.mean(axis=0), results.std(axis=0)
    line = f"{group.name:7}{way.name:11}{' '.join(f'{each:g}' for each in setting):>10}"
    for column in range(len(METRICS)):
        digits = 3 if column == 2 else 2
        said = None if way.paper is None else way.paper[group.name][column]
        ours = f"{mean[column]:.{digits}f} ± {deviation[column]:.{digits}f}"
        line += f"{ours:>16}{_beside(mean[column], deviation[column], said, digits):>18}"
    return line.rstrip()


def report(
    ratings: Ratings,
    people: Array,
    groups: Sequence[Group],
    ways: Sequence[Way],
    judge: Judge,
    trials: int,
    users: int,
) -> int:
    """Print both tables as one; 1 if what is asked is not so."""
    generator = np.random.default_rng(_SEED)
    drawn = generator.choice(people, max(4, users // 6), replace=False)
    rest = np.setdiff1d(people, drawn)
    users, failed = min(users, len(rest)), False
    print(
        f"{users} test users, mean of {trials} trials ± deviation between them; after each the paper's figure, and whether\n"
        f"ours is the same within both deviations (=), lower (<) or higher (>); settings are width and C, or rounds\n"
        f"{'':28}{'mean squared difference':>34}{'mean 1-norm difference':>34}{'misranking':>34}"
    )
    for group in groups:
        generator = np.random.default_rng(_SEED)
        tuned = [split(ratings, group, user, generator) for user in drawn]
        settings: dict[str, Setting] = {}
        for way in ways:
            _told(f"{group.name}: tuning {way.name}")
            settings[way.name] = settings[way.like] if way.like else tune(tuned, way)
        results: dict[str, list[Array]] = {way.name: [] for way in ways}
        for trial in range(trials):
            _told(f"{group.name}: trial {trial + 1} of {trials}")
            generator = np.random.default_rng(trial)
            chosen = generator.choice(rest, users, replace=False)
            splits = [split(ratings, group, user, generator) for user in chosen]
            for name, setting in settings.items():
                results[name].append(np.mean([errors(s, name, setting) for s in splits], axis=0))
        _told("")
        for way in ways:
            print(_line(group, way, settings[way.name], np.array(results[way.name])), flush=True)
        said, bad = judge(group, {name: np.mean(each, axis=0) for name, each in results.items()})
        failed |= bad
        print(f"{'':7}{said}", flush=True)
    return int(failed)


def _told(text: str) -> None:
    """How far it is, on a terminal."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{text}", end="", flush=True)
