"""The commands of the OAP and the magnitude-preserving papers' experiments on ratings, and of recovery from drift."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulators.arguments import picture, whole
from simulators.one_core import one_core

__all__ = ["add"]


def add(commands: Any) -> None:
    """Add them all."""
    _oap_table_2(commands)
    _recovery(commands)
    _mp_movielens(commands)


def _explained(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """The command, of which a file that is not what it should be is told, with status 2."""

    def explained(given: argparse.Namespace) -> int:
        from stream_rank.errors import StreamRankError

        try:
            return run(given)
        except StreamRankError as error:
            print(error)
            return 2

    return explained


def _oap_table_2(commands: Any) -> None:
    parser = commands.add_parser(
        "oap-table-2", help="table 2 and figure 3 of the OAP paper: documents, and films"
    )
    parser.add_argument(
        "--documents", type=Path, help="the cystic fibrosis queries, cfquery or cfquery.txt.gz"
    )
    parser.add_argument("--films", type=Path, help="MovieLens 100K's u.data, or u.data.gz")
    parser.add_argument("--trials", type=whole, default=500, help="(%(default)s, as the paper)")
    parser.add_argument("--out", type=picture, help="a picture: .svg, .png or .pdf")

    def run(given: argparse.Namespace) -> int:
        if given.documents is None and given.films is None:
            print("--documents or --films is needed: the files are not ours to give")
            return 2
        from simulators import oap_table_2

        return oap_table_2.report(given.documents, given.films, given.trials, given.out)

    parser.set_defaults(run=_explained(run))


def _recovery(commands: Any) -> None:
    parser = commands.add_parser(
        "recovery", help="how every learner recovers from a sudden drift, as a picture"
    )
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s)")
    parser.add_argument(
        "--events", type=whole, default=10_000, help="half of them before it (%(default)s)"
    )
    parser.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )

    def run(given: argparse.Namespace) -> int:
        from simulators import recovery

        recovery.draw(given.trials, given.events, given.out)
        return 0

    parser.set_defaults(run=run)


def _mp_movielens(commands: Any) -> None:
    parser = commands.add_parser(
        "mp-movielens", help="MovieLens' rows of the magnitude-preserving paper's tables"
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="MovieLens 100K's u.data, or u.data.gz"
    )
    parser.add_argument("--trials", type=whole, default=10, help="(%(default)s, as the paper)")
    parser.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")

    def run(given: argparse.Namespace) -> int:
        one_core()
        from simulators import mp_movielens

        return mp_movielens.report(mp_movielens.load(given.data), given.trials, given.users)

    parser.set_defaults(run=_explained(run))
