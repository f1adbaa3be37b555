"""Dead letters sent back, each once: a letter and the mark that it was sent are one transaction.

A process that is killed, or a broker that goes away, leaves a transaction undecided; whoever comes next decides it before it reads the
marks, so that what was sent is known.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stream_rank.cli.letters import letters_in_file, letters_in_topic, raw, redriven
from stream_rank.codec.form import EventForm
from stream_rank.config.daemon import DeadLettersConfig
from stream_rank.errors import (
    ConfigError,
    EventError,
    InputError,
    RefusedMessagesError,
    RegistryError,
    RetriableKafkaError,
)
from stream_rank.ingest.message import Headers, Values
from stream_rank.printable import printable

__all__ = ["is_event", "redrive"]

_TIMEOUT_SECONDS = 60.0
"""Seconds without a letter sent, after which it is given up."""
_MOST_LETTERS, _MOST_BYTES = 200, 4 << 20
"""Letters of one transaction, which must not take long."""

Letter = dict[str, Any]


class _Redrive:
    """One command: what was sent, and what was left and why."""

    def __init__(self, config: DeadLettersConfig, file: Path | None, force: bool) -> None:
        from stream_rank.ingest.kafka.clients import transactions_of

        self._config, self._file, self._force = config, file, force
        self._form, self._values = config.form(), config.values()
        self._transactions = transactions_of(
            config.client, config.connection(), f"stream-rank-redrive-{config.dead_letters}"
        )
        self.attempted: set[str] = set()
        self.left: dict[str, str] = {}
        self.wrong: dict[str, None] = {}
        """Lines of the file that are no letters."""

    def run(self, progress: Callable[[], None]) -> set[str]:
        """Send whatever is not sent yet; returns the names of all that are. May be called again after an error."""
        self._transactions.begin()
        done = redriven(self._config)
        for batch in self._batches(done):
            try:
                self._send(batch)
            except RefusedMessagesError:
                self._one_by_one(batch)
            done |= {each["letter"] for each in batch} - self.left.keys()
            progress()
        return done

    def _one_by_one(self, batch: list[Letter]) -> None:
        """Find out which letters of a batch the broker does not take."""
        for letter in batch:
            self._transactions.begin()
            try:
                self._send([letter])
            except RefusedMessagesError as error:
                self._leave(letter, str(error))
        self._transactions.begin()

    def _batches(self, done: set[str]) -> Iterator[list[Letter]]:
        some: list[Letter] = []
        size = 0
        for letter in self._letters(done):
            some.append(letter)
            size += len(raw(letter, "value") or b"")
            if len(some) >= _MOST_LETTERS or size >= _MOST_BYTES:
                yield some
                some, size = [], 0
        if some:
            yield some

    def _letters(self, done: set[str]) -> Iterator[Letter]:
        """The letters that are to be sent, each once."""
        if self._file is None:
            letters = letters_in_topic(self._config, done)
        else:
            letters = letters_in_file(self._file, self._note)
        seen = set(done)
        for letter in letters:
            if letter["letter"] in seen or letter["letter"] in self.left:
                continue
            seen.add(letter["letter"])
            why = self._why_not(letter)
            if why is None:
                yield letter
            else:
                self._leave(letter, why)

    def _why_not(self, letter: Letter) -> str | None:
        if letter["topic"] not in self._config.topics:
            return f"{letter['topic']} is none of `topics`"
        value = raw(letter, "value") or b""
        if not self._force and not is_event(value, _headers(letter), self._form, self._values):
            return f"not a valid event: {letter['reason']}"
        return None

    def _leave(self, letter: Letter, why: str) -> None:
        if letter["letter"] not in self.left:
            self.left[letter["letter"]] = why
            say(f"skipped, {letter['letter']}: {why}")

    def _note(self, wrong: str) -> None:
        if wrong not in self.wrong:
            self.wrong[wrong] = None
            say(f"skipped: {wrong}")

    def _send(self, batch: list[Letter]) -> None:
        """Send letters, and marks that they were sent, as one."""
        from stream_rank.ingest.kafka.port import ProducerRecord
        from stream_rank.sinks.dead_letters import REDRIVEN

        self.attempted |= {each["letter"] for each in batch}
        messages = []
        for letter in batch:
            value, key = raw(letter, "value"), raw(letter, "key")
            messages.append(ProducerRecord(letter["topic"], value, key, _headers(letter)))
            mark = [(REDRIVEN, letter["letter"].encode())]
            messages.append(ProducerRecord(str(self._config.dead_letters), None, None, mark))
        self._transactions.send(messages)

    def close(self) -> None:
        """Close the client."""
        self._transactions.close()


def redrive(config: DeadLettersConfig, file: Path | None, force: bool) -> None:
    """Send letters back, trying again while brokers are away; at the end an `InputError` if lines of the file were none."""
    from stream_rank.ingest.backoff import Backoff

    if not config.topics:
        raise ConfigError("to which topics? --topic, or --config with the daemon's file")
    backoff, job, since = Backoff("Kafka", say), _Redrive(config, file, force), time.monotonic()

    def progress() -> None:
        nonlocal since
        since = time.monotonic()
        backoff.succeeded()

    try:
        while True:
            try:
                done = job.run(progress)
                break
            except RetriableKafkaError as error:
                if time.monotonic() - since > _TIMEOUT_SECONDS:
                    raise
                time.sleep(backoff.failed(f"{error}; trying again"))
    finally:
        job.close()
    sent = len(job.attempted & done)
    say(f"{sent:,} sent to where they came from, {len(job.left):,} left")
    if job.wrong:
        raise InputError(f"{len(job.wrong):,} lines were skipped: {next(iter(job.wrong))}")


def say(text: str) -> None:
    """A line for people, with nothing in it that a terminal would obey."""
    print(printable(f"stream-rank: {text}"), file=sys.stderr, flush=True)


def _headers(letter: Letter) -> list[tuple[str, bytes | None]]:
    """The headers that the message had."""
    return [(each["name"], raw(each, "value")) for each in letter.get("headers", ())]


def is_event(value: bytes, headers: Headers, form: EventForm, values: Values | None) -> bool:
    """Whether a value can be read as an event now; that of a registry that is away cannot, and the reason is told."""
    from stream_rank.codec.envelope import Left
    from stream_rank.codec.opener import Opener
    from stream_rank.codec.schema import parse

    try:
        if values is not None:
            values.prepare([value])
            value = values.json(value)
        parse(Opener(form.envelope).structured(value, headers), form)
    except RegistryError as error:
        say(str(error))
        return False
    except (EventError, Left):
        return False
    return True
