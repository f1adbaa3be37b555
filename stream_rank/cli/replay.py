"""`stream-rank replay`: learn a file, and see how it went."""

import argparse
import json
import sys

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import TooManyRejectsError

__all__ = ["add", "run"]

_SEPARATE = {"inputs", "columns"}


def add(parser: argparse.ArgumentParser) -> None:
    """Give the parser a flag for every setting."""
    parser.add_argument(
        "inputs",
        nargs="*",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=ReplayConfig.model_fields["inputs"].description,
    )
    add_settings(parser, ReplayConfig, _SEPARATE)
    parser.add_argument(
        "--columns",
        nargs="+",
        default=argparse.SUPPRESS,
        metavar="ROLE=COLUMN",
        help=ReplayConfig.model_fields["columns"].description,
    )


def _config(given: argparse.Namespace) -> ReplayConfig:
    if not getattr(given, "inputs", True):
        del given.inputs
    return settings(ReplayConfig, given)


def run(given: argparse.Namespace) -> int:
    """Replay; the exit code."""
    config = _config(given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    control, stopped = listen()
    from stream_rank.cli.show import Show  # loading it takes a while
    from stream_rank.runtime.replay import Replay

    show = Show(config.quiet, config.json_, given.flag_names)
    with Replay(config, show.warn, control) as replay:
        if replay.learning.not_kept:
            show.warn(
                f"{', '.join(replay.learning.not_kept)} is not of this package and not put into snapshots: "
                "this run cannot be resumed"
            )
        try:
            with show.live():
                replay.run(lambda: show.tick(replay))
        except TooManyRejectsError:
            show.result(replay.finish(), config.out)  # what came of it all the same
            raise
        show.result(replay.finish(), config.out)
    if stopped and not config.quiet:
        print(f"stopped; go on with --resume (all is kept in {config.out})", file=sys.stderr)
    return stopped[0] if stopped else ExitCode.DONE
