"""`python -m simulators events`: the events of a data set, as lines of JSON that `stream-rank replay` reads."""

import argparse
import importlib
import sys
from pathlib import Path

from simulators.output import until_closed
from stream_rank.errors import InputError

__all__ = ["READERS", "add", "run"]

READERS = {
    "movielens-100k": "movielens_100k",
    "movielens-1m": "movielens_1m",
    "movielens-latest": "movielens_latest",
    "jester": "jester",
    "eachmovie": "eachmovie",
    "book-crossing": "book_crossing",
    "netflix": "netflix",
    "letor": "letor",
    "mslr": "letor",
    "ohsumed": "ohsumed",
    "cystic-fibrosis": "cystic_fibrosis",
    "pairs": "pairwise_csv",
}
"""The modules of data sets."""


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("kind", choices=sorted(READERS), metavar="KIND", help=", ".join(READERS))
    parser.add_argument("path", type=Path, help="the file, its folder, or the archive it came in")


def run(given: argparse.Namespace) -> int:
    """Write the events; the exit code."""
    if not given.path.exists():
        raise InputError(f"{given.path} is neither a file nor a folder")
    reader = importlib.import_module(f"simulators.readers.{READERS[given.kind]}")
    count = 0
    with until_closed():
        for count, line in enumerate(reader.events(given.path), 1):  # noqa: B007 - counted
            sys.stdout.write(line + "\n")
    print(
        f"{count:,} events: stream-rank replay events.jsonl {reader.FLAGS} --out run",
        file=sys.stderr,
    )
    return 0
