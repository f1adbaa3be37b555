"""Two pictures of the batch methods: what leaving out every pair costs, and what theory promises beside what is measured.

Times are the processor's, of one core. The gap is by how much the squared loss of pairs of other events is off that of the pairs learned; a
twentieth of the draws are farther off than what is drawn, as the bound has it.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.arguments import picture, whole
from simulators.pictures import begin, save
from stream_rank import Gaussian, bounds
from stream_rank.batch import MPRank, RankRLS

__all__ = ["add", "draw", "gap", "run", "seconds"]

Array = npt.NDArray[Any]

_DELTA = 0.05
_FEATURES = 20
_OTHERS = 20_000
_TRADE_OFFS = (1.0, 0.01)


def events(m: int, n_features: int, seed: int) -> tuple[Array, Array]:
    """Labels from 0 to 1 of events no longer than 1: a smooth rule, and noise."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1, 1, (m, n_features)) / np.sqrt(n_features)
    signal = 0.5 + 0.3 * np.sin(3 * X[:, 0] * np.sqrt(n_features))
    return X, np.clip(signal + generator.uniform(-0.2, 0.2, m), 0, 1)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def seconds(m: int) -> tuple[float, float, float]:
    """Learning with a kernel, leaving out every pair from it, and from a linear rule."""
    X, y = events(m, _FEATURES, seed=m)
    learning, model = _timed(lambda: RankRLS(kernel=Gaussian(1.0)).fit(X, y))
    leaving, _ = _timed(model.leave_pair_out)
    linear, _ = _timed(RankRLS().fit(X, y).leave_pair_out)
    return learning, leaving, linear


def loss(scores: Array, y: Array) -> float:
    """The mean squared difference over all pairs: twice the variance of what is left."""
    return 2 * float(np.var(scores - y))


def gap(m: int, C: float, draws: int) -> float:
    """By how much the loss on other events is off, but for a twentieth of the draws."""
    other_X, other_y = events(_OTHERS, 2, seed=0)
    off = []
    for draw in range(1, draws + 1):
        X, y = events(m, 2, seed=draw)
        model = MPRank(C).fit(X, y)
        off.append(abs(loss(model.predict(other_X), other_y) - loss(model.predict(X), y)))
    return float(np.quantile(off, 1 - _DELTA))


def promised(m: int, C: float) -> float:
    """The bound, for events no longer than 1 and labels from 0 to 1."""
    return bounds.magnitude_preserving(m, C, 1.0, 0.5 + (C / 2) ** 0.5, 2, _DELTA).gap


def draw(most: int, draws: int, out: Path) -> None:
    """Measure, print, and save the picture."""
    pyplot = begin()

    seconds(50)  # loads what is not loaded yet
    sizes = [size for size in (250, 500, 1000, 2000, 4000) if size <= most] or [most]
    print(f"{'events':>8}{'learn':>12}{'all pairs':>12}{'linear':>12}")
    times = []
    for size in sizes:
        times.append(seconds(size))
        print(f"{size:8,}" + "".join(f"{each:10.3f} s" for each in times[-1]), flush=True)
    plot, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    names = (
        "learning, Gaussian kernel",
        "leaving out all pairs, of it",
        "the same, 20 features, linear",
    )
    for column, (name, mark) in enumerate(zip(names, ("o-", "s--", "^-."), strict=True)):
        left.plot(sizes, [row[column] for row in times], mark, color=f"C{column}", label=name)
    for power, style in ((3, ":"), (2, (0, (1, 4)))):
        last = times[-1][0 if power == 3 else 2]
        line = [last * (size / sizes[-1]) ** power for size in sizes]
        left.plot(
            sizes, line, linestyle=style, color="0.4", label=f"events to the power of {power}"
        )
    left.set(
        xlabel="events",
        ylabel="seconds of the processor",
        title="RankRLS: exact leave-pair-out, one core",
    )
    left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    learned = [100, 1000, 10_000]
    wide = np.geomspace(100, 1e8, 50)
    print(f"\n{'events':>8}{'C':>8}{'measured':>12}{'promised':>12}")
    for color, C in enumerate(_TRADE_OFFS):
        measured = [gap(m, C, draws) for m in learned]
        for m, each in zip(learned, measured, strict=True):
            print(f"{m:8,}{C:8g}{each:12.4f}{promised(m, C):12.4f}", flush=True)
        most_loss = (1 + (2 * C) ** 0.5) ** 2
        lines = [promised(int(m), C) for m in wide]
        right.plot(
            wide,
            lines,
            "-" if color == 0 else "--",
            color=f"C{color}",
            label=f"promised, C = {C:g}",
        )
        right.plot(learned, measured, "os"[color], color=f"C{color}", label=f"measured, C = {C:g}")
        dots = (":", (0, (1, 4)))[color]
        name = f"largest loss, C = {C:g}"
        right.axhline(most_loss, color=f"C{color}", linestyle=dots, label=name)
    right.set(
        xlabel="events",
        ylabel="gap of the squared loss",
        title="MPRank: promised and measured, δ = 0.05",
    )
    for axes in (left, right):
        axes.set(xscale="log", yscale="log")
        axes.minorticks_off()
        axes.legend(
            frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2
        )
    left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    save(plot, out)
    print(out)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--events", type=whole, default=2000, help="at most (%(default)s)")
    parser.add_argument("--draws", type=whole, default=100, help="of samples (%(default)s)")
    parser.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    draw(given.events, given.draws, given.out)
    return 0
