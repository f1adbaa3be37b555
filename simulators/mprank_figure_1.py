"""Figure 1 of the magnitude-preserving paper: on-line MPRank converges to the batch solution, and when it is faster.

The paper's ratings (Netflix) are not to be had; here labels are a smooth function of ten features, with noise. Times are those of
one core, computing the kernel's values included: the on-line learner learns one event after the other, and then sweeps until
its cost is within a thousandth of the least possible; the batch solution solves eq. 13.
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt

from simulators.arguments import picture, whole
from stream_rank import MSD, Gaussian, OnlineMPRank

__all__ = ["Curves", "Histogram", "add", "convergence", "draw", "run", "times"]

Array = npt.NDArray[Any]

_FEATURES = 10
_WIDTH = 3.0
_TRADE_OFF = 300.0
_TOLERANCE = 1e-3
_EVENTS = 700
"""About as many as the paper's typical reviewer has, to learn and to test."""


def stream(n_events: int, seed: int) -> tuple[Array, Array]:
    """Events of a smooth rule."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_events, _FEATURES))
    y = np.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + X[:, 3] + generator.normal(0, 1.5, n_events)
    return X, y


def _kernel(A: Array, B: Array) -> Array:
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * (A @ B.T)
    values: Array = np.exp(squares / (-2 * _WIDTH**2))
    return values


def solve(X: Array, y: Array) -> Array:
    """The coefficients of eq. 13."""
    m = len(y)
    K = _kernel(X, X)
    means = K.mean(axis=0)
    K += means.mean() - means - means[:, None]
    K[np.diag_indices(m)] += m / (2 * _TRADE_OFF)
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


def convergence(passes: int) -> Curves:
    """Errors against passes."""
    X, y = stream(2 * _EVENTS, seed=1)
    X, y, test_X, test_y = X[:_EVENTS], y[:_EVENTS], X[_EVENTS:], y[_EVENTS:]
    alphas = solve(X, y)
    model = OnlineMPRank(C=_TRADE_OFF, kernel=Gaussian(_WIDTH), budget=_EVENTS)
    model.learn_many(X, y)
    learned, other = [], []
    for _ in range(passes):
        learned.append(msd(y, model.predict_many(X)))
        other.append(msd(test_y, model.predict_many(test_X)))
        model.sweep()
    return Curves(
        learned, other, msd(y, _kernel(X, X) @ alphas), msd(test_y, _kernel(test_X, X) @ alphas)
    )


class Histogram(NamedTuple):
    """Seconds for so many events, on-line and by eq. 13, the on-line learner's passes, and how far apart their scores are."""

    events: int
    on_line: float
    batch: float
    passes: int
    apart: float


def times(n_events: int) -> Histogram:
    """Learn a set in both ways."""
    X, y = stream(n_events, seed=2)
    start = time.perf_counter()
    model = OnlineMPRank(C=_TRADE_OFF, kernel=Gaussian(_WIDTH), budget=n_events)
    model.learn_many(X, y)
    passes = 1 + model.settle(_TOLERANCE)
    on_line = time.perf_counter() - start
    start = time.perf_counter()
    alphas = solve(X, y)
    batch = time.perf_counter() - start
    test_X, _ = stream(300, seed=3)
    ours, theirs = model.predict_many(test_X), _kernel(test_X, X) @ alphas
    apart = float(np.std(ours - theirs) / np.std(theirs))
    return Histogram(n_events, on_line, batch, passes, apart)


def draw(most: int, passes: int, out: Path) -> None:
    """Measure, print, and save the picture."""
    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "stream-rank", "svg.fonttype": "none", "font.size": 11})
    from matplotlib import pyplot

    times(50)  # compiles what is not compiled yet
    print(f"{'events':>8}{'on-line':>12}{'batch':>12}{'passes':>9}{'scores apart':>15}")
    measured = []
    sizes = [size for size in (500, 1000, 2000, 4000, 8000) if size < most]
    for size in [*sizes, most]:
        row = times(size)
        measured.append(row)
        print(
            f"{row.events:8,}{row.on_line:10.2f} s{row.batch:10.2f} s{row.passes:9}{row.apart:14.1%}",
            flush=True,
        )
    curves = convergence(passes)
    plot, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for values, batch, name, color in (
        (curves.other, curves.batch_other, "other events", "C0"),
        (curves.learned, curves.batch_learned, "events learned", "C1"),
    ):
        left.plot(range(1, passes + 1), values, color=color, label=f"{name}, on-line")
        left.axhline(batch, color=color, linestyle=":", label=f"{name}, batch")
    left.set(
        xlabel="passes",
        ylabel="mean squared difference",
        title=f"Error against passes, {_EVENTS} events",
    )
    left.legend(frameon=False)
    events = [row.events for row in measured]
    right.plot(events, [row.on_line for row in measured], "o-", label="on-line, until it settles")
    right.plot(events, [row.batch for row in measured], "s:", label="batch (eq. 13)")
    right.set(
        xscale="log",
        yscale="log",
        xlabel="events",
        ylabel="seconds",
        title="Time against events, one core",
    )
    right.set_xticks(events, [f"{size:,}" for size in events])
    right.minorticks_off()
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    out.parent.mkdir(parents=True, exist_ok=True)
    plot.savefig(
        out, metadata={"Date": None, "Creator": None} if out.suffix == ".svg" else None, dpi=150
    )
    pyplot.close(plot)
    print(out)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--events", type=whole, default=8000, help="at most (%(default)s)")
    parser.add_argument("--passes", type=whole, default=120, help="(%(default)s, as the paper)")
    parser.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    draw(given.events, given.passes, given.out)
    return 0
