"""A producer that never tires: ratings at a steady rate, with a sudden drift every so often."""

import sys
import time

from simulators.drifting import drifting
from stream_rank.asked import Asked
from stream_rank.broker.clients import producer_of
from stream_rank.broker.connection import Connection
from stream_rank.broker.port import Message, Producer
from stream_rank.cli.signals import listen
from stream_rank.errors import BrokerTrouble

__all__ = ["run"]

_STEP = 0.1
"""Seconds of events that are sent together."""
_GARBAGE_EVERY = 500
"""Few enough for rejects to be seen and not to be alarming."""
_PATIENCE = 10.0


def run(brokers: str, topic: str, rate: int, drift_seconds: float, seed: int) -> int:
    """Send until it is stopped; the exit code."""
    asked, _ = listen()
    producer = producer_of("kafka-python", Connection(tuple(brokers.split(","))))
    begun = time.monotonic()

    def upside_down() -> bool:
        return int((time.monotonic() - begun) / drift_seconds) % 2 == 1

    stream = drifting(seed, upside_down, _GARBAGE_EVERY)
    print(
        f"{rate:,} ratings a second to {topic}, a drift every {drift_seconds:g} s", file=sys.stderr
    )
    due = time.monotonic()
    while not asked.to_stop:
        for _ in range(max(1, round(rate * _STEP))):
            producer.send(Message(topic, next(stream)))
        _flush(producer, asked)
        due = max(
            due + _STEP, time.monotonic() - 1.0
        )  # what was missed for longer is not made up for
        time.sleep(max(0.0, due - time.monotonic()))
    producer.close()
    return 0


def _flush(producer: Producer, asked: Asked) -> None:
    """Wait until all is there, however long the broker is gone."""
    done = False
    while not (done or asked.to_stop):
        try:
            producer.flush(_PATIENCE)
            done = True
        except BrokerTrouble as trouble:
            print(f"{trouble}; trying again", file=sys.stderr)
            time.sleep(_STEP)
