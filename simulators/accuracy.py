"""The accuracy of all learners of ranks, as a table: what each loses on events that it did not learn, after one pass over those before.

Learners are given as to `stream-rank replay --learner`, with the stages that suit them. The streams:

- *synthetic*: 5,000 events of the OAP paper's stream, by the products of its coordinates, and 1,000 to ask for.
- *cystic fibrosis* and *MovieLens*, as in the OAP paper's section 4.2: `cystic_fibrosis.py`, `movies.py`.
- *Jester*, as in the magnitude-preserving paper: half of a person's jokes are learned, and the others foretold from the ratings of 300
  people with 40 to 60 of them; ratings from -10 to 10 in five steps of the same width.
- *eight sets*: `ordinal_sets.py`; the geometric mean of the errors over those of scikit-learn's boosted trees.

Losses are mean distances in ranks.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators import cystic_fibrosis, jester, movies, people
from simulators.arguments import whole
from simulators.ordinal_peers import event_of, peers
from simulators.ordinal_sets import SETS, read
from simulators.readme import put_between
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.errors import InputError
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["LEARNERS", "STREAMS", "Trial", "add", "loss_of", "report", "run"]

Array = npt.NDArray[Any]
Events = Sequence[tuple[dict[Any, Any], int]]

LEARNERS = (
    *(
        "hedge",
        "ordinal-logit",
        "scale | waves | ordinal-logit",
        "ordinal-logit:precision=diagonal",
    ),
    *("nearest-ranks", "averaged-prank", "voted-prank", "prank", "oap-bpm", "oap-bagg", "oap-vp"),
    *(f"prank:update={update}" for update in ("passive-aggressive", "romma", "arow")),
    *("averaged-prank:update=romma", "oap-bpm:update=romma", "averaged-prank:kernel=gaussian()"),
    "widrow-hoff:intercept=True",
)
_LARGEST = 1e100
_PEOPLE, _ORDERS = 5, 5
"""Of films and jokes there are so many times as many trials, since each is of a few dozen predictions; of sets always so many orders."""
_EDGES = np.array([-6.0, -2.0, 2.0, 6.0])
_MOST = 12_000
MARK = "made by python -m simulators accuracy"


class Trial(NamedTuple):
    """Events that are learned, one after the other, and others that are asked for then; what an error is divided by."""

    n_ranks: int
    learned: Events
    asked: Events
    unit: float = 1.0


def loss_of(spec: str, trial: Trial, seed: int) -> float:
    """The mean distance of a learner's predictions, in ranks."""
    learner, *_ = contestants_of([spec], trial.n_ranks, seed, "auto", Preparations())
    rows, labels = _columns(trial.learned)
    learner.test_then_train(rows, labels, None)
    rows, labels = _columns(trial.asked)
    off = float(np.abs(learner.predict(rows, {}) - labels).mean())
    return max(off, 0.5 / len(labels)) / trial.unit  # so that of none a ratio is a number


def _columns(events: Events) -> tuple[Any, Array]:
    rows = rows_of_dicts([x for x, _ in events], _LARGEST)
    return rows, np.array([float(y) for _, y in events])


_FILES = {
    "cystic fibrosis": "cystic-fibrosis/cfquery.txt.gz",
    "MovieLens": "movielens-100k/u.data.gz",
    "Jester": "jester/jester-data-1.csv.gz",
}


def _check(folder: Path, streams: Sequence[str]) -> None:
    """An `InputError` at once, and not after minutes, if a file is not there."""
    for name in streams:
        if name in _FILES and not (folder / _FILES[name]).is_file():
            raise InputError(
                f"{folder / _FILES[name]} is not a file; --data says where the data sets are"
            )


def _synthetic(_: Path, trials: int) -> Iterator[Trial]:
    for seed in range(trials):
        events = list(OAPStream(seed=seed, features="quadratic").take(6_000))
        yield Trial(5, events[:5_000], events[5_000:])


def _of(split: people.Split, n_ranks: int) -> Trial:
    return Trial(n_ranks, _events(split.X, split.y), _events(split.others, split.other_y))


def _events(X: Array, y: Array) -> Events:
    return [(dict(enumerate(x)), rank) for x, rank in zip(X.tolist(), y.tolist(), strict=True)]


