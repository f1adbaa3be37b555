"""A load generator: ratings and preferences at a steady rate, with an abrupt drift at regular intervals."""

import argparse
import math
import signal
import sys
import time
from contextlib import suppress

from simulators import faulty_load
from simulators.arguments import add_pace, share, whole
from simulators.drifting import drifting
from stream_rank.cli.signals import listen
from stream_rank.errors import RetriableKafkaError
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from stream_rank.ingest.kafka.retrying_producer import RetryingProducer

__all__ = ["add", "drive", "run"]

_STEP = 0.1
"""Seconds of events that are sent together."""
_GARBAGE_EVERY = 500
"""Few enough for rejects to be seen and not to be alarming."""


def drive(
    bootstrap_servers: str,
    topic: str,
    rate: int,
    drift_seconds: float,
    preferences: float,
    seed: int,
    garbage_every: int = _GARBAGE_EVERY,
) -> int:
    """Send until it is stopped; the exit code. `preferences` is the share of the events that are such.

    SIGUSR1 turns the stream upside down, and back.
    """
    asked, _ = listen()
    producer = RetryingProducer(
        producer_of("kafka-python", Connection(tuple(bootstrap_servers.split(",")))),
        math.inf,  # however long the broker is gone
        lambda: asked.stop_requested,
        lambda trouble: print(trouble, file=sys.stderr, flush=True),
    )
    begun = time.monotonic()

    turned = 0

    def turn(*_: object) -> None:
        nonlocal turned
        turned += 1

    signal.signal(signal.SIGUSR1, turn)

    def upside_down() -> bool:
        return (int((time.monotonic() - begun) / drift_seconds) + turned) % 2 == 1

    stream = drifting(seed, upside_down, garbage_every, preferences)
    print(
        f"{rate:,} events a second to {topic}, {preferences:.0%} preferences, a drift every {drift_seconds:g} s",
        file=sys.stderr,
    )
    due = time.monotonic()
    while not asked.stop_requested:
        with suppress(RetriableKafkaError):  # stopped while the broker is gone
            for _ in range(max(1, round(rate * _STEP))):
                producer.send(ProducerRecord(topic, next(stream)))
            producer.flush()
        # a delay of more than a second is not caught up
        due = max(due + _STEP, time.monotonic() - 1.0)
        time.sleep(max(0.0, due - time.monotonic()))
    producer.close()
    return 0


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--bootstrap-servers", default="127.0.0.1:9092", help="(%(default)s)")
    parser.add_argument("--topic", default="ratings", help="(%(default)s)")
    parser.add_argument(
        "--preferences",
        type=share,
        default=0.25,
        help="share of the events that are preferences (%(default)s); the others are ratings",
    )
    parser.add_argument("--seed", type=whole, default=1, help="of the stream (%(default)s)")
    parser.add_argument(
        "--garbage-every",
        type=whole,
        default=_GARBAGE_EVERY,
        help="of so many, one is no event (%(default)s)",
    )
    add_pace(parser)
    faulty_load.add(parser)


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    if given.events is not None:
        return faulty_load.run(given)
    return drive(
        *(given.bootstrap_servers, given.topic, given.rate, given.drift_seconds),
        *(given.preferences, given.seed, given.garbage_every),
    )
