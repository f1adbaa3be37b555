"""Commands that know how to run themselves: each is added with what it takes, and imports what it needs when it runs."""

import argparse
from pathlib import Path
from typing import Any

from simulators import paper_commands
from simulators.arguments import amount, share, whole
from simulators.one_core import one_core
from simulators.readers import command as events
from simulators.streams import command as stream

__all__ = ["add", "add_faults", "faulty_load"]


def add(commands: Any) -> None:
    """Add them all."""
    _table_1(commands)
    _accuracy(commands)
    _calibration(commands)
    paper_commands.add(commands)
    stream.add(commands)
    events.add(commands)


def add_faults(parser: argparse.ArgumentParser) -> None:
    """What `load` takes for a stream with an end, and faults."""
    faulty = parser.add_argument_group("a stream with an end and with faults, instead")
    faulty.add_argument("--events", type=whole, help="so many, and then it ends")
    faulty.add_argument(
        "--burst", type=amount, default=1.0, help="so many times the rate in one of five seconds"
    )
    faulty.add_argument("--keys", type=whole, default=1000, help="of messages (%(default)s)")
    faulty.add_argument(
        "--skew", type=amount, default=1.0, help="how uneven keys are; 0 is even (%(default)s)"
    )
    for name, default, what in (
        ("duplicates", 0.01, "that come again"),
        ("late", 0.05, "whose labels come later"),
        ("malformed", 0.01, "behind something that is no event"),
    ):
        described = f"share of the events {what} (%(default)s)"
        faulty.add_argument(f"--{name}", type=share, default=default, help=described)
    faulty.add_argument(
        "--check",
        metavar="URL",
        help="/status of the daemon that learns them, to be right at the end",
    )


def faulty_load(given: argparse.Namespace) -> int:
    """Send the stream with faults, and check what the daemon learned."""
    from simulators import faulty_load
    from simulators.faulty_stream import Faults

    faults = Faults(given.duplicates, given.late, given.malformed, given.keys, given.skew)
    return faulty_load.run(
        *(given.bootstrap_servers, given.topic, given.events, given.rate),
        *(max(given.burst, 0.01), given.seed, faults, given.check),
    )


def _table_1(commands: Any) -> None:
    parser = commands.add_parser(
        "rankrls-table-1", help="the RankRLS paper's run times, beside an SVM of pairs and LAPACK"
    )
    parser.add_argument(
        "inputs", nargs="*", type=whole, default=[500, 1000, 2000], help="(500 1000 2000)"
    )

    def run(given: argparse.Namespace) -> int:
        one_core()
        from simulators import rankrls_table_1

        return rankrls_table_1.report(given.inputs)

    parser.set_defaults(run=run)


def _accuracy(commands: Any) -> None:
    parser = commands.add_parser(
        "accuracy", help="all learners of ranks on made and real streams, as a table"
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--trials", type=whole, default=20, help="(%(default)s)")
    parser.add_argument("--readme", type=Path, help="a file whose table is replaced")

    def run(given: argparse.Namespace) -> int:
        from simulators import accuracy
        from stream_rank.errors import StreamRankError

        try:
            return accuracy.report(given.data, given.trials, given.readme)
        except StreamRankError as error:
            print(error)
            return 2

    parser.set_defaults(run=run)


def _calibration(commands: Any) -> None:
    parser = commands.add_parser(
        "calibration", help="what the default learner says of ranks, beside what came"
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--out", type=Path, help="the picture of the curves, an .svg")

    def run(given: argparse.Namespace) -> int:
        from simulators import calibration
        from stream_rank.errors import StreamRankError

        try:
            return calibration.report(given.data, given.out)
        except StreamRankError as error:
            print(error)
            return 2

    parser.set_defaults(run=run)
