"""Raw data, as people have it, by the default learner: one command each, beside Vowpal Wabbit on the same rows.

Nothing is prepared by hand, on either side: text is given as categories, numbers as they come. Vowpal Wabbit runs with its
defaults, and its number is rounded to the nearest rank where ranks are wanted.
"""

import argparse
import csv
import gzip
import importlib.util
import json
import random
import shlex
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.cli.main import main
from stream_rank.errors import InputError

__all__ = ["DATASETS", "Dataset", "Row", "add", "report", "run", "table", "wabbit_line"]

Array = npt.NDArray[np.float64]

_LINE = "{:<14} {:>9} {:>9} {:>9} {:>7}   {}"


@dataclass(frozen=True)
class Dataset:
    """A file, and how the default learner is told what is in it."""

    name: str
    path: str
    flags: str
    label: str
    features: tuple[str, ...] | None = None
    shuffled: bool = False
    """Whether its rows are sorted by label, and are put into a random order."""
    suffix: str = ".csv"
    delimiter: str = ","
    header: tuple[str, ...] | None = None
    order: str | None = None
    """A column of whole numbers by which rows are sorted: of time."""
    names: tuple[str, ...] = ()
    """Numbers that are names."""


def _ordinal(name: str, n_ranks: int) -> Dataset:
    path = f"ordinal-sets/{name}.csv.gz"
    return Dataset(name, path, f"--n-ranks {n_ranks}", "y", shuffled=True)


DATASETS = (
    *(_ordinal(name, 5) for name in ("LEV", "house8L5", "kinematics5", "stock5")),
    *(_ordinal(name, 10) for name in ("abalone10", "auto10")),
    *(_ordinal(name, n_ranks) for name, n_ranks in (("car", 4), ("wine_red", 6))),
    Dataset(
        "movielens-100k",
        "movielens-100k/u.data.gz",
        "--fields y=2 x=0,1 ts=3 --category 0 --category 1 --ts-unit s --n-ranks 5",
        "2",
        ("0", "1"),
        suffix=".tsv",
        delimiter="\t",
        header=("0", "1", "2", "3"),
        order="3",
        names=("0", "1"),
    ),
    Dataset(
        "football",
        "international-football/results.csv.gz",
        "--fields y=home_score x=home_team,away_team,neutral,tournament ts=date --learner recursive-mprank",
        "home_score",
        ("home_team", "away_team", "neutral", "tournament"),
    ),
)
"""What is in the folder of research data."""


@dataclass(frozen=True)
class Row:
    """Losses on one stream, each event predicted before it was learned."""

    name: str
    constant: float
    peer: float | None
    ours: float
    command: str


def _rows(data: Dataset, folder: Path) -> list[dict[str, str]]:
    """The rows of a data set in the order of the stream."""
    path = folder / data.path
    if not path.is_file():
        raise InputError(f"{path} is not a file; --data says where the data sets are")
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, data.header, delimiter=data.delimiter))
    if data.shuffled:
        random.Random(7).shuffle(rows)
    if data.order is not None:
        rows.sort(key=lambda row: int(row[str(data.order)]))
    return [row for row in rows if row[data.label] not in ("", "NA")]


def _written(data: Dataset, rows: list[dict[str, str]], folder: Path) -> Path:
    """The file that is replayed."""
    path = folder / f"{data.name}{data.suffix}"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=data.delimiter, lineterminator="\n")
        if data.header is None:
            table.writerow(rows[0])
        table.writerows(row.values() for row in rows)
    return path


def _loss(ranks: bool, labels: Array, predictions: Array) -> float:
    """The rank loss, or the magnitude loss: twice the variance of the residuals."""
    residuals = labels - predictions
    return float(np.abs(residuals).mean() if ranks else 2 * residuals.var())


def _token(text: str) -> str:
    """Text as Vowpal Wabbit takes it for a name."""
    return "".join("_" if letter in " :|\t\n" else letter for letter in text)


def wabbit_line(x: dict[str, str], names: tuple[str, ...]) -> str:
    """Features as Vowpal Wabbit reads them: text, and the numbers of `names`, are names."""
    parts = []
    for name, value in x.items():
        try:
            parts.append(_token(f"{name}={value}") if name in names else f"{name}:{float(value)}")
        except ValueError:
            parts.append(_token(f"{name}={value}"))
    return " ".join(parts)


def _wabbit(ranks: bool, labels: Array, lines: Iterator[str]) -> float | None:
    """The loss of Vowpal Wabbit with its defaults; None where it is not installed."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        return None
    from vowpalwabbit import pyvw

    model = pyvw.Workspace("--quiet")
    found = np.empty(len(labels))
    for i, (label, line) in enumerate(zip(labels.tolist(), lines, strict=True)):
        found[i] = model.predict(f"| {line}")
        model.learn(f"{label} | {line}")
    model.finish()
    if ranks:
        found = np.clip(np.rint(found), labels.min(), labels.max())
    return _loss(ranks, labels, found)


def row_of(
    data: Dataset, folder: Path, say: Callable[[str], object], learner: str | None = None
) -> Row:
    """Replay a data set by one command, and give its rows to Vowpal Wabbit; `learner` is tried instead of the default."""
    flags = data.flags
    if learner is not None and "--learner" not in flags:
        flags += f" --learner {shlex.quote(learner)}"
    rows = _rows(data, folder)
    labels = np.array([float(row[data.label]) for row in rows])
    with tempfile.TemporaryDirectory() as temporary:
        path, out = _written(data, rows, Path(temporary)), Path(temporary) / "run"
        say(f"{data.name}: {len(rows):,} rows")
        code = main(["replay", str(path), *shlex.split(flags), "--out", str(out), "--quiet"])
        if code:
            raise InputError(f"{data.name} could not be replayed: exit code {code}")
        found, *_ = json.loads((out / "summary.json").read_text())[
            "learners"
        ].values()  # the champion
    ranks = "rank_loss" in found
    names = data.features or tuple(name for name in rows[0] if name != data.label)
    lines = (
        wabbit_line({name: row[name] for name in names if row[name]}, data.names) for row in rows
    )
    return Row(
        data.name,
        found["baseline_loss"],
        _wabbit(ranks, labels, lines),
        found["rank_loss" if ranks else "magnitude_loss"],
        f"stream-rank replay {path.name} {flags} --out run",
    )


def table(rows: list[Row]) -> str:
    """The rows as text."""
    lines = [_LINE.format("data", "constant", "VW", "ours", "skill", "command")]
    for row in rows:
        peer = "-" if row.peer is None else f"{row.peer:.3f}"
        skill = f"{1 - row.ours / row.constant:.3f}"
        lines.append(
            _LINE.format(
                row.name, f"{row.constant:.3f}", peer, f"{row.ours:.3f}", skill, row.command
            )
        )
    return "\n".join(lines)


def report(folder: Path, learner: str | None = None, say: Callable[[str], Any] = print) -> int:
    """Replay all data sets, and print a table; the exit code."""
    rows = [row_of(data, folder, say, learner) for data in DATASETS]
    print(table(rows))
    worse = [row for row in rows if row.ours >= min(row.constant, row.peer or row.constant)]
    for row in worse:
        print(f"{row.name}: a constant or Vowpal Wabbit is as good")
    return 1 if worse else 0


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--learner", help="instead of the default")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.data, given.learner)
