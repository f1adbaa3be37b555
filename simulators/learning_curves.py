"""Figure 2 of the OAP paper: rank loss so far against events, on the synthetic stream."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.arguments import picture, whole
from simulators.pictures import STYLES, begin, save
from stream_rank import OAPBPM, OAPVP, AveragedPRank, OAPBagg, PRank, WidrowHoff
from stream_rank.datasets.oap_stream import OAPStream

__all__ = ["BAYES_LOSS", "add", "curves", "draw", "run"]

BAYES_LOSS = 0.152
"""What no rule on this stream goes below."""

_LEARNERS: dict[str, Any] = {
    "PRank": lambda _: PRank(n_ranks=5),
    "Widrow-Hoff, 0.1": lambda _: WidrowHoff(n_ranks=5, learning_rate=0.1),
    "OAP-Bagg": lambda seed: OAPBagg(n_ranks=5, seed=seed),
    "OAP-VP": lambda seed: OAPVP(n_ranks=5, seed=seed),
    "OAP-BPM": lambda seed: OAPBPM(n_ranks=5, seed=seed),
    "Averaged PRank": lambda _: AveragedPRank(n_ranks=5),
}


def curves(trials: int, events: int) -> dict[str, npt.NDArray[np.float64]]:
    """The mean loss so far of every learner after every event, each event predicted before it is learned."""
    result = {name: np.zeros(events) for name in _LEARNERS}
    for trial in range(trials):
        X, y = OAPStream(seed=trial, features="quadratic").arrays(events)
        for name, make in _LEARNERS.items():
            off = np.abs(make(trial).test_then_train(X, y) - y)
            result[name] += np.cumsum(off) / np.arange(1, events + 1) / trials
    return result


def draw(trials: int, events: int, out: Path) -> None:
    """Save the picture, the same bytes whenever it is drawn."""
    pyplot = begin()

    plot, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    shown = np.unique(np.geomspace(50, events, 300).astype(int)) - 1
    found = curves(trials, events)
    by_end = sorted(found.items(), key=lambda item: -item[1][-1])
    for (name, curve), style in zip(by_end, STYLES, strict=False):
        label = f"{name} ({curve[-1]:.3f})"
        axes.plot(shown + 1, curve[shown], linestyle=style, linewidth=1.8, label=label)
    axes.axhline(
        BAYES_LOSS, color="grey", linestyle=":", label=f"no rule does better ({BAYES_LOSS})"
    )
    axes.set(
        xscale="log",
        ylim=(0, 1.6),
        xlabel="events",
        ylabel="rank loss so far (steps an event)",
        title=f"Predict, then learn: the OAP paper's synthetic stream, mean of {trials} trials",
    )
    axes.legend(title="after the last event", frameon=False, loc="upper right")
    save(plot, out)
    print(f"{out}: {', '.join(found)} over {events:,} events")


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s, as the paper)")
    parser.add_argument("--events", type=whole, default=20_000, help="(%(default)s)")
    parser.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    draw(given.trials, given.events, given.out)
    return 0
