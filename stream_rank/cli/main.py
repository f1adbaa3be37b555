"""`stream-rank`: learn rankings from streams, from the command line."""

import argparse
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NoReturn

from stream_rank import __version__
from stream_rank.cli.exit_codes import MEANINGS, ExitCode, code_of
from stream_rank.cli.wording import with_flags
from stream_rank.config.synonyms import SYNONYMS
from stream_rank.errors import ConfigError, unknown_name
from stream_rank.printable import printable, shortened

__all__ = ["main"]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


_SYNONYMS = {_flag(name): _flag(ours) for name, ours in SYNONYMS.items()}


class Parser(argparse.ArgumentParser):
    """An argument parser that suggests the nearest name for an unknown flag or command."""

    def parse_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            known = sorted(self.flags(found))
            given = rest[0].partition("=")[0]
            if given.startswith("-"):
                self.error(unknown_name("flag", given, known, _SYNONYMS))
            self.error(f"unexpected argument {rest[0]!r}")
        return found

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def _check_value(self, action, value):  # type: ignore[no-untyped-def]
        if _has_commands(action) and value not in action.choices:
            raise argparse.ArgumentError(None, unknown_name("command", str(value), action.choices))
        super()._check_value(action, value)

    def flags(self, found: argparse.Namespace) -> set[str]:
        """The flags of this command, and of the chosen subcommand."""
        flags = set(self._option_string_actions)
        return flags.union(*(chosen.flags(found) for chosen in self._chosen(found)))

    def flags_of_settings(self, found: argparse.Namespace) -> dict[str, str]:
        """The flag of every setting of the chosen subcommand; for a setting without a flag, its name in the help."""
        names: dict[str, str] = {}
        for action in self._actions:
            if not _has_commands(action):
                shown = str(action.metavar or action.dest)
                names[action.dest] = next(iter(action.option_strings), shown)
        for chosen in self._chosen(found):
            names |= chosen.flags_of_settings(found)
        return names

    def _chosen(self, found: argparse.Namespace) -> "list[Parser]":
        """The parser of the chosen subcommand, if this one has subcommands."""
        chosen = [
            dict(action.choices or ()).get(str(getattr(found, action.dest, None)))
            for action in filter(_has_commands, self._actions)
        ]
        return [each for each in chosen if isinstance(each, Parser)]


def _has_commands(action: argparse.Action) -> bool:
    """Whether `add_subparsers` made the action: only its choices are a mapping."""
    return isinstance(action.choices, Mapping)


_COMMANDS = {
    "replay": ("replay", "learn from files, and see how well it goes"),
    "compare": ("compare", "learn from files with many learners, and see which to take"),
    "run": ("run", "learn from Kafka, as a daemon"),
    "spark": ("spark", "learn from Kafka on Spark, a model for each partition or key"),
    "produce": ("produce", "send the events of files to a topic"),
    "dead-letters": ("dead_letters", "list rejects, and send them back"),
    "predict": ("predict", "predict the events of a file with a learned model"),
    "snapshot": ("snapshot", "look at snapshots, compare and export them"),
    "rollback": ("rollback", "go back to an older snapshot"),
    "status": ("status", "what a running daemon says of itself"),
    "schema": ("schema", "the JSON Schema of an event"),
    "warm": ("warm", "compile the engine before it is needed"),
}
"""The module of each command, and its description."""
_THRESHOLDS = 100_000, 50, 50
"""Of the garbage collector: what is imported and loaded stays, and with the defaults looking through it is a quarter of the start."""


def _parser(chosen: str | None) -> Parser:
    """A parser with the flags of the chosen command only: importing all commands takes a second."""
    codes = "\n".join(f"  {code.value:3}  {meaning}" for code, meaning in MEANINGS.items())
    parser = Parser(
        prog="stream-rank",
        description=__doc__,
        epilog=f"exit codes:\n{codes}\n\nsettings may also stand in a TOML file (--config), as in\n"
        '  inputs = ["events.jsonl"]\n  learners = ["prank", "oap-bpm:n_members=50"]\n  n_ranks = 5\n'
        'or in variables: STREAM_RANK_N_RANKS=5, STREAM_RANK_LEARNERS="prank;oap-bpm:n_members=50"',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"stream-rank {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (place, described) in _COMMANDS.items():
        command = commands.add_parser(name, help=described, allow_abbrev=False)
        if name == chosen:
            module = import_module(f"stream_rank.cli.{place}")
            command.description = module.__doc__
            module.add(command)
            command.set_defaults(run=module.run)
    return parser


_OF_LISTS = {"--labels"}
"""Flags whose value may begin with a negative number."""


def _joined(words: Sequence[str]) -> list[str]:
    """Words in which a list that begins with a hyphen is joined to its flag: argparse would take it for a flag.

    >>> _joined(["replay", "--labels", "-1,0,1", "--quiet"])
    ['replay', '--labels=-1,0,1', '--quiet']
    """
    found: list[str] = []
    for word in words:
        negative = word.startswith("-") and word[1:2] in "0123456789." and len(word) > 1
        if found and found[-1] in _OF_LISTS and negative:
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    flags: dict[str, str] = {}
    gc.set_threshold(*_THRESHOLDS)
    try:
        parser = _parser(next((word for word in words if not word.startswith("-")), None))
        given: argparse.Namespace = parser.parse_args(_joined(words))  # type: ignore[no-untyped-call]
        flags = given.flag_names = parser.flags_of_settings(given)
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            raise ConfigError(
                "variable NUMBA_DISABLE_JIT is set, and without its compiler the engine is nothing: unset it"
            )
        return int(given.run(given))
    except BrokenPipeError:
        sys.stderr.close()  # the reader of the output closed the pipe
        return ExitCode.DONE
    except KeyboardInterrupt:  # before the command installed its signal handlers
        return ExitCode.INTERRUPTED
    except Exception as error:
        code = code_of(error)
        if code is None:
            raise
        sentence = shortened(f"stream-rank: {with_flags(str(error), flags)}")
        print(printable(sentence), file=sys.stderr)
        return code


if __name__ == "__main__":
    sys.exit(main())