def _cystic_fibrosis(folder: Path, trials: int) -> Iterator[Trial]:
    judged = cystic_fibrosis.load(folder / _FILES["cystic fibrosis"])
    for seed in range(trials):
        yield _of(cystic_fibrosis.draw_trial(judged, seed), cystic_fibrosis.RANKS)


def _movies(folder: Path, trials: int) -> Iterator[Trial]:
    given = movies.load(folder / _FILES["MovieLens"])
    for seed in range(_PEOPLE * trials):
        yield _of(movies.draw_trial(given, seed), movies.RANKS)


def _jokes(folder: Path, trials: int) -> Iterator[Trial]:
    ratings = jester.load(folder / _FILES["Jester"])
    group = next(each for each in jester.groups() if each.least == 40)
    for seed in range(_PEOPLE * trials):
        generator = np.random.default_rng(seed)
        user = int(generator.choice(np.flatnonzero(ratings.counts >= 50)))
        jokes = people.split(ratings, group, user, generator)
        y, other_y = (np.searchsorted(_EDGES, each) + 1 for each in (jokes.y, jokes.other_y))
        yield _of(jokes._replace(y=y, other_y=other_y), len(_EDGES) + 1)


def _sets(folder: Path, _: int) -> Iterator[Trial]:
    for name, n_ranks in SETS.items():
        rows = read(folder / f"ordinal-sets/{name}.csv.gz")
        for seed in range(_ORDERS):
            some = random.Random(seed).sample(rows, min(len(rows), _MOST))
            n_train = len(some) * 4 // 5
            events = [(event_of(row), int(float(row["y"]))) for row in some]
            labels = np.array([y for _, y in events[n_train:]])
            trees = next(peers(some, n_train, n_ranks, seed))
            unit = max(float(np.abs(trees - labels).mean()), 0.5 / len(labels))
            yield Trial(n_ranks, events[:n_train], events[n_train:], unit)


def _arithmetic(losses: list[float]) -> float:
    return float(np.mean(losses))


def _geometric(losses: list[float]) -> float:
    return float(np.exp(np.mean(np.log(losses))))


STREAMS: dict[
    str, tuple[Callable[[Path, int], Iterator[Trial]], Callable[[list[float]], float]]
] = {
    "synthetic": (_synthetic, _arithmetic),
    "cystic fibrosis": (_cystic_fibrosis, _arithmetic),
    "MovieLens": (_movies, _arithmetic),
    "Jester": (_jokes, _arithmetic),
    "eight sets": (_sets, _geometric),
}
"""Their trials, and what is said of the losses on all of them."""


def report(
    folder: Path,
    trials: int = 20,
    readme: Path | None = None,
    learners: Sequence[str] = LEARNERS,
    streams: Sequence[str] = tuple(STREAMS),
    say: Callable[[str], object] = print,
) -> int:
    """Print the table, and put it into a file."""
    _check(folder, streams)
    found: dict[str, dict[str, float]] = {spec: {} for spec in learners}
    for name in streams:
        make, mean = STREAMS[name]
        losses: dict[str, list[float]] = {spec: [] for spec in learners}
        for number, trial in enumerate(make(folder, trials)):
            for spec in learners:
                losses[spec].append(loss_of(spec, trial, number))
        for spec in learners:
            found[spec][name] = mean(losses[spec])
        say(f"{name}: {', '.join(f'{spec} {each[name]:.3f}' for spec, each in found.items())}")
    text = _table(found, streams)
    say(text)
    if readme is not None:
        put_between(readme, MARK, text)
    return 0


def _table(found: dict[str, dict[str, float]], streams: Sequence[str]) -> str:
    best = {name: min(each[name] for each in found.values()) for name in streams}
    lines = [f"| learner | {' | '.join(streams)} |", f"|---|{'---:|' * len(streams)}"]
    for spec, losses in found.items():
        cells = [
            f"**{losses[name]:.3f}**" if losses[name] == best[name] else f"{losses[name]:.3f}"
            for name in streams
        ]
        lines.append(f"| `{spec.replace('|', chr(92) + '|')}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s)")
    parser.add_argument("--readme", type=Path, help="a file whose table is replaced")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.data, given.trials, given.readme)
