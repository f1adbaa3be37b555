"""The accuracy of all learners of ranks, as a table: what each loses on events that it did not learn, after one pass over those before.

Learners are given as to `stream-rank replay --learner`, with the stages that suit them. The streams:

- *synthetic*: 5,000 events of the OAP paper's stream, by the products of its coordinates, and 1,000 to ask for.
- *cystic fibrosis* (Harrington, 2003, section 4.2): of four people's marks of a document, one is foretold from the other three; 4,247 learned.
- *MovieLens*, by the paper's protocol for films: of one person's first 300 films, 210 are learned, and 90 foretold from the stars that
  the others with so many gave them, less three; nothing where there are none.
- *Jester*, as in the magnitude-preserving paper: half of a person's jokes are learned, and the others foretold from the ratings of 300
  people with 40 to 60 of them; ratings from -10 to 10 in five steps of the same width.
- *eight sets*: `ordinal_sets.py`; the geometric mean of the errors over those of scikit-learn's boosted trees.

Losses are mean distances in ranks.
"""

import gzip
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators import jester
from simulators.ordinal_peers import event_of, peers
from simulators.ordinal_sets import SETS, read
from simulators.readme import put_between
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.errors import InputError
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["LEARNERS", "STREAMS", "Trial", "loss_of", "report"]

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
    *("averaged-prank:update=romma", "averaged-prank:kernel=gaussian()"),
    "widrow-hoff:intercept=True",
)
_LARGEST = 1e100
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


def _unpacked(folder: Path, name: str) -> str:
    return gzip.decompress((folder / _FILES[name]).read_bytes()).decode()


def _synthetic(_: Path, trials: int) -> Iterator[Trial]:
    for seed in range(trials):
        events = list(OAPStream(seed=seed, features="quadratic").take(6_000))
        yield Trial(5, events[:5_000], events[5_000:])


def _cystic_fibrosis(folder: Path, trials: int) -> Iterator[Trial]:
    text = _unpacked(folder, "cystic fibrosis")
    marks = [[*map(int, found)] for found in re.findall(r"\b\d+ ([0-2]{4})\b", text)]
    for seed in range(trials):
        generator, events = random.Random(seed), []
        for four in generator.sample(marks, len(marks)):
            target = generator.randrange(4)
            others = four[:target] + four[target + 1 :]
            events.append(
                ({f"r{i}": float(mark) for i, mark in enumerate(others)}, four[target] + 1)
            )
        yield Trial(3, events[:4_247], events[4_247:])


def _movies(folder: Path, trials: int) -> Iterator[Trial]:
    rated: dict[int, list[tuple[int, int, int]]] = {}
    for line in _unpacked(folder, "MovieLens").splitlines():
        person, film, stars, time = map(int, line.split())
        rated.setdefault(person, []).append((time, film, stars))
    many = {person: sorted(films) for person, films in rated.items() if len(films) > 300}
    given = {person: {film: stars for _, film, stars in films} for person, films in many.items()}
    for seed in range(trials):
        generator = random.Random(seed)
        target = generator.choice(sorted(many))
        events = [
            (
                {
                    f"p{p}": seen[film] - 3.0
                    for p, seen in given.items()
                    if film in seen and p != target
                },
                stars,
            )
            for _, film, stars in generator.sample(many[target][:300], 300)
        ]
        yield Trial(5, events[:210], events[210:])


def _jokes(folder: Path, trials: int) -> Iterator[Trial]:
    ratings = jester.load(folder / _FILES["Jester"])
    group = next(each for each in jester.groups() if each.least == 40)
    for seed in range(trials):
        generator = np.random.default_rng(seed)
        user = int(generator.choice(np.flatnonzero(ratings.counts >= 50)))
        jokes = jester.split(ratings, group, user, generator)
        yield Trial(5, _steps(jokes.X, jokes.y), _steps(jokes.others, jokes.other_y))


def _steps(X: Array, y: Array) -> Events:
    ranks = (np.searchsorted(_EDGES, y) + 1).tolist()
    return [(dict(enumerate(x)), rank) for x, rank in zip(X.tolist(), ranks, strict=True)]


def _sets(folder: Path, trials: int) -> Iterator[Trial]:
    for name, n_ranks in SETS.items():
        rows = read(folder / f"ordinal-sets/{name}.csv.gz")
        for seed in range(max(1, trials // 10)):
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
