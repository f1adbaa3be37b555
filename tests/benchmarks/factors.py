"""OrdinalFactors against River's BiasedMF and msgspec, choosing among items, and a million users who come by."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from simulators.movielens.contenders import biased_mf
from stream_rank import OrdinalFactors
from stream_rank.codec.decoder import Decoder
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.limits import limits_of
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.sinks.sink import NullSink
from tests.benchmarks.measure import Line, side_by_side

__all__ = ["factors", "learned", "lines_of", "loop_of"]

_EVENTS, _FEWER, _CHUNK = 100_000, 5_000, 10_000
_MOST = 20_000
"""Names that are known at most, while a million users come by."""


class _Names(msgspec.Struct, gc=False):
    user: str
    item: str


class _Rating(msgspec.Struct, gc=False):
    x: _Names
    y: int


def _ratings(count: int) -> Any:
    """Users and items, some of whom come more often than others, and stars."""
    generator = np.random.default_rng(0)
    users = (1_000 * generator.random(count) ** 1.5).astype(np.int64)
    items = (1_500 * generator.random(count) ** 2.0).astype(np.int64)
    return np.stack([users, items], axis=1), generator.integers(1, 6, count)


def lines_of(users: Any, items: Any, stars: Any) -> list[bytes]:
    rows = zip(users.tolist(), items.tolist(), stars.tolist(), strict=True)
    return [
        json.dumps({"x": {"user": f"u{user}", "item": f"i{item}"}, "y": y}).encode()
        for user, item, y in rows
    ]


def loop_of(most: int, expire_after: int | None = None) -> Loop:
    from stream_rank.codec.admission import Admission
    from stream_rank.codec.feature_index import FeatureIndex

    contestants = contestants_of(["ordinal-factors"], 5, 1)
    limits = limits_of(contestants, 5, most, delayed=False)
    index = FeatureIndex((), Admission(most, 1, expire_after))
    return Loop(
        contestants,
        Decoder(limits, index),
        [],
        Scoreboard(contestants, 5, 5_000),
        Progress(RowPosition.from_json),
        NullSink(),
        NullSink(),
    )


def learned(loop: Loop, lines: list[bytes], begin: int = 0) -> None:
    for at in range(0, len(lines), _CHUNK):
        for _ in loop.take(as_records(lines[at : at + _CHUNK])):
            pass


def factors() -> Iterator[Line]:
    """From arrays, from JSON, choosing, and memory."""
    X, y = _ratings(_EVENTS)
    pairs = list(zip(X[:_FEWER].tolist(), y[:_FEWER].tolist(), strict=True))

    def river() -> None:
        model = biased_mf(8)
        for (user, item), stars in pairs:
            model.predict_one(user, item)
            model.learn_one(user, item, stars)

    lines, decode = lines_of(X[:, 0], X[:, 1], y), msgspec.json.Decoder(_Rating).decode
    loop = loop_of(10_000)
    learned(loop, lines)
    ours, theirs, replayed, objects = side_by_side(
        lambda: OrdinalFactors(5, user=0, item=1).test_then_train(X, y),
        river,
        lambda: learned(loop, lines),
        lambda: [decode(line) for line in lines],
    )
    rate, river_rate = _EVENTS / ours, _FEWER / theirs
    yield Line(
        "OrdinalFactors, 8 traits, users and items from an array",
        f"{rate / 1e3:.0f} k events/s",
        f"River's BiasedMF, 8 factors, {river_rate / 1e3:.1f} k events/s",
        rate / river_rate,
        20.0,
    )
    yield Line(
        "the same, JSON to the scoreboard",
        f"{_EVENTS / replayed / 1e3:.0f} k events/s",
        f"msgspec's typed decoding of the same lines {_EVENTS / objects / 1e3:.0f} k events/s",
        objects / replayed,
        0.5,
    )
    model = OrdinalFactors(5)
    for item in range(10_000):
        model.learn_one({"user": f"u{item % 50}", "item": f"i{item}"}, item % 5 + 1)
    candidates = model.candidates()
    (chosen,) = side_by_side(lambda: model.top_k("u7", candidates), rounds=50)
    yield Line(
        "the 10 best of 10,000 items for a user, 8 traits: 200 µs over its time",
        f"{chosen * 1e6:.0f} µs",
        "200 µs",
        200e-6 / chosen,
        1.0,
    )
    yield from _million()


def _million() -> Iterator[Line]:
    loop = loop_of(_MOST, expire_after=100_000)
    sizes, generator = [], np.random.default_rng(1)
    for begin in range(0, 1_000_000, 50_000):  # every user comes twice, so that they are let in
        users = np.repeat(np.arange(begin, begin + 50_000), 2)
        items = (2_000 * generator.random(len(users)) ** 2).astype(np.int64)
        learned(loop, lines_of(users, items, generator.integers(1, 6, len(users))))
        model = loop.contestants[0].model
        sizes.append(sum(memory.n_bytes for memory in model._model.memories().values()))
    yield Line(
        f"OrdinalFactors, a million users come by, {_MOST:,} names known at most: memory after 50,000 users",
        f"{sizes[0] / 1e6:.1f} MB",
        f"after a million, {sizes[-1] / 1e6:.1f} MB",
        sizes[0] / sizes[-1],
        1.0,
    )
