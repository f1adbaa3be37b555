"""Learn from files with many learners at once, and see which to take."""

import argparse
import json
import os
import sys

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.compare import CompareConfig
from stream_rank.errors import NothingLearnedError, TooManyRejectsError
from stream_rank.printable import printable

__all__ = ["add", "run"]

_SEPARATE = {"inputs"}


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `compare`."""
    parser.add_argument(
        "inputs",
        nargs="*",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=CompareConfig.model_fields["inputs"].description,
    )
    add_settings(parser, CompareConfig, _SEPARATE)


def run(given: argparse.Namespace) -> int:
    """Compare; returns the exit code."""
    if not getattr(given, "inputs", True):
        del given.inputs
    config = settings(CompareConfig, given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    control, stopped = listen()
    from stream_rank.cli.show import Show  # slow to import
    from stream_rank.runtime.replay import Replay

    show = Show(config.quiet, config.json_, given.flag_names)
    cores = min(len(config.learners), config.cores or os.cpu_count() or 1)
    with Replay(config, show.warn, control, learner_threads=cores) as replay:
        show.note(str(replay.learning.room))
        try:
            with show.live():
                replay.run(lambda: show.tick(replay))
        except (TooManyRejectsError, NothingLearnedError):
            show.result(replay.finish(), config.out, comparing=True)
            raise
        show.result(replay.finish(), config.out, comparing=True)
    if stopped and not config.quiet:
        words = f"stopped; continue with --resume (everything is saved in {config.out})"
        print(printable(words), file=sys.stderr)
    return stopped[0] if stopped else ExitCode.DONE
