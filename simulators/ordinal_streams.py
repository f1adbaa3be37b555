"""`OrdinalLogit` with its defaults on streams whose truth is known: losses, calibration, what a drift does, coverage of sets."""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.stats import norm

from simulators.arguments import whole
from simulators.ordinal_sets import scores_of
from stream_rank import OrdinalLogit, PredictionSets, Scale
from stream_rank.datasets.oap_stream import OAPStream

__all__ = [
    "Figure",
    "add",
    "after_a_drift",
    "calibration",
    "figures",
    "known_stream",
    "reliability",
    "report",
    "run",
]

Array = npt.NDArray[Any]

_EDGES = np.array([-2.0, -0.5, 0.7, 2.0])
_TRUE = np.array([1.5, -1.0, 0.5, 0.0])
_LINE = "{:<58}{:>9}{:>10}"


class Figure(NamedTuple):
    """What was measured, and what it must not be above."""

    what: str
    found: float
    most: float


def _loss(model: Any, X: Array, y: Array) -> float:
    return float(np.abs(model.predict_many(X) - y).mean())


def _oap(trials: int) -> float:
    """The mean loss on 1,000 fresh events after 5,000."""
    found = []
    for trial in range(trials):
        X, y = OAPStream(seed=trial, features="quadratic").arrays(6_000)
        model = OrdinalLogit(n_ranks=5)
        model.learn_many(X[:5_000], y[:5_000])
        found.append(_loss(model, X[5_000:], y[5_000:]))
    return float(np.mean(found))


def _oap_on_the_way(trials: int, events: int) -> float:
    """The mean loss of predictions before each event is learned."""
    found = []
    for trial in range(trials):
        X, y = OAPStream(seed=trial, features="quadratic").arrays(events)
        found.append(np.abs(OrdinalLogit(n_ranks=5).test_then_train(X, y) - y).mean())
    return float(np.mean(found))


def _wide(events: int, width: int = 500, n_ranks: int = 6, noise: float = 0.25) -> float:
    """The loss on 2,000 fresh events of a straight rule over many features, all of the same use."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(events + 2_000, width))
    weights = generator.normal(size=width)
    score = X @ (weights / np.linalg.norm(weights)) + generator.normal(0, noise, len(X))
    edges = norm.ppf(np.arange(1, n_ranks) / n_ranks) * np.sqrt(1 + noise**2)
    y = np.searchsorted(edges, score) + 1
    model = Scale() | OrdinalLogit(n_ranks=n_ranks)
    many: Any = model
    many.learn_many(X[:events], y[:events])
    return _loss(many, X[events:], y[events:])


def known_stream(events: int, seed: int) -> tuple[Array, Array, Array]:
    """Events of a cumulative logit, their labels, and the true probabilities."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(events, len(_TRUE)))
    below = expit(_EDGES - (X @ _TRUE)[:, None])
    shares = np.diff(below, axis=1, prepend=0.0, append=1.0)
    y = (generator.random(events)[:, None] > below).sum(axis=1) + 1
    return X, y, shares


def calibration(events: int) -> tuple[float, float, Array, Array, Array]:
    """The ranked probability scores of the learner and of the truth on fresh events, both shares, and the labels."""
    X, y, _ = known_stream(events, 1)
    model = OrdinalLogit(n_ranks=len(_EDGES) + 1)
    model.learn_many(X, y)
    fresh, labels, truth = known_stream(20_000, 2)
    shares = model.predict_proba_many(fresh)
    return scores_of(shares, labels)[0], scores_of(truth, labels)[0], shares, truth, labels


def reliability(shares: Array, truth: Array, y: Array, rank: int = 2) -> Iterator[list[float]]:
    """Of tenths of the events, by the probability of at most a rank: what was said, how often it was so, and what is true."""
    said, true = (each[:, :rank].sum(axis=1) for each in (shares, truth))
    for tenth in np.array_split(np.argsort(said, kind="stable"), 10):
        yield [float(each[tenth].mean()) for each in (said, (y <= rank).astype(np.float64), true)]


def after_a_drift(events: int) -> tuple[float, float]:
    """The loss from 500 events after a sudden drift on over that before it, and how far coverage of sets is off after it."""
    X, y, _ = known_stream(2 * events, 3)
    X[events:] *= -1.0  # the rule is the opposite one from here on
    model = OrdinalLogit(n_ranks=len(_EDGES) + 1, forgetting=0.995)
    off = np.abs(model.test_then_train(X, y) - y)
    before, after = off[events // 2 : events].mean(), off[events + 500 :].mean()
    sets = PredictionSets(OrdinalLogit(n_ranks=len(_EDGES) + 1, forgetting=0.995))
    hits = np.empty(len(y))
    for event, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        hits[event] = label in sets.predict_set_one(dict(enumerate(x)))
        sets.learn_one(dict(enumerate(x)), label)
    return float(after / before), float(abs(hits[events:].mean() - 0.9))


def figures(trials: int = 20, scale: float = 1.0) -> Iterator[Figure]:
    """All that is asked of it; `scale` is for quick tests, which ask for less."""
    events = int(50_000 * scale)
    yield Figure("OAP stream, loss after 5,000 events", _oap(trials), 0.165)
    on_the_way = _oap_on_the_way(max(1, trials // 4), events)
    yield Figure(f"OAP stream, test-then-train over {events:,}", on_the_way, 0.158)
    yield Figure("500 features, loss after 6,000 events", _wide(6_000), 0.36)
    ours, truth, *_ = calibration(max(2_000, events // 10))
    yield Figure("RPS after 5,000 events, over that of the true posterior", ours / truth, 1.01)
    recovered, off = after_a_drift(max(1_500, events // 20))
    yield Figure("loss from 500 events after a drift on, over before", recovered, 1.05)
    yield Figure("coverage of sets after the drift, off 0.9 by", off, 0.01)


def report(trials: int = 20, say: Callable[[str], object] = print) -> int:
    """Print what was measured; 1 if anything is above what it must not be above."""
    say(_LINE.format("", "here", "at most"))
    failed = False
    for each in figures(trials):
        failed |= not each.found <= each.most
        say(_LINE.format(each.what, f"{each.found:.4f}", f"{each.most:g}"))
    say("\nP(rank <= 2), by tenths of events: said, seen, true")
    *_, shares, truth, y = calibration(5_000)
    for row in reliability(shares, truth, y):
        say("  ".join(f"{value:.3f}" for value in row))
    return int(failed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.trials)
