"""`python -m simulators`: the papers' protocols, streams, data sets and a demonstration, from the command line."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import NamedTuple

from simulators.one_core import one_core
from stream_rank.errors import StreamRankError

__all__ = ["COMMANDS", "main"]


class Command(NamedTuple):
    """The module that has `add`, what the command takes, and `run`; a description; whether it measures times, of one core."""

    module: str
    described: str
    on_one_core: bool = False


COMMANDS = {
    "demo": Command("demo", "replay a file of ratings, and look at the report"),
    "broker": Command("broker", "a real Kafka on loopback, until Ctrl-C"),
    "load": Command("load", "a producer of ratings and preferences that drift, until Ctrl-C"),
    "live": Command("live_command", "Kafka, a daemon, a producer, Prometheus and Grafana"),
    "oap-table-1": Command("oap_table_1", "table 1 of the OAP paper, beside its figures"),
    "learning-curves": Command("learning_curves", "rank loss against events, as a picture"),
    "oap-table-2": Command(
        "oap_table_2", "table 2 and figure 3 of the OAP paper: documents, and films"
    ),
    "recovery": Command("recovery", "how every learner recovers from a sudden drift, as a picture"),
    "jester": Command("jester", "Jester's rows of the magnitude-preserving paper's tables"),
    "mp-movielens": Command(
        *("mp_movielens", "MovieLens' rows of the magnitude-preserving paper's tables", True)
    ),
    "mprank-figure-1": Command(
        *("mprank_figure_1", "on-line and batch MPRank, errors and times, as a picture", True)
    ),
    "rankrls-table-1": Command(
        "rankrls_table_1", "the RankRLS paper's run times, beside an SVM of pairs and LAPACK", True
    ),
    "rankrls-table-6": Command(
        "rankrls_table_6", "Jester's rows of the RankRLS paper's table 6", True
    ),
    "ohsumed": Command(
        "ohsumed", "OHSUMED's column of the RankRLS paper's table 3, with NDCG and MAP", True
    ),
    "batch-figures": Command(
        *("batch_figures", "the batch methods: times of leave-pair-out, and bounds beside gaps"),
        on_one_core=True,
    ),
    "football": Command(
        "football.report",
        "international football: ratings learned from match to match, beside Elo's",
    ),
    "movielens": Command(
        "movielens.report",
        "collaborative filtering in the order of time, beside River and Vowpal Wabbit",
    ),
    "raw": Command(
        "raw", "raw data sets by the default learner, one command each, beside Vowpal Wabbit"
    ),
    "ordinal-streams": Command("ordinal_streams", "ordinal-logit on streams whose truth is known"),
    "ordinal-sets": Command(
        "ordinal_sets", "ordinal data sets by a hold-out, beside boosted trees"
    ),
    "accuracy": Command("accuracy", "all learners of ranks on made and real streams, as a table"),
    "calibration": Command(
        "calibration", "what the default learner says of ranks, beside what came"
    ),
    "stream": Command(
        "streams.command", "a made stream, as lines of JSON that `stream-rank replay` reads"
    ),
    "events": Command(
        "readers.command",
        "a data set as it is shipped, as lines of JSON that `stream-rank replay` reads",
    ),
}


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    """A parser with what the chosen command takes: the others' libraries are not needed."""
    parser = argparse.ArgumentParser(prog="python -m simulators", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        one = commands.add_parser(name, help=command.described)
        if name == chosen:
            module = import_module(f"simulators.{command.module}")
            one.description = module.__doc__
            module.add(one)
            one.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 1 where a figure is not the paper's, or not what is asked."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    chosen = next((word for word in words if not word.startswith("-")), None)
    measured = chosen in COMMANDS and COMMANDS[chosen].on_one_core
    with one_core() if measured else nullcontext():
        given = _parser(chosen).parse_args(words)
        try:
            return int(given.run(given))
        except StreamRankError as error:
            print(error, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())
