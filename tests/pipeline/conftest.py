"""Streams of all kinds of events, and loops over them."""

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from stream_rank.codec.decoder import Decoder
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.limits import limits_of
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.event_limit import EventLimit
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.pace import Pace
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.stage import Stage
from stream_rank.pipeline.time_filter import TimeFilter
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.sink import NullSink

ALL = [
    *("prank", "oap-bpm:n_members=9", "widrow-hoff", "online-mprank:budget=20", "pairwise-ranker"),
    *(
        "recursive-mprank",
        "online-mprank:kernel=gaussian(0.5),budget=20",
        "prank:kernel=gaussian(0.5),budget=20",
    ),
]


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
            event = {**comparison(generator, x), "ts": time}
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


def comparison(generator: random.Random, x: dict[str, float]) -> dict[str, Any]:
    """A preference, a tie, a ranking with equals, or a choice."""
    items = [
        x,
        {"f0": 0.5},
        *({"f1": generator.random(), f"late{generator.randint(0, 99)}": 1.0} for _ in range(3)),
    ]
    dice = generator.random()
    if dice < 0.5:
        return {"preferred": x, "other": items[1], "magnitude": generator.choice([1.5, 0, 1])}
    if dice < 0.6:
        return {"preferred": x, "other": items[1], "tie": True, "context": {"day": 2.0}}
    if dice < 0.8:
        return {"ranking": [items[0], items[1:3], *items[3:]]}
    return {"chosen": items[0], "among": items[generator.randint(0, 1) :]}


class Kept:
    """Rejects and predictions, in lists."""

    def __init__(self) -> None:
        self.rejects: list[tuple[str, str, bytes]] = []
        self.predictions: list[tuple[Any, dict[str, float]]] = []

    def reject_sink(self) -> "ListSink":
        return ListSink(lambda each: self.rejects.append((each.reason, each.place, each.raw)))

    def prediction_sink(self) -> "ListSink":
        return ListSink(lambda each: self.predictions.append((each.id, each.values)))


class ListSink(NullSink):
    """Hands items to a list."""

    def __init__(self, put: Callable[[Any], None]) -> None:
        self._put = put

    def put(self, item: Any) -> None:
        self._put(item)


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
    progress = Progress(RowPosition.from_json)
    stages: list[Stage | None] = [
        None if between is None else TimeFilter(*between),
        None if max_events is None else EventLimit(max_events, progress),
        pace,
        WaitingRoom(delay, between is not None) if delay else None,
    ]
    return Loop(
        contestants,
        Decoder(limits_of(contestants, n_ranks, 100_000, delay > 0)),
        [stage for stage in stages if stage is not None],
        Scoreboard(contestants, n_ranks, window),
        progress,
        kept.reject_sink(),
        kept.prediction_sink(),
    )


def waiting_in(loop: Loop) -> WaitingRoom:
    """The waiting room among a loop's stages."""
    return next(stage for stage in loop.stages if isinstance(stage, WaitingRoom))


def ended(loop: Loop) -> bool:
    """Whether as many events were taken as were wanted."""
    return any(isinstance(stage, EventLimit) and stage.reached for stage in loop.stages)


def _position(first: int, done: int) -> RowPosition:
    return RowPosition(first + done)


def _place(first: int, record: int) -> str:
    return f"line {first + record + 1}"


def feed(loop: Loop, lines: list[bytes], sizes: list[int]) -> None:
    """Give lines to a loop in chunks of these sizes, the last again and again."""
    begin, sizes = 0, list(sizes)
    while begin < len(lines) and not ended(loop):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        chunk = as_records(
            lines[begin : begin + size],
            partial(_position, begin),
            partial(_place, begin),
        )
        for _ in loop.take(chunk):
            pass
        begin += size
