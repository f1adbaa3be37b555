"""A stream as others send it: keys of which few send most, bursts, duplicates, labels that come late, and what is no event.

Everything follows from the seed, and so does what a daemon that learned it all must say of it.
"""

import heapq
import json
from collections.abc import Iterator
from typing import NamedTuple

from simulators.streams.draws import Draws
from simulators.streams.ratings import Ratings
from simulators.streams.saddle import Saddle
from simulators.streams.told import told

__all__ = ["Faults", "Message", "messages", "pause_before"]

_GARBAGE = (
    b"{",
    b"not JSON at all",
    b'{"x": {"x0": [1]}, "y": 1}',
    b'{"x": {"x0": 1.0}, "y": 9}',
    b'{"x": {}, "y": 1}',
    b'{"preferred": {"x0": 1.0}}',
)
_LATE_BY = 200
"""A label comes at most so many events after its features."""
_SECONDS_BETWEEN_BURSTS = 5.0
_BURST_SECONDS = 1.0


class Faults(NamedTuple):
    """What share of the events is what, and how uneven keys are."""

    duplicates: float = 0.01
    late: float = 0.05
    malformed: float = 0.01
    keys: int = 1000
    skew: float = 1.0
    """The key of an event is that power of a uniform number more: with 0 all keys send as much."""


class Message(NamedTuple):
    """What is sent, and how a daemon that lets labels come late must count it: learned, labels or rejects; a request is counted with its label."""

    value: bytes
    key: bytes
    counted: str


def messages(events: int, seed: int, faults: Faults) -> Iterator[Message]:
    """So many events, with their faults: more messages than that."""
    draws = Draws(seed, "faults")
    lines = (
        line for block in told(Ratings(seed, Saddle(seed), 0.125), events) for line in block.lines
    )
    later: list[tuple[int, int, Message]] = []
    for number, line in enumerate(lines):
        chance, which, how, key_at = draws.uniform(number, 1, 4)[0].tolist()
        while later and later[0][0] <= number:
            yield heapq.heappop(later)[2]
        place = int(faults.keys * _power(key_at, 1 + faults.skew))
        key = f"key-{place}".encode()
        due = number + 1 + int(how * _LATE_BY)
        if chance < faults.malformed:
            yield Message(_GARBAGE[int(which * len(_GARBAGE))], key, "rejects")
        chance -= faults.malformed
        if 0 <= chance < faults.late:
            event = json.loads(line)
            label = {"id": f"e{number}", "y": event.pop("y")}
            yield Message(json.dumps({**event, "id": f"e{number}"}).encode(), key, "learned")
            heapq.heappush(later, (due, number, Message(json.dumps(label).encode(), key, "labels")))
            continue
        message = Message(line.encode(), key, "learned")
        yield message
        if 0 <= chance - faults.late < faults.duplicates:
            heapq.heappush(later, (due, number, message))
    while later:
        yield heapq.heappop(later)[2]


def _power(base: float, exponent: float) -> float:
    """A power by products and square roots, which are the same everywhere; of the exponent quarters count."""
    found, root = 1.0, base
    for _ in range(int(exponent)):
        found *= base
    for part in (0.5, 0.25):
        root **= 0.5
        if exponent % (2 * part) >= part:
            found *= root
    return found


def pause_before(sent: int, rate: float, burst: float) -> float:
    """When a message is due, in seconds, after so many others: in one second of five `burst` times as many are.

    >>> [pause_before(sent, 100.0, 3.0) for sent in (0, 150, 300, 400, 700)]
    [0.0, 0.5, 1.0, 2.0, 5.0]
    """
    in_burst = rate * burst * _BURST_SECONDS
    a_round = in_burst + rate * (_SECONDS_BETWEEN_BURSTS - _BURST_SECONDS)
    rounds, rest = divmod(sent, a_round)
    seconds = (
        rest / (rate * burst) if rest < in_burst else _BURST_SECONDS + (rest - in_burst) / rate
    )
    return rounds * _SECONDS_BETWEEN_BURSTS + seconds
