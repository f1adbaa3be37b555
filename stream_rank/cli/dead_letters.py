"""List the rejects in the daemon's dead-letter topic, and send them back to their topics once they can be learned.

`list` shows those that were not redriven yet. `list --json` prints them whole, one per line: correct the values there, and
`redrive --from FILE` sends them to the topics that they came from. `redrive` alone sends them unchanged,
for when not they but a setting was wrong; it skips those that are not valid events.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.codec.form import EventForm
from stream_rank.config.daemon import DeadLettersConfig
from stream_rank.errors import ConfigError, EventError, InputError, RegistryError
from stream_rank.ingest.message import Headers, Values
from stream_rank.printable import printable

__all__ = ["add", "run"]

_SHOWN = 100
"""Characters of a value that are shown."""
_TIMEOUT_SECONDS = 60.0
"""Seconds that the producer retries, and that closing the consumer may take."""
_POLL_SECONDS, _EMPTY_POLLS = 1.0, 5
"""Seconds of a poll, and the number of empty polls after which the missing messages are taken for deleted."""


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
    return _list(given, config) if action == "list" else _redrive(given, config)


def _walk(config: DeadLettersConfig) -> Iterator[tuple[str, Any]]:
    """All messages of the topic up to its end offsets at the start, each with its place."""
    from stream_rank.ingest.kafka.clients import consumer_of
    from stream_rank.ingest.kafka.port import OffsetRange, Partition, Subscription

    ends: dict[Partition, int] = {}

    def place(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        ends.update({p: each.end for p, each in bounds.items() if each.first < each.end})
        return {p: each.first for p, each in bounds.items()}

    topic = str(config.dead_letters)
    reader = consumer_of(config.client, config.connection(), Subscription([topic]), place)
    try:
        slices, empty = reader.poll(_POLL_SECONDS), 0
        while slices or (ends and empty < _EMPTY_POLLS):  # compacted messages never arrive
            empty = 0 if slices else empty + 1
            for part in slices:
                for i, offset in enumerate(part.offsets):
                    if offset < ends.get(part.partition, 0):
                        yield f"{part.partition.number}@{offset}", part.whole(i)
                if part.offsets[-1] + 1 >= ends.get(part.partition, 0):
                    ends.pop(part.partition, None)
            slices = reader.poll(_POLL_SECONDS) if ends else []
    finally:
        reader.close(_TIMEOUT_SECONDS)


def _redriven(config: DeadLettersConfig) -> set[str]:
    """The names of the letters that were redriven."""
    from stream_rank.sinks.dead_letters import REDRIVEN

    return {
        value.decode(errors="replace")
        for _, message in _walk(config)
        for name, value in message.headers
        if name == REDRIVEN and value is not None
    }


def _letters(config: DeadLettersConfig, everything: bool) -> Iterator[dict[str, Any]]:
    """The letters in the topic; without `everything`, those that were not redriven.

    A letter that was sent twice, as happens when a daemon is killed, is listed once.
    """
    from stream_rank.sinks.dead_letters import origin_of

    redriven = set() if everything else _redriven(config)
    seen: set[str] = set()
    for _, message in _walk(config):
        origin = origin_of(message.headers)
        if origin is not None:
            letter = _letter(message, origin)
            if letter["letter"] not in redriven | seen:
                seen.add(letter["letter"])
                yield letter


def _letter(message: Any, origin: Mapping[str, str]) -> dict[str, Any]:
    found = {name.removeprefix("stream-rank-"): value for name, value in origin.items()}
    letter: dict[str, Any] = {
        "letter": f"{found['topic']}[{found['partition']}]@{found['offset']}",
        **found,
    }
    for name, raw in (("key", message.key), ("value", message.value)):
        letter |= _as_text(name, raw)
    others = [each for each in message.headers if not each[0].startswith("stream-rank-")]
    letter["headers"] = [{"name": name, **_as_text("value", value)} for name, value in others]
    return letter


def _as_text(name: str, raw: bytes | None) -> dict[str, str | None]:
    try:
        return {name: None if raw is None else raw.decode()}
    except UnicodeDecodeError:
        return {f"{name}_hex": (raw or b"").hex()}


def _list(given: argparse.Namespace, config: DeadLettersConfig) -> int:
    count = 0
    for letter in _letters(config, given.all):
        count += 1
        if given.json:
            print(json.dumps(letter))
            continue
        shown = str(letter.get("value", letter.get("value_hex", "")))
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        print(printable(f"{letter['letter']}  {letter['reason']}  {shown}"))
    print(printable(f"{count:,} dead letters in {config.dead_letters}"), file=sys.stderr)
    return ExitCode.DONE


def _redrive(given: argparse.Namespace, config: DeadLettersConfig) -> int:
    from stream_rank.ingest.kafka.clients import producer_of
    from stream_rank.ingest.kafka.port import ProducerRecord
    from stream_rank.ingest.kafka.retrying_producer import RetryingProducer
    from stream_rank.sinks.dead_letters import REDRIVEN

    left, redriven, form, values = 0, [], config.form(), config.values()
    done = _redriven(config)
    letters = _letters(config, False) if given.file is None else _edited(given.file)
    producer = RetryingProducer(
        producer_of(config.client, config.connection()),
        _TIMEOUT_SECONDS,
        bool,  # no stop request: letters that are sent but not yet marked would be sent again
        lambda trouble: print(printable(f"stream-rank: {trouble}"), file=sys.stderr, flush=True),
    )
    for letter in letters:
        if letter["letter"] in done:
            continue
        done.add(letter["letter"])
        value, key = _raw(letter, "value"), _raw(letter, "key")
        headers = [(each["name"], _raw(each, "value")) for each in letter.get("headers", ())]
        if not given.force and not _is_event(value or b"", headers, form, values):
            left += 1
            words = f"skipped, not a valid event: {letter['letter']} {letter['reason']}"
            print(printable(words), file=sys.stderr)
            continue
        producer.send(ProducerRecord(letter["topic"], value, key, headers))
        redriven.append(letter["letter"])
    producer.flush()
    for which in redriven:  # after they are acknowledged; a kill before this redrives them twice
        producer.send(
            ProducerRecord(str(config.dead_letters), None, None, [(REDRIVEN, which.encode())])
        )
    producer.flush()
    producer.close()
    print(f"{len(redriven):,} sent to where they came from, {left:,} left", file=sys.stderr)
    return ExitCode.DONE


def _edited(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            letter = json.loads(line)
            if not all(isinstance(letter[name], str) for name in ("letter", "topic", "reason")):
                raise TypeError
            _raw(letter, "value"), _raw(letter, "key")
            [(str(each["name"]), _raw(each, "value")) for each in letter.get("headers", ())]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"{path}:{number} is not a line of `dead-letters list --json`"
            ) from None
        yield letter


def _raw(letter: Mapping[str, Any], name: str) -> bytes | None:
    if f"{name}_hex" in letter:
        return bytes.fromhex(letter[f"{name}_hex"])
    value = letter.get(name)
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def _is_event(value: bytes, headers: Headers, form: EventForm, values: Values | None) -> bool:
    from stream_rank.codec.envelope import Left
    from stream_rank.codec.opener import Opener
    from stream_rank.codec.schema import parse

    try:
        if values is not None:
            values.prepare([value])
            value = values.json(value)
        parse(Opener(form.envelope).structured(value, headers), form)
    except RegistryError as error:  # those that were sent before are still to be marked
        print(f"stream-rank: {error}", file=sys.stderr)
        return False
    except (EventError, Left):
        return False
    return True
