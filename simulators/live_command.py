"""All of it on this machine, to look at or to break."""

import argparse
from pathlib import Path

from simulators import break_table, live
from simulators.arguments import add_pace, whole
from simulators.breaks import BREAKS, Timetable

__all__ = ["add", "run"]

_AGAIN = [name for name in BREAKS if name != "rejects"]
"""The daemon ends by so many rejects, again and again: nothing comes after them."""


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "--any-ports",
        action="store_true",
        help="take ports that are free, also where the usual ones are",
    )
    parser.add_argument(
        "--break",
        dest="breaks",
        action="append",
        default=[],
        choices=_AGAIN,
        help="break this again and again; may be given several times, and then one after the other",
    )
    parser.add_argument(
        "--every", type=whole, default=240, help="seconds from one break to the next (%(default)s)"
    )
    parser.add_argument(
        "--lasting", type=whole, default=90, help="seconds that a break lasts (%(default)s)"
    )
    parser.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="break everything once with each client, and write into FILE how soon row 1 of the dashboards says so",
    )
    add_pace(parser)


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    if given.table is not None:
        return break_table.write(given.table, given.rate)
    timetable = Timetable(given.breaks, given.every, given.lasting)
    return live.serve(given.rate, given.drift_seconds, given.any_ports, timetable)
