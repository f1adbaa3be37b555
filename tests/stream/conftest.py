"""Streams of all kinds of events, and loops over them."""

import json
import random
from functools import partial
from typing import Any

from stream_rank.codec.batch import Reject
from stream_rank.codec.decoder import Decoder
from stream_rank.contestants.contestant import limits_of
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import Columns, Records, as_records
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.pace import Pace
from stream_rank.pipeline.waiting_room import WaitingRoom

ALL = ["prank", "oap-bpm:n_members=9", "widrow-hoff", "online-mprank:budget=20", "pairwise-ranker", "recursive-mprank"]  # fmt: skip


def mixed(n_events: int, seed: int = 0) -> list[bytes]:
    """Ratings, preferences, requests, labels that come later, lists, new features, and garbage."""
    generator = random.Random(seed)
    lines, waiting = [], []
    for number in range(n_events):
        x = {f"f{j}": generator.randint(-16, 16) / 8 for j in range(3)}
        if generator.random() < 0.3:
            x[f"rare{generator.randint(0, min(number // 10, 50))}"] = 1.0
        total = x["f0"] + 2 * x["f1"]
        y = min(max(round(total / 2 + 3), 1), 5)
        time = 1_700_000_000_000 + 1000 * number
        dice = generator.random()
        event: Any
        if dice < 0.6:
            event = {"x": x, "y": y, "ts": time, "group": generator.choice(["a", "b", 3])}
        elif dice < 0.7:
            event = {"preferred": x, "other": {"f0": 0.5}, "magnitude": 1.5, "ts": time}
        elif dice < 0.8:
            event = {"x": x, "id": number, "ts": time}
            waiting.append((number, y))
        elif dice < 0.9 and waiting:
            name, label = waiting.pop(generator.randrange(len(waiting)))
            event = {"id": name, "y": label}
        elif dice < 0.93:
            event = {"x": [1.0, generator.random()], "y": y}
        elif dice < 0.96:
            event = {"x": x}
        else:
            event = generator.choice([{"x": x, "y": 9}, {"x": {}}, {"id": -1, "y": 2}, [1], "text"])
        lines.append(json.dumps(event).encode())
    return lines


class Kept:
    """Rejects and predictions, in lists."""

    def __init__(self) -> None:
        self.rejects: list[tuple[str, str, bytes]] = []
        self.predictions: list[tuple[Any, dict[str, float]]] = []

    def put(self, reject: Reject, chunk: Records | Columns) -> None:
        self.rejects.append((reject.reason, chunk.place_of(reject.record), reject.raw))

    def predicted(self, name: Any, found: dict[str, float]) -> None:
        self.predictions.append((name, found))


def loop_of(
    specs: list[str],
    delay: int = 0,
    n_ranks: int | None = 5,
    window: int = 50,
    kept: Kept | None = None,
    between: tuple[int, int] | None = None,
    pace: Pace | None = None,
    max_events: int | None = None,
) -> Loop:
    """A loop with new learners."""
    contestants = contestants_of(specs, n_ranks, 1)
    kept = kept or Kept()
    return Loop(
        contestants,
        Decoder(limits_of(contestants, n_ranks, 100_000, delay > 0)),
        Scoreboard(contestants, n_ranks, window),
        kept,
        kept.predicted,
        WaitingRoom(delay) if delay else None,
        between,
        pace,
        max_events,
    )


def _position(first: int, done: int) -> dict[str, int]:
    return {"line": first + done}


def _place(first: int, record: int) -> str:
    return f"line {first + record + 1}"


def feed(loop: Loop, lines: list[bytes], sizes: list[int]) -> None:
    """Give lines to a loop in chunks of these sizes, the last again and again."""
    begin, sizes = 0, list(sizes)
    while begin < len(lines) and not loop.ended:
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        chunk = as_records(
            lines[begin : begin + size],
            partial(_position, begin),
            partial(_place, begin),
        )
        for _ in loop.take(chunk):
            pass
        begin += size
