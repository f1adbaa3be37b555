"""Figure 1 of the magnitude-preserving paper: on-line MPRank converges to the batch solution, and when it is faster.

The paper's ratings (Netflix) are not to be had. With `--films` they are those of MovieLens 100K's most zealous reviewer, 737, by what 300 others gave, as in the paper's tables; width and C
are the best in mean squared difference on the ratings of the second. Without, labels are a smooth function of ten features, with noise, and there are as many as one
likes. Times are the processor's, of one core, and both have the kernel's values in them, which the paper leaves out: the on-line learner learns one event after the other, and then sweeps until
its cost is within a thousandth of the least possible; the batch solution solves eq. 13.
"""

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators import mp_movielens
from simulators.arguments import picture, whole
from simulators.people import Ratings
from simulators.pictures import begin, save
from stream_rank import MSD, Gaussian, OnlineMPRank

__all__ = [
    "SMOOTH",
    "Curves",
    "Histogram",
    "Source",
    "add",
    "convergence",
    "draw",
    "films",
    "run",
    "times",
]

Array = npt.NDArray[Any]

_FEATURES = 10
_TOLERANCE = 1e-3
_REFERENCES = 300
_WIDTHS, _TRADE_OFFS = (5.0, 10.0, 20.0, 40.0), (3.0, 30.0, 300.0)
_SIZES = (100, 200, 400, 500, 1000, 2000, 4000, 8000)
_LEAST_TIMED = 500


class Source(NamedTuple):
    """Where events come from, the kernel's width, C, how many errors are measured of, and at most how many there are."""

    name: str
    events: Callable[[int, int], tuple[Array, Array]]
    """So many, in an order that is the seed's."""
    width: float
    trade_off: float
    some: int
    most: int | None = None


def _smooth(count: int, seed: int) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, _FEATURES))
    y = np.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + X[:, 3] + generator.normal(0, 1.5, count)
    return X, y


SMOOTH = Source("a smooth rule", _smooth, 3.0, 300.0, 700)
"""Of about as many events as the paper's typical reviewer has, to learn and to test."""


def _of(ratings: Ratings, person: int) -> tuple[Array, Array]:
    """Somebody's ratings, by those of others."""
    others = np.delete(np.arange(len(ratings.given)), person)
    references = np.random.default_rng(person).choice(
        others, min(_REFERENCES, len(others)), replace=False
    )
    seen = np.flatnonzero(~np.isnan(ratings.given[person]))
    return ratings.filled[references].T[seen], ratings.given[person, seen]


