"""`python -m simulators stream`: events of a stream as lines of JSON, and, on standard error, what the best rule loses of them."""

import argparse
import sys
from collections import defaultdict
from typing import Any

from simulators.arguments import amount, share, whole
from simulators.output import until_closed
from simulators.streams.described import Described
from simulators.streams.linear import Linear
from simulators.streams.named import Named
from simulators.streams.preferences import Items, Preferences
from simulators.streams.ratings import Ratings
from simulators.streams.saddle import Saddle
from simulators.streams.told import told
from stream_rank.engine.products import mean
from stream_rank.errors import ConfigError

__all__ = ["add", "run"]

_FEW = 2


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes: a command below it for each kind."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    saddle = kinds.add_parser("oap", help="the OAP paper's saddle of five ranks")
    linear = kinds.add_parser("gaussian", help="ranks by a sum of weighted normal features")
    linear.add_argument("--ranks", type=whole, default=5, help="(%(default)s)")
    linear.add_argument(
        "--missing", type=share, default=0.0, help="share of features that are not told"
    )
    terry = kinds.add_parser(
        "bradley-terry", help="preferences by a hidden utility, with logistic noise"
    )
    thurstone = kinds.add_parser("thurstone", help="the same with normal noise")
    for each in (terry, thurstone):
        each.add_argument("--items", type=whole, help="so many items with names, and no features")
        each.add_argument(
            "--tie", type=amount, default=0.0, help="leads that are smaller are ties (%(default)s)"
        )
        each.add_argument(
            "--cycles",
            type=amount,
            default=0.0,
            help="how much goes around, which no utility tells (%(default)s)",
        )
    for each in (linear, terry, thurstone):
        each.add_argument("--width", type=whole, default=6, help="features (%(default)s)")
        each.add_argument("--non-zeros", type=whole, help="features of one event; by default all")
    drifts = ("none", "sudden", "gradual", "recurring")
    for each, noise in ((saddle, 0.125), (linear, 0.5), (terry, 1.0), (thurstone, 1.0)):
        each.add_argument("--events", type=whole, default=10_000, help="(%(default)s)")
        each.add_argument("--seed", type=whole, default=1, help="(%(default)s)")
        each.add_argument("--noise", type=amount, default=noise, help="(%(default)s)")
        each.add_argument(
            "--label-noise", type=share, default=0.0, help="share of labels that tell nothing"
        )
        more = () if each is saddle else ("features", "rank") if each is linear else ("features",)
        each.add_argument("--drift", choices=[*drifts, *more], default="none")
        each.add_argument(
            "--every", type=whole, default=10_000, help="events to a drift (%(default)s)"
        )


def _stream(given: argparse.Namespace) -> Any:
    """The stream that is asked for; a `ConfigError` if there is none such."""
    drift = {"label_noise": given.label_noise, "drift": given.drift, "every": given.every}
    if given.kind == "oap":
        return Ratings(given.seed, Saddle(given.seed), given.noise, **drift)
    non_zeros = given.width if given.non_zeros is None else given.non_zeros
    if non_zeros > given.width:
        raise ConfigError(f"--non-zeros {non_zeros} is more than --width {given.width}")
    wide = given.width, non_zeros
    grows_every = given.every if given.drift == "features" else 0
    if given.kind == "gaussian":
        if given.missing and non_zeros < given.width:
            raise ConfigError(
                "--missing cannot be told from what is not there: leave --non-zeros away"
            )
        if given.ranks < _FEW + (given.drift == "rank"):
            raise ConfigError("--ranks must be 2 or more, and 3 where one is new")
        rated = Linear(given.seed, *wide, given.ranks, grows_every)
        return Ratings(given.seed, rated, given.noise, missing=given.missing, **drift)
    if given.items is not None and (given.items < _FEW or given.drift == "features"):
        raise ConfigError("--items must be 2 or more; they have no features that could be new")
    items: Items = (
        Described(given.seed, *wide, grows_every)
        if given.items is None
        else Named(given.seed, given.items)
    )
    shape = {"tie": given.tie, "cycles": given.cycles}
    return Preferences(given.seed, items, given.kind, given.noise, **shape, **drift)


def run(given: argparse.Namespace) -> int:
    """Write the events; the exit code."""
    stream = _stream(given)
    sums: defaultdict[str, float] = defaultdict(float)
    count = 0
    with until_closed():
        for each in told(stream, given.events):
            sys.stdout.write("\n".join(each.lines) + "\n")
            count += len(each.lines)
            for whose, losses in each.least.items():
                sums[whose] += mean(losses) * len(losses)
    for whose, total in sums.items():
        name = f"the {stream.loss} {whose}" if whose else f"the least expected {stream.loss}"
        print(f"{name} on these events: {total / count:.4f}", file=sys.stderr)
    print(f"stream-rank replay events.jsonl {stream.flags} --out run", file=sys.stderr)
    return 0
