"""Drive a topic by a faulty stream, and check in the end what the daemon learned of it.

The daemon must count every message as what it is. Where it learned nothing before and the topic has one partition, its learners must
also be, to the bit, what a replay of the same messages makes of learners with the same settings.
"""

import argparse
import json
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulators.arguments import amount, share, whole
from simulators.faulty_stream import Faults, Message, messages, pause_before
from stream_rank.config.replay import ReplayConfig
from stream_rank.config.run import RunConfig
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from stream_rank.ingest.kafka.retrying_producer import RetryingProducer

__all__ = ["add", "complaints", "drive", "run", "send", "status_at"]

_STEP = 0.02
"""Messages that are due within so many seconds are sent together."""
_RETRY_SECONDS = 60.0
_COUNTS = ("learned", "labels", "rejects")

Status = Mapping[str, Any]


def status_at(url: str) -> dict[str, Any]:
    """What the daemon says of itself."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def send(
    bootstrap_servers: str, topic: str, some: Sequence[Message], rate: float, burst: float
) -> None:
    """Send messages at a rate, until all of them are acknowledged."""
    producer = RetryingProducer(
        producer_of("kafka-python", Connection(tuple(bootstrap_servers.split(",")))),
        _RETRY_SECONDS,
        lambda: False,
        lambda trouble: print(trouble, file=sys.stderr, flush=True),
    )
    begun = time.monotonic()
    for number, each in enumerate(some):
        ahead = pause_before(number, rate, burst) - (time.monotonic() - begun)
        if ahead > _STEP:
            producer.flush()
            time.sleep(ahead)
        producer.send(ProducerRecord(topic, each.value, each.key))
    producer.flush()
    producer.close()


def _waited(url: str, before: Status, records: int, patience: float) -> dict[str, Any]:
    """The status once so many records more were taken, or when none was for so many seconds."""
    most, since = -1, time.monotonic()
    while True:
        found = status_at(url)
        if found["events"] - before["events"] >= records:
            return found
        if found["events"] > most:
            most, since = found["events"], time.monotonic()
        if time.monotonic() - since > patience:
            return found
        time.sleep(0.2)


def _replayed(settings: Status, some: Sequence[Message]) -> dict[str, Any]:
    """What a replay of the same messages comes to."""
    from stream_rank.runtime.replay import Replay

    wanted = {*RunConfig.fixed, "learners", "allow_imports", "expire_after", "learner_memory_limit"}
    same = {name: value for name, value in settings.items() if name in wanted}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sent.jsonl")
        file.write_bytes(b"".join(each.value + b"\n" for each in some))
        config = ReplayConfig(inputs=[str(file)], out=Path(folder, "run"), **same)
        with Replay(config, lambda _: None) as replay:
            replay.run()
            return replay.summary()


def complaints(before: Status, after: Status, some: Sequence[Message]) -> list[str]:
    """What is not as it must be; nothing if all is well."""
    expected = Counter(each.counted for each in some)
    found = []
    if not after["settings"].get("delay") and expected["labels"]:
        return ["the daemon lets no label come late: start it with --delay, or send with --late 0"]
    for name in _COUNTS:
        more = after[name] - before[name]
        if more != expected[name]:
            found.append(f"{name}: {more:,} were counted, and {expected[name]:,} sent")
    if after["requests"] != before["requests"]:
        found.append(f"requests: {after['requests'] - before['requests']:,} still have no label")
    if found or not _comparable(before, after):
        return found
    replayed = _replayed(after["settings"], some)
    for name, each in replayed["learners"].items():
        mine = after["learners"].get(name, {})
        different = [key for key, value in each.items() if mine.get(key) != value]
        if different:
            found.append(f"{name} is not what a replay makes of it: {', '.join(different)}")
    return found


def _comparable(before: Status, after: Status) -> bool:
    """Whether a replay has to come to the same: of one partition, all of it."""
    return before["events"] == 0 and len(after["assigned"]) == 1


def drive(
    bootstrap_servers: str,
    topic: str,
    events: int,
    rate: float,
    burst: float,
    seed: int,
    faults: Faults,
    url: str | None,
    patience: float = 30.0,
    say: Callable[[str], object] = print,
) -> int:
    """Send all, and check; 1 if anything is not as it must be."""
    some = list(messages(events, seed, faults))
    before = None if url is None else status_at(url)
    begun = time.monotonic()
    send(bootstrap_servers, topic, some, rate, burst)
    seconds = time.monotonic() - begun
    sent = Counter(each.counted for each in some)
    kinds = ", ".join(f"{sent[name]:,} {name}" for name in _COUNTS)
    say(f"{len(some):,} messages in {seconds:.1f} s, {len(some) / seconds:,.0f} a second: {kinds}")
    if url is None or before is None:
        return 0
    after = _waited(url, before, len(some), patience)
    found = complaints(before, after, some)
    for each in found:
        say(each)
    if not found:
        bits = (
            ", and its learners are those of a replay, to the bit"
            if _comparable(before, after)
            else ""
        )
        waited = time.monotonic() - begun - seconds
        say(f"the daemon counted every message as what it is{bits}; {waited:.1f} s after the last")
    return 1 if found else 0


def add(parser: argparse.ArgumentParser) -> None:
    """What `load` takes for a stream with an end, and faults."""
    faulty = parser.add_argument_group("a stream with an end and with faults, instead")
    faulty.add_argument("--events", type=whole, help="so many, and then it ends")
    faulty.add_argument(
        "--burst", type=amount, default=1.0, help="so many times the rate in one of five seconds"
    )
    faulty.add_argument("--keys", type=whole, default=1000, help="of messages (%(default)s)")
    faulty.add_argument(
        "--skew", type=amount, default=1.0, help="how uneven keys are; 0 is even (%(default)s)"
    )
    for name, default, what in (
        ("duplicates", 0.01, "that come again"),
        ("late", 0.05, "whose labels come later"),
        ("malformed", 0.01, "behind something that is no event"),
    ):
        described = f"share of the events {what} (%(default)s)"
        faulty.add_argument(f"--{name}", type=share, default=default, help=described)
    faulty.add_argument(
        "--check",
        metavar="URL",
        help="/status of the daemon that learns them, to be right at the end",
    )


def run(given: argparse.Namespace) -> int:
    """Send the stream with faults, and check what the daemon learned; the exit code."""
    faults = Faults(given.duplicates, given.late, given.malformed, given.keys, given.skew)
    return drive(
        *(given.bootstrap_servers, given.topic, given.events, given.rate),
        *(max(given.burst, 0.01), given.seed, faults, given.check),
    )
