"""Learn from files, and write a report."""

import argparse
import json
import sys

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import NothingLearnedError, TooManyRejectsError
from stream_rank.printable import printable

__all__ = ["add", "run"]

_SEPARATE = {"inputs"}


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `replay`."""
    parser.add_argument(
        "inputs",
        nargs="*",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=ReplayConfig.model_fields["inputs"].description,
    )
    add_settings(parser, ReplayConfig, _SEPARATE)


def _config(given: argparse.Namespace) -> ReplayConfig:
    if not getattr(given, "inputs", True):
        del given.inputs
    return settings(ReplayConfig, given)


def run(given: argparse.Namespace) -> int:
    """Replay; returns the exit code."""
    config = _config(given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    control, stopped = listen()
    from stream_rank.cli.show import Show  # slow to import
    from stream_rank.runtime.replay import Replay

    show = Show(config.quiet, config.json_, given.flag_names)
    with Replay(config, show.warn, control) as replay:
        show.note(str(replay.learning.room))
        if replay.learning.not_kept:
            show.warn(
                f"{', '.join(replay.learning.not_kept)} cannot be saved in snapshots (not of stream-rank): "
                "this run cannot be resumed"
            )
        try:
            with show.live():
                replay.run(lambda: show.tick(replay))
        except (TooManyRejectsError, NothingLearnedError):
            show.result(replay.finish(), config.out)  # the results so far
            raise
        show.result(replay.finish(), config.out)
    if stopped and not config.quiet:
        words = f"stopped; continue with --resume (everything is saved in {config.out})"
        print(printable(words), file=sys.stderr)
    return stopped[0] if stopped else ExitCode.DONE
