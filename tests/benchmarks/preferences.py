"""Preferences and late labels against ratings, and against Vowpal Wabbit on ready-made differences."""

import json
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from vowpalwabbit import pyvw

from stream_rank import PRank
from stream_rank.codec.decoder import Decoder
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.limits import limits_of
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import Chunk, as_records
from stream_rank.ingest.files.open_source import open_source
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.waiting_room import WaitingRoom
from stream_rank.sinks.sink import NullSink
from tests.benchmarks.measure import Line, side_by_side
from tests.benchmarks.stream import NoRejects

__all__ = ["preferences"]

_EVENTS, _FEATURES, _LATE_BY = 60_000, 20, 100
_CHUNK_BYTES = 1 << 20
_LEARNERS = {
    "prank": (5, "PRank", 0.45),
    "oap-bpm": (5, "OAPBPM, 100 members", 0.45),
    "pairwise-ranker": (None, "PairwiseRanker", 0.45),
    "recursive-mprank": (None, "RecursiveMPRank", 0.45),
    "online-mprank": (None, "OnlineMPRank, linear, two events each", 0.35),
}
"""Learners, with their ranks, and what is asked of them."""


def _loop(spec: str, n_ranks: int | None, delay: int = 0) -> Loop:
    """The loop as commands run it."""
    contestants = contestants_of([spec], n_ranks, 1)
    return Loop(
        contestants,
        Decoder(limits_of(contestants, n_ranks, 1_000, delayed=delay > 0)),
        [WaitingRoom(delay)] if delay else [],
        Scoreboard(contestants, n_ranks, 5_000),
        Progress(RowPosition.from_json),
        NoRejects(),
        NullSink(),
    )


def _learn(loop: Loop, chunks: list[Chunk]) -> None:
    for chunk in chunks:
        for _ in loop.take(chunk):
            pass


def _chunks(events: list[Any]) -> list[Chunk]:
    """Chunks of a megabyte, as files are cut."""
    lines = [json.dumps(event).encode() for event in events]
    ends = np.cumsum([len(line) for line in lines]) // _CHUNK_BYTES
    cuts = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(lines)]
    return [as_records(lines[begin:end]) for begin, end in pairwise(cuts)]


def _rate(events: int, seconds: float) -> str:
    return f"{events / seconds / 1e3:.0f} k events/s"


def preferences() -> Iterator[Line]:
    """JSON of 20 named features an item, and the same from tables and arrays."""
    generator = np.random.default_rng(0)
    rule = generator.normal(size=_FEATURES)
    X = generator.normal(size=(_EVENTS, 2, _FEATURES)).round(4)
    swapped = X[:, 0] @ rule < X[:, 1] @ rule
    X[swapped] = X[swapped][:, ::-1]
    y = np.clip(np.round(X[:, 0] @ rule / 2 + 3), 1, 5)
    names = [f"feature_{i}" for i in range(_FEATURES)]
    items = [[dict(zip(names, item, strict=True)) for item in pair] for pair in X.tolist()]
    rated = _chunks([{"x": one, "y": label} for (one, _), label in zip(items, y, strict=True)])
    compared = _chunks(
        [{"preferred": one, "other": other, "magnitude": 1.5} for one, other in items]
    )
    late: list[Any] = []
    for number, (one, _) in enumerate(items[: _EVENTS // 2]):
        late.append({"x": one, "id": number})
        if number >= _LATE_BY:
            late.append({"id": number - _LATE_BY, "y": y[number - _LATE_BY]})
    late_chunks = _chunks(late)

    for spec, (n_ranks, name, at_least) in _LEARNERS.items():
        ours, ratings = side_by_side(
            lambda spec=spec, n_ranks=n_ranks: _learn(_loop(spec, n_ranks), compared),  # type: ignore[misc]
            lambda spec=spec, n_ranks=n_ranks: _learn(_loop(spec, n_ranks), rated),  # type: ignore[misc]
            rounds=5,
        )
        yield Line(
            f"preferences of 20 named features an item, JSON to the scoreboard, {name}",
            _rate(_EVENTS, ours),
            f"ratings of 20 named features {_rate(_EVENTS, ratings)}",
            ratings / ours,
            at_least,
        )

    differences = [
        "1 | " + " ".join(f"{name}:{value:.6g}" for name, value in zip(names, row, strict=True))
        for row in (X[:, 0] - X[:, 1]).tolist()
    ]

    def peer() -> None:
        model = pyvw.Workspace("--quiet --loss_function logistic")
        for line in differences:
            model.learn(line)
        model.finish()

    first, second = np.ascontiguousarray(X[:, 0]), np.ascontiguousarray(X[:, 1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.arrow"
        columns = {f"preferred.{name}": first[:, i] for i, name in enumerate(names)}
        columns |= {f"other.{name}": second[:, i] for i, name in enumerate(names)}
        table = pa.table({**columns, "magnitude": np.full(_EVENTS, 1.5)})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)

        def from_arrow() -> None:
            chunks = [chunk for chunk in open_source([str(path)]).chunks(None) if chunk is not None]
            _learn(_loop("prank", 5), chunks)

        lines, bagged, array, arrow, wabbit, labels, ratings = side_by_side(
            lambda: _learn(_loop("prank", 5), compared),
            lambda: _learn(_loop("oap-bpm", 5), compared),
            lambda: PRank(5).test_then_train_pairs(first, second),
            from_arrow,
            peer,
            lambda: _learn(_loop("prank", 5, delay=1_000), late_chunks),
            lambda: _learn(_loop("prank", 5), rated),
            rounds=4,
        )
    wabbits = f"Vowpal Wabbit's Python interface, ready-made differences {_rate(_EVENTS, wabbit)}"
    for name, seconds, at_least in (
        ("preferences from JSON, PRank", lines, 2.0),
        ("preferences from JSON, OAPBPM, 100 members", bagged, 2.0),
        ("preferences from arrays, PRank", array, 10.0),
    ):
        yield Line(name, _rate(_EVENTS, seconds), wabbits, wabbit / seconds, at_least)
    yield Line(
        "preferences from Arrow, PRank",
        _rate(_EVENTS, arrow),
        f"from JSON {_rate(_EVENTS, lines)}",
        lines / arrow,
        2.0,
    )
    yield Line(
        "labels that come 100 requests late, PRank: records, JSON to the scoreboard",
        f"{len(late) / labels / 1e3:.0f} k records/s",
        f"ratings {_rate(_EVENTS, ratings)}",
        len(late) / labels * ratings / _EVENTS,
        0.3,
    )
