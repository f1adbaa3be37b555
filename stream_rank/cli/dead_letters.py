"""List the rejects in the daemon's dead-letter topic, and send them back to their topics once they can be learned.

`list` shows those that were not redriven yet. `list --json` prints them whole, one per line: correct the values there, and
`redrive --from FILE` sends them to the topics that they came from. `redrive` alone sends them unchanged,
for when not they but a setting was wrong; it skips those that are not valid events, and those of topics that are none of `topics`.
Each is sent once, whatever happens meanwhile: a letter and the mark that it was sent are one transaction (on a broker with rights, the
user needs those of the transactional id stream-rank-redrive-TOPIC).
"""

import argparse
import json
import sys
from pathlib import Path

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.letters import letters_in_topic, redriven
from stream_rank.config.daemon import DeadLettersConfig
from stream_rank.errors import ConfigError
from stream_rank.printable import printable

__all__ = ["add", "run"]

_SHOWN = 100
"""Characters of a value that are shown."""


def add(parser: argparse.ArgumentParser) -> None:
    """Commands and flags of `dead-letters`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = commands.add_parser("list", help="show the dead letters", allow_abbrev=False)
    listed.add_argument("--all", action="store_true", help="include those that were redriven")
    listed.add_argument(
        "--json", action="store_true", help="print them whole, one line of JSON each"
    )
    redrive = commands.add_parser(
        "redrive", help="send dead letters to the topics that they came from", allow_abbrev=False
    )
    redrive.add_argument(
        "--from", dest="file", type=Path, help="a file of corrected lines of `list --json`"
    )
    redrive.add_argument(
        "--force", action="store_true", help="include those that are not valid events"
    )
    for command in (listed, redrive):
        add_settings(command, DeadLettersConfig)


def run(given: argparse.Namespace) -> int:
    """Run the action; returns the exit code."""
    action = given.action
    others = ["action", "all", "json"] if action == "list" else ["action", "file", "force"]
    config = settings(DeadLettersConfig, given, others)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    if config.dead_letters is None:
        raise ConfigError("which topic? --dead-letters, or --config with the daemon's file")
    if action == "list":
        return _list(given, config)
    from stream_rank.cli.redrive import redrive

    redrive(config, given.file, given.force)
    return ExitCode.DONE


def _list(given: argparse.Namespace, config: DeadLettersConfig) -> int:
    count = 0
    for letter in letters_in_topic(config, set() if given.all else redriven(config)):
        count += 1
        if given.json:
            print(json.dumps(letter))
            continue
        shown = str(letter.get("value", letter.get("value_hex", "")))
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        print(printable(f"{letter['letter']}  {letter['reason']}  {shown}"))
    print(printable(f"{count:,} dead letters in {config.dead_letters}"), file=sys.stderr)
    return ExitCode.DONE
