"""Table 1 of the OAP paper: rank loss on 1,000 fresh events after 5,000 events of the synthetic stream.

The paper's text speaks of 50,000 training events; its figures come out with 5,000. OAP-Bagg and OAP-VP are measured by
their mean vote, not rounded; Widrow-Hoff by the nearest rank. Every trial has its own stream and
coins. Intervals are Student's t, 95 percent.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from simulators.arguments import whole
from stream_rank import OAPBPM, OAPVP, OAPBagg, Polynomial, PRank, VotedPRank, WidrowHoff
from stream_rank.datasets.oap_stream import OAPStream

__all__ = ["Figure", "add", "agrees", "losses", "report", "rows", "run"]

_TEST_EVENTS = 1000
_MEMBERS = 100


class Row(NamedTuple):
    """A line of the table: a learner, how to make it, and the paper's loss and interval."""

    name: str
    make: Callable[..., Any]
    paper: float
    interval: float
    has_kernel: bool = True
    required: bool = True


class Figure(NamedTuple):
    """A mean over trials and half the width of its interval."""

    mean: float
    interval: float


def rows() -> Iterator[Row]:
    """The learners of the table, and the paper's figures for them."""
    for kind, figures in (
        (OAPBPM, ((0.23, 0.01), (0.24, 0.03), (0.26, 0.03))),
        (OAPBagg, ((0.33, 0.01), (0.31, 0.02), (0.32, 0.03))),
        (OAPVP, ((0.32, 0.01), (0.31, 0.02), (0.31, 0.03))),
    ):
        for sampling, (paper, interval) in zip((0.3, 0.6, 0.9), figures, strict=True):
            yield Row(f"{kind.__name__} τ={sampling}", _ensemble(kind, sampling), paper, interval)
    # the paper prints an interval of 0.2 here, against 0.01 to 0.03 elsewhere: taken for 0.02
    yield Row(
        "WidrowHoff 0.1",
        lambda _: WidrowHoff(n_ranks=5, learning_rate=0.1),
        0.30,
        0.02,
        has_kernel=False,
    )
    yield Row("PRank", lambda _, **kernel: PRank(n_ranks=5, **kernel), 0.37, 0.07)
    # no limit: the paper keeps every hypothesis
    yield Row(
        "VotedPRank",
        lambda _: VotedPRank(n_ranks=5, max_hypotheses=5000),
        0.31,
        0.00,
        has_kernel=False,
        required=False,
    )


def _ensemble(kind: Callable[..., Any], sampling: float) -> Callable[..., Any]:
    return lambda seed, **form: kind(
        n_ranks=5, n_members=_MEMBERS, sampling=sampling, seed=seed, **form
    )


def losses(row: Row, trials: int, events: int, kernel: bool) -> npt.NDArray[np.float64]:
    """The loss of every trial; `kernel` learns from the raw coordinates instead of their products."""
    form = {"kernel": Polynomial(2, 1.0), "budget": events} if kernel else {}
    result = np.empty(trials)
    for trial in range(trials):
        stream = OAPStream(seed=trial, features="raw" if kernel else "quadratic")
        X, y = stream.arrays(events + _TEST_EVENTS)
        model = row.make(trial, **form)
        model.learn_many(X[:events], y[:events])
        voting = isinstance(model, OAPBagg | OAPVP | VotedPRank)
        ask = model.vote_many if voting else model.predict_many
        result[trial] = np.abs(ask(X[events:]) - y[events:]).mean()
    return result


def figure(values: npt.NDArray[np.float64]) -> Figure:
    """Their mean, and half the width of its 95 percent interval."""
    if len(values) < 2:
        return Figure(float(values.mean()), float("inf"))
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Figure(float(values.mean()), float(half))


def agrees(row: Row, ours: Figure) -> bool:
    """Whether the figures differ by no more than both intervals."""
    return abs(ours.mean - row.paper) <= row.interval + ours.interval


def report(trials: int, events: int, form: str) -> int:
    """Print the table; 1 if a required figure does not agree."""
    forms = {"explicit": [False], "kernel": [True], "both": [False, True]}[form]
    heads = ["kernel" if kernel else "explicit map" for kernel in forms]
    print(
        f"Rank loss on {_TEST_EVENTS} events after {events}, mean of {trials} trials ± 95 % interval"
    )
    print(f"{'':16}{'paper':>13}", *(f"{head:>17}" for head in heads))
    failed = False
    for row in rows():
        print(f"{row.name:16}{row.paper:6.2f} ± {row.interval:.2f}", end="", flush=True)
        for kernel in forms:
            if row.has_kernel or not kernel:
                ours = figure(losses(row, trials, events, kernel))
                good = agrees(row, ours)
                failed |= row.required and not good
                shown = f"{ours.mean:.3f} ± {ours.interval:.3f}{'' if good else ' ≠'}"
                print(f"{shown:>18}", end="", flush=True)
        print()
    print("≠: further from the paper's figure than both intervals together")
    return int(failed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s, as the paper)")
    parser.add_argument("--events", type=whole, default=5000, help="to train on (%(default)s)")
    parser.add_argument("--form", choices=["explicit", "kernel", "both"], default="both")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.trials, given.events, given.form)
