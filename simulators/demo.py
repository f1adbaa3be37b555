"""Learners race on the synthetic stream, before your eyes."""

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from simulators.learning_curves import BAYES_LOSS
from simulators.synthetic import OAPStream
from stream_rank import OAPBPM, OAPVP, AveragedPRank, OAPBagg, PRank, WidrowHoff

__all__ = ["run"]

_STEPS = 40
"""Columns of a curve, and moves of the progress bar."""

_BARS = "▁▂▃▄▅▆▇█"


def _entrants(seed: int) -> dict[str, Callable[[], Any]]:
    return {
        "PRank": lambda: PRank(n_ranks=5),
        "WidrowHoff": lambda: WidrowHoff(n_ranks=5, learning_rate=0.1),
        "OAPBagg": lambda: OAPBagg(n_ranks=5, seed=seed),
        "OAPVP": lambda: OAPVP(n_ranks=5, seed=seed),
        "OAPBPM": lambda: OAPBPM(n_ranks=5, seed=seed),
        "AveragedPRank": lambda: AveragedPRank(n_ranks=5),
    }


def _curve(losses: list[float], top: float) -> str:
    """Losses as bars, the highest at `top`."""
    heights = np.clip(np.array(losses) / top * len(_BARS), 0, len(_BARS) - 1).astype(int)
    return "".join(_BARS[height] for height in heights)


def run(events: int, seed: int) -> None:
    """Let every learner predict each event and then learn it, and print how the races went."""
    live = sys.stdout.isatty()
    print(
        f"{events:,} ratings of 1 to 5 stars, one after the other. Every learner predicts\n"
        "each rating before it learns it. The loss is how many stars it is off;\n"
        f"about {BAYES_LOSS} of that is noise, which no rule can foretell.\n"
    )
    if live:
        print("compiling the engine, once on a machine ...", end="\r", flush=True)
    X, y = OAPStream(seed=seed, features="quadratic").arrays(events)
    cuts = np.unique(np.geomspace(max(1, events // 2000), events, _STEPS + 1).astype(int))
    cuts = np.concatenate([[0], cuts])
    results = []
    for name, make in _entrants(seed).items():
        make().test_then_train(X[:100], y[:100])  # compiles what is not compiled yet
        model, losses, spent = make(), [], 0.0
        for first, end in pairwise(cuts):
            start = time.perf_counter()
            predictions = model.test_then_train(X[first:end], y[first:end])
            spent += time.perf_counter() - start
            losses.append(float(np.abs(predictions - y[first:end]).mean()))
            if live:
                print(
                    f"{name:14} {_curve(losses, 1.2):{_STEPS}} {losses[-1]:.3f}",
                    end="\r",
                    flush=True,
                )
        results.append((name, losses, events / spent))
        print(
            f"{name:14} {_curve(losses, 1.2):{_STEPS}} {losses[-1]:.3f}"
            f" {events / spent / 1e6:6.1f} M/s"
        )
    best = min(results, key=lambda result: result[1][-1])
    print(
        "\nColumns are stretches of the stream, each longer than the one before: lower is"
        "\nbetter. Then the loss over the last stretch, and million events a second."
        f"\n{best[0]} ended best. In your own code:\n"
        f"\n    from stream_rank import {best[0]}"
        f"\n    model = {best[0]}(n_ranks=5)"
        "\n    model.predict_one(x)     # x: a dict of numbers"
        "\n    model.learn_one(x, y)    # y: 1 to 5"
    )
