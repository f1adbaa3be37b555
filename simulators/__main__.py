"""`python -m simulators`: the papers' protocols and a demonstration, from the command line."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from simulators import commands as more
from simulators.arguments import picture, share, whole
from simulators.one_core import one_core

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m simulators", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="replay a file of ratings, and look at the report")
    demo.add_argument("--events", type=whole, default=100_000, help="how many (%(default)s)")
    demo.add_argument("--seed", type=whole, default=1, help="of the stream (%(default)s)")
    demo.add_argument("--out", type=Path, default=Path("out/demo"), help="a folder (%(default)s)")

    broker = commands.add_parser("broker", help="a real Kafka on loopback, until Ctrl-C")
    broker.add_argument("--port", type=whole, default=9092, help="(%(default)s)")

    load = commands.add_parser(
        "load", help="a producer of ratings and preferences that drift, until Ctrl-C"
    )
    load.add_argument("--bootstrap-servers", default="127.0.0.1:9092", help="(%(default)s)")
    load.add_argument("--topic", default="ratings", help="(%(default)s)")
    load.add_argument(
        "--preferences",
        type=share,
        default=0.25,
        help="share of the events that are preferences (%(default)s); the others are ratings",
    )
    load.add_argument("--seed", type=whole, default=1, help="of the stream (%(default)s)")
    load.add_argument(
        "--garbage-every",
        type=whole,
        default=500,
        help="of so many, one is no event (%(default)s)",
    )

    more.add_faults(load)

    live = commands.add_parser("live", help="Kafka, a daemon, a producer, Prometheus and Grafana")
    live.add_argument(
        "--any-ports",
        action="store_true",
        help="take ports that are free, also where the usual ones are",
    )
    live.add_argument(
        "--break",
        dest="breaks",
        action="append",
        default=[],
        choices=[
            "broker",
            "frozen",
            "daemon",
            "producer",
            "garbage",
            "disk",
            "drift",
            "two",
            "storm",
        ],
        help="break this again and again; may be given several times, and then one after the other",
    )
    live.add_argument(
        "--every", type=whole, default=240, help="seconds from one break to the next (%(default)s)"
    )
    live.add_argument(
        "--lasting", type=whole, default=90, help="seconds that a break lasts (%(default)s)"
    )
    live.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="break everything once with each client, and write into FILE how soon row 1 of the dashboards says so",
    )
    for each in (load, live):
        each.add_argument("--rate", type=whole, default=2000, help="events a second (%(default)s)")
        each.add_argument(
            "--drift-seconds", type=whole, default=180, help="between two drifts (%(default)s)"
        )

    table = commands.add_parser("oap-table-1", help="table 1 of the OAP paper, beside its figures")
    table.add_argument("--trials", type=whole, default=20, help="(%(default)s, as the paper)")
    table.add_argument("--events", type=whole, default=5000, help="to train on (%(default)s)")
    table.add_argument("--form", choices=["explicit", "kernel", "both"], default="both")

    curves = commands.add_parser("learning-curves", help="rank loss against events, as a picture")
    curves.add_argument("--trials", type=whole, default=20, help="(%(default)s, as the paper)")
    curves.add_argument("--events", type=whole, default=20_000, help="(%(default)s)")
    curves.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )

    jokes = commands.add_parser(
        "jester", help="Jester's rows of the magnitude-preserving paper's tables"
    )
    jokes.add_argument("--data", type=Path, required=True, help="jester-data-1.csv, or .csv.gz")
    jokes.add_argument("--trials", type=whole, default=10, help="(%(default)s, as the paper)")
    jokes.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")

    table_6 = commands.add_parser(
        "rankrls-table-6", help="Jester's rows of the RankRLS paper's table 6"
    )
    table_6.add_argument("--data", type=Path, required=True, help="jester-data-1.csv, or .csv.gz")
    table_6.add_argument("--users", type=whole, default=300, help="(%(default)s, as the paper)")

    documents = commands.add_parser(
        "ohsumed", help="OHSUMED's column of the RankRLS paper's table 3, with NDCG and MAP"
    )
    documents.add_argument(
        "--data", type=Path, required=True, help="LETOR's folder of S1.txt.gz to S5.txt.gz"
    )

    football = commands.add_parser(
        "football", help="international football: ratings learned from match to match, beside Elo's"
    )
    football.add_argument(
        "--data", type=Path, required=True, help="results.csv, or .csv.gz: a match a line"
    )

    raw = commands.add_parser(
        "raw", help="raw data sets by the default learner, one command each, beside Vowpal Wabbit"
    )
    raw.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    raw.add_argument("--learner", help="instead of the default")
    known = commands.add_parser(
        "ordinal-streams", help="ordinal-logit on streams whose truth is known"
    )
    known.add_argument("--trials", type=whole, default=20, help="(%(default)s)")
    ordinal = commands.add_parser(
        "ordinal-sets", help="ordinal data sets by a hold-out, beside boosted trees"
    )
    ordinal.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    ordinal.add_argument("--orders", type=int, default=5, help="random orders of the rows")

    films = commands.add_parser(
        "movielens",
        help="collaborative filtering in the order of time, beside River and Vowpal Wabbit",
    )
    films.add_argument("--data", type=Path, required=True, help="MovieLens 100K's folder")

    batch = commands.add_parser(
        "batch-figures", help="the batch methods: times of leave-pair-out, and bounds beside gaps"
    )
    batch.add_argument("--events", type=whole, default=2000, help="at most (%(default)s)")
    batch.add_argument("--draws", type=whole, default=100, help="of samples (%(default)s)")
    batch.add_argument("--out", type=picture, required=True, help="the picture: .svg, .png or .pdf")

    figure = commands.add_parser(
        "mprank-figure-1", help="on-line and batch MPRank, errors and times, as a picture"
    )
    figure.add_argument("--events", type=whole, default=8000, help="at most (%(default)s)")
    figure.add_argument("--passes", type=whole, default=120, help="(%(default)s, as the paper)")
    figure.add_argument(
        "--out", type=picture, required=True, help="the picture: .svg, .png or .pdf"
    )
    more.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 1 where a figure is not the paper's, or not what is asked."""
    given = _parser().parse_args(arguments)
    if hasattr(given, "run"):
        code: int = given.run(given)
        return code
    # each command imports its own: the picture's library is not needed for the others
    if given.command == "demo":
        from simulators import demo

        return demo.run(given.events, given.seed, given.out)
    if given.command == "broker":
        from simulators import broker

        return broker.serve(given.port)
    if given.command == "load":
        if given.events is not None:
            return more.faulty_load(given)
        from simulators import load

        return load.run(
            *(given.bootstrap_servers, given.topic, given.rate, given.drift_seconds),
            *(given.preferences, given.seed, given.garbage_every),
        )
    if given.command == "live":
        from simulators import live

        if given.table is not None:
            from simulators import break_table

            return break_table.write(given.table, given.rate)
        from simulators.breaks import Timetable

        timetable = Timetable(given.breaks, given.every, given.lasting)
        return live.serve(given.rate, given.drift_seconds, given.any_ports, timetable)
    if given.command == "ordinal-streams":
        from simulators import ordinal_streams

        return ordinal_streams.report(given.trials)
    if given.command == "oap-table-1":
        from simulators import oap_table_1

        return oap_table_1.report(given.trials, given.events, given.form)
    if given.command == "rankrls-table-6":
        one_core()
    if given.command in ("jester", "rankrls-table-6"):
        if not given.data.is_file():
            print(f"{given.data} is not a file; --data takes Jester's jester-data-1.csv(.gz)")
            return 2
        from simulators import jester

        try:
            ratings = jester.load(given.data)
        except (ValueError, OSError) as error:
            print(error)
            return 2
        if given.command == "rankrls-table-6":
            from simulators import rankrls_table_6

            return rankrls_table_6.report(ratings, given.users)
        return jester.report(ratings, given.trials, given.users)
    if given.command == "ohsumed":
        one_core()
        from simulators import ohsumed
        from stream_rank.errors import StreamRankError

        try:
            return ohsumed.report(ohsumed.load(given.data))
        except StreamRankError as error:
            print(error)
            return 2
    if given.command == "football":
        if not given.data.is_file():
            print(f"{given.data} is not a file; --data takes a table of matches, results.csv(.gz)")
            return 2
        from simulators.football import matches, report

        try:
            played = matches.load(given.data)
        except (ValueError, OSError) as error:
            print(error)
            return 2
        return report.report(played)
    if given.command == "ordinal-sets":
        from simulators import ordinal_sets
        from stream_rank.errors import StreamRankError

        try:
            return ordinal_sets.run(given.data, given.orders)
        except StreamRankError as error:
            print(error)
            return 2
    if given.command == "raw":
        from simulators import raw
        from stream_rank.errors import StreamRankError

        try:
            return raw.run(given.data, given.learner)
        except StreamRankError as error:
            print(error)
            return 2
    if given.command == "movielens":
        from simulators.movielens import report as films
        from stream_rank.errors import StreamRankError

        try:
            return films.run(given.data)
        except StreamRankError as error:
            print(error)
            return 2
    if given.command == "batch-figures":
        one_core()
        from simulators import batch_figures

        batch_figures.draw(given.events, given.draws, given.out)
        return 0
    if given.command == "mprank-figure-1":
        one_core()
        from simulators import mprank_figure_1

        mprank_figure_1.draw(given.events, given.passes, given.out)
        return 0
    from simulators import learning_curves

    learning_curves.draw(given.trials, given.events, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
