"""Dead letters as the command line reads them: from their topic, or from a file of those that were corrected."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stream_rank.config.daemon import DeadLettersConfig
from stream_rank.errors import InputError

__all__ = ["letters_in_file", "letters_in_topic", "raw", "redriven"]

_CLOSE_SECONDS = 60.0
"""Seconds that closing the consumer may take."""
_POLL_SECONDS, _EMPTY_POLLS = 1.0, 5
"""Seconds of a poll, and the number of empty polls after which the missing messages are taken for deleted."""


def _walk(config: DeadLettersConfig) -> Iterator[Any]:
    """All messages of the topic up to its end offsets at the start."""
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
                        yield part.whole(i)
                if part.offsets[-1] + 1 >= ends.get(part.partition, 0):
                    ends.pop(part.partition, None)
            if not slices:  # what is left may be the marks of transactions
                for partition, reached in reader.reached().items():
                    if reached >= ends.get(partition, 0):
                        ends.pop(partition, None)
            slices = reader.poll(_POLL_SECONDS) if ends else []
    finally:
        reader.close(_CLOSE_SECONDS)


def redriven(config: DeadLettersConfig) -> set[str]:
    """The names of the letters that were redriven."""
    from stream_rank.sinks.dead_letters import REDRIVEN

    return {
        value.decode(errors="replace")
        for message in _walk(config)
        for name, value in message.headers
        if name == REDRIVEN and value is not None
    }


def letters_in_topic(config: DeadLettersConfig, without: set[str]) -> Iterator[dict[str, Any]]:
    """The letters in the topic, but for some, by name.

    A letter that was sent twice, as happens when a daemon is killed, comes once.
    """
    from stream_rank.sinks.dead_letters import origin_of

    seen: set[str] = set()
    for message in _walk(config):
        origin = origin_of(message.headers)
        if origin is not None:
            letter = _letter(message, origin)
            if letter["letter"] not in without | seen:
                seen.add(letter["letter"])
                yield letter


def _letter(message: Any, origin: Mapping[str, str]) -> dict[str, Any]:
    found = {name.removeprefix("stream-rank-"): value for name, value in origin.items()}
    letter: dict[str, Any] = {
        "letter": f"{found['topic']}[{found['partition']}]@{found['offset']}",
        **found,
    }
    for name, content in (("key", message.key), ("value", message.value)):
        letter |= _as_text(name, content)
    others = [each for each in message.headers if not each[0].startswith("stream-rank-")]
    letter["headers"] = [{"name": name, **_as_text("value", value)} for name, value in others]
    return letter


def _as_text(name: str, content: bytes | None) -> dict[str, str | None]:
    try:
        return {name: None if content is None else content.decode()}
    except UnicodeDecodeError:
        return {f"{name}_hex": (content or b"").hex()}


def letters_in_file(path: Path, wrong: Callable[[str], object]) -> Iterator[dict[str, Any]]:
    """The letters of a file of lines of `list --json`; `wrong` is told of lines that are none."""
    try:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            letter = json.loads(line)
            if not all(isinstance(letter[name], str) for name in ("letter", "topic", "reason")):
                raise TypeError
            raw(letter, "value"), raw(letter, "key")
            [(str(each["name"]), raw(each, "value")) for each in letter.get("headers", ())]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            wrong(f"{path}:{number} is not a line of `dead-letters list --json`")
        else:
            yield letter


def raw(letter: Mapping[str, Any], name: str) -> bytes | None:
    """The bytes of a letter's value or key, or of a header's value."""
    if f"{name}_hex" in letter:
        return bytes.fromhex(letter[f"{name}_hex"])
    value = letter.get(name)
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()
