"""`stream-rank replay`: learn a file, and see how it went."""

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.config import ReplayConfig, gather
from stream_rank.errors import ConfigError

__all__ = ["add", "run"]

_SHORT = {"learners": "--learner"}
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
    for name, field in ReplayConfig.model_fields.items():
        shown = field.alias or name
        if shown in _SEPARATE:
            continue
        flag = _SHORT.get(shown, f"--{shown.replace('_', '-')}")
        described = str(field.description)
        if field.annotation is bool:
            parser.add_argument(
                flag, dest=shown, action="store_true", default=argparse.SUPPRESS, help=described
            )
            continue
        default = field.get_default(call_default_factory=True)
        if default is not None and not field.is_required():
            default = ", ".join(default) if isinstance(default, list) else default
            described += f" ({default})"
        parser.add_argument(
            flag,
            dest=shown,
            action="append" if shown == "learners" else "store",
            default=argparse.SUPPRESS,
            metavar=flag.strip("-").upper().replace("-", "_"),
            help=described.replace("%", "%%"),
        )
    parser.add_argument(
        "--columns",
        nargs="+",
        default=argparse.SUPPRESS,
        metavar="ROLE=COLUMN",
        help=ReplayConfig.model_fields["columns"].description,
    )
    parser.add_argument("--config", type=Path, help="a TOML file of settings")
    parser.add_argument(
        "--print-config", action="store_true", help="print the settings in force as JSON, and stop"
    )


def _config(given: argparse.Namespace) -> ReplayConfig:
    flags = dict(vars(given))
    for name in ("command", "run", "print_config"):
        flags.pop(name, None)
    file = flags.pop("config")
    if not flags.get("inputs", True):
        del flags["inputs"]
    if "columns" in flags:
        pairs = [pair.partition("=") for pair in flags["columns"]]
        if not all(equals and value for _, equals, value in pairs):
            raise ConfigError("--columns takes ROLE=COLUMN, as in y=stars x=a,b")
        flags["columns"] = {role: value for role, _, value in pairs}
    return gather(flags, file)


def run(given: argparse.Namespace) -> int:
    """Replay; the exit code."""
    config = _config(given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    from stream_rank.cli.show import Show  # River and the engine take a second to load
    from stream_rank.replay import Replay

    show = Show(config.quiet, config.json_)
    with Replay(config, show.warn) as replay:
        stopped = _stop_on_signals(replay)
        if replay.foreign:
            show.warn(
                f"{', '.join(replay.foreign)} is not of this package and not put into snapshots: "
                "this run cannot be resumed"
            )
        with show.live():
            replay.run(lambda: show.tick(replay))
        show.result(replay.finish(), config.out)
    if stopped and not config.quiet:
        print(f"stopped; go on with --resume (all is kept in {config.out})", file=sys.stderr)
    return stopped[0] if stopped else ExitCode.DONE


def _stop_on_signals(replay: Any) -> list[ExitCode]:
    """Let signals stop the run after the portion that it is at, and ask for snapshots; why it was stopped."""
    stopped: list[ExitCode] = []

    def stop(number: int, *_: Any) -> None:
        if replay.stopping:  # asked twice: at once
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        replay.stopping = True
        stopped.append(ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED)

    def snapshot(*_: Any) -> None:
        replay.keeper.asked = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGUSR1, snapshot)
    return stopped