def films(file: Path) -> Source:
    """The films of who rated most."""
    ratings = mp_movielens.load(file)
    second, first = np.argsort(ratings.counts, kind="stable")[-2:]
    X, y = _of(ratings, int(second))
    half = len(y) // 2
    order = np.random.default_rng(0).permutation(len(y))
    learned, other = order[:half], order[half:]

    def off(setting: tuple[float, float]) -> float:
        alphas = solve(X[learned], y[learned], *setting)
        return msd(y[other], _kernel(X[other], X[learned], setting[0]) @ alphas)

    width, trade_off = min(product(_WIDTHS, _TRADE_OFFS), key=off)
    X, y = _of(ratings, int(first))

    def events(count: int, seed: int) -> tuple[Array, Array]:
        some = np.random.default_rng(seed).permutation(len(y))[:count]
        return X[some], y[some]

    name = f"MovieLens 100K, one reviewer's {len(y)} films"
    return Source(name, events, width, trade_off, len(y) // 2, len(y))


def _kernel(A: Array, B: Array, width: float) -> Array:
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * (A @ B.T)
    values: Array = np.exp(squares / (-2 * width**2))
    return values


def solve(X: Array, y: Array, width: float, trade_off: float) -> Array:
    """The coefficients of eq. 13."""
    m = len(y)
    K = _kernel(X, X, width)
    means = K.mean(axis=0)
    K += means.mean() - means - means[:, None]
    K[np.diag_indices(m)] += m / (2 * trade_off)
    alphas: Array = np.linalg.solve(K, y - y.mean())
    alphas -= alphas.mean()
    return alphas


def msd(labels: Array, scores: Array) -> float:
    """Mean squared difference."""
    metric = MSD()
    for label, score in zip(labels, scores, strict=True):
        metric.update(label, score)
    return metric.get()


class Curves(NamedTuple):
    """Errors after every pass, and those of the batch solution: of what was learned, and of other events."""

    learned: list[float]
    other: list[float]
    batch_learned: float
    batch_other: float


def convergence(passes: int, source: Source = SMOOTH) -> Curves:
    """Errors against passes."""
    X, y = source.events(2 * source.some, 1)
    some = source.some
    X, y, test_X, test_y = X[:some], y[:some], X[some:], y[some:]
    alphas = solve(X, y, source.width, source.trade_off)
    model = OnlineMPRank(C=source.trade_off, kernel=Gaussian(source.width), budget=some)
    model.learn_many(X, y)
    learned, other = [], []
    for _ in range(passes):
        learned.append(msd(y, model.predict_many(X)))
        other.append(msd(test_y, model.predict_many(test_X)))
        model.sweep()
    here, there = (_kernel(each, X, source.width) @ alphas for each in (X, test_X))
    return Curves(learned, other, msd(y, here), msd(test_y, there))


class Histogram(NamedTuple):
    """Seconds for so many events, on-line and by eq. 13, the on-line learner's passes, and how far apart their scores are."""

    events: int
    on_line: float
    batch: float
    passes: int
    apart: float


def times(n_events: int, source: Source = SMOOTH) -> Histogram:
    """Learn a set in both ways."""
    X, y = source.events(n_events, 2)
    start = time.process_time()
    model = OnlineMPRank(C=source.trade_off, kernel=Gaussian(source.width), budget=n_events)
    model.learn_many(X, y)
    passes = 1 + model.settle(_TOLERANCE)
    on_line = time.process_time() - start
    start = time.process_time()
    alphas = solve(X, y, source.width, source.trade_off)
    batch = time.process_time() - start
    test_X, _ = source.events(300, 3)
    ours, theirs = model.predict_many(test_X), _kernel(test_X, X, source.width) @ alphas
    apart = float(np.std(ours - theirs) / np.std(theirs))
    return Histogram(n_events, on_line, batch, passes, apart)


def draw(most: int, passes: int, out: Path, source: Source = SMOOTH) -> None:
    """Measure, print, and save the picture."""
    pyplot = begin()

    times(50, source)  # compiles what is not compiled yet
    print(f"{source.name}: width {source.width:g}, C {source.trade_off:g}")
    print(f"{'events':>8}{'on-line':>12}{'batch':>12}{'passes':>9}{'scores apart':>15}")
    measured = []
    least = _LEAST_TIMED if source.most is None else 0
    most = most if source.most is None else min(most, source.most)
    for size in [*(size for size in _SIZES if least <= size < 0.8 * most), most]:
        row = times(size, source)
        measured.append(row)
        print(
            f"{row.events:8,}{row.on_line:10.3f} s{row.batch:10.3f} s{row.passes:9}{row.apart:14.1%}",
            flush=True,
        )
    curves = convergence(passes, source)
    for name, last, batch in (
        ("other events", curves.other[-1], curves.batch_other),
        ("events learned", curves.learned[-1], curves.batch_learned),
    ):
        print(f"{name}: {last:.3f} after {passes} passes, {batch:.3f} of the batch solution")
    plot, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for values, batch, name, color, style in (
        (curves.other, curves.batch_other, "other events", "C0", "-"),
        (curves.learned, curves.batch_learned, "events learned", "C1", "--"),
    ):
        left.plot(range(1, passes + 1), values, style, color=color, label=f"{name}, on-line")
        left.axhline(batch, color=color, linestyle=":", label=f"{name}, batch")
    left.set(
        xlabel="passes",
        ylabel="mean squared difference",
        title=f"Error against passes, {source.some} events",
    )
    left.legend(frameon=False)
    events = [row.events for row in measured]
    right.plot(events, [row.on_line for row in measured], "o-", label="on-line, until it settles")
    right.plot(events, [row.batch for row in measured], "s:", label="batch (eq. 13)")
    right.set(
        xscale="log",
        yscale="log",
        xlabel="events",
        ylabel="seconds of the processor",
        title="Time against events, one core",
    )
    right.set_xticks(events, [f"{size:,}" for size in events])
    right.minorticks_off()
    right.legend(frameon=False)
    plot.suptitle(f"MPRank on {source.name}")
    save(plot, out)
    print(out)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--events", type=whole, default=8000, help="at most (%(default)s)")
    parser.add_argument("--passes", type=whole, default=120, help="(%(default)s, as the paper)")
    parser.add_argument(
        "--films", type=Path, help="real ratings: MovieLens 100K's u.data, or u.data.gz"
    )
    parser.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    source = SMOOTH if given.films is None else films(given.films)
    draw(given.events, given.passes, given.out, source)
    return 0
