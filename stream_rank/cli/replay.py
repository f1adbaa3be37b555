"""Learn from files, and write a report."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import (
    ConfigError,
    NothingLearnedError,
    TooManyRejectsError,
    UnknownLabelsError,
)
from stream_rank.printable import printable

if TYPE_CHECKING:
    from stream_rank.cli.regret import Hindsight

__all__ = ["add", "add_flags", "carry_out", "config_of", "run"]

Config = TypeVar("Config", bound=ReplayConfig)


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `replay`."""
    add_flags(parser, ReplayConfig)


def add_flags(parser: argparse.ArgumentParser, model: type[ReplayConfig]) -> None:
    """Flags of the settings of a replay: its inputs have none."""
    parser.add_argument(
        "inputs",
        nargs="*",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=model.model_fields["inputs"].description,
    )
    add_settings(parser, model, {"inputs"})


def config_of(given: argparse.Namespace, model: type[Config]) -> Config:
    """The settings that were given."""
    if not getattr(given, "inputs", True):
        del given.inputs
    return settings(model, given)


def run(given: argparse.Namespace) -> int:
    """Replay; returns the exit code."""
    return carry_out(config_of(given, ReplayConfig), given)


def _judge_of(config: ReplayConfig) -> "Hindsight | None":
    """What looks at all events again in the end, if that is asked for."""
    if not config.regret:
        return None
    if config.resume:
        raise ConfigError("`regret` needs all events of a run: it cannot be had with `resume`")
    from stream_rank.cli.regret import Hindsight  # imports SciPy

    return Hindsight(config.regret_events, config.seed)


def carry_out(
    config: ReplayConfig,
    given: argparse.Namespace,
    learner_threads: int = 1,
    comparing: bool = False,
    searches: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Replay by these settings, and show how learners stand, or how they compare; returns the exit code."""
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    control, stopped = listen()
    from stream_rank.cli.show import Show  # slow to import
    from stream_rank.runtime.replay import Replay

    show = Show(config.quiet, config.json_, given.flag_names)
    judge = _judge_of(config)
    more: dict[str, Any] = {
        "learner_threads": learner_threads,
        "judge": judge,
        "searches": searches,
    }
    try:
        replay = Replay(config, show.warn, control, **more)
    except UnknownLabelsError as error:
        from stream_rank.cli.label_hint import label_hint  # imports NumPy

        hint = label_hint(config)
        raise ConfigError(hint or str(error)) from None
    with replay:
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
            show.result(replay.finish(), config.out, comparing)  # the results so far
            raise
        show.result(replay.finish(), config.out, comparing)
    if stopped and not config.quiet:
        words = f"stopped; continue with --resume (everything is saved in {config.out})"
        print(printable(words), file=sys.stderr)
    return stopped[0] if stopped else ExitCode.DONE
